"""The demonstration from end to end: fit, design, publish, listen, attack, report.

Everything in between is made in a folder of its own inside the output folder, which is removed
whatever happens; what is worth keeping is moved out of it at the end.
"""

import math
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from agent.formats.designs import FloatArray, StreamDesign
from agent.formats.output_files import BUNDLE, OutputKind, check_output, text_kind
from precompute.audit.attack_bound import least_attacker_error
from precompute.audit.noise_covariance import IndependentNoise, StreamNoise
from precompute.audit.published_trace import (
    WindowPlan,
    examine,
    plan_windows,
    stretches_under_way,
)
from precompute.audit.stays import find_stays, group_by_place
from precompute.demo.material import MADE_UP_NAME, Material, made_up_material, own_material
from precompute.demo.noise import (
    BUNDLE_NAME,
    DEFAULT_PRIOR,
    DESIGN,
    design_noise,
    fit_class,
    independent_information,
)
from precompute.demo.publishing import AGENT_COMMENT, AGENT_NAME, Published, publish
from precompute.demo.trace_csv import HEADER
from precompute.errors import PrecomputeError
from precompute.priors.prior_class import PriorClass
from precompute.priors.prior_text import FIRST_LINE
from precompute.reports.trace_findings import Side, TraceReport
from precompute.reports.trace_report import headline, render_report

SEED = 20_210_413
REPORT_NAME = "report.html"
# What is worth keeping, and how an earlier run's file is told from the user's own of that name.
KEPT: dict[str, OutputKind] = {
    "published.csv": text_kind("the demonstration's", "topic,id,time,"),
    "prior.yaml": text_kind("the demonstration's", FIRST_LINE, DEFAULT_PRIOR.partition("\n")[0]),
    "design.yaml": text_kind("the demonstration's", DESIGN.partition("\n")[0]),
    BUNDLE_NAME: BUNDLE,
    AGENT_NAME: text_kind("the demonstration's", AGENT_COMMENT.partition("\n")[0]),
}
REPORT = OutputKind(
    "the demonstration's",
    lambda head, tail: head.startswith(b"<!DOCTYPE html>") and b"<title>sfumato: " in head,
)
MADE_UP = text_kind("the demonstration's", HEADER)
SAME_PLACE_METRES = 200.0


class Progress(Protocol):
    """How the demonstration tells what it is doing."""

    def step(self, text: str) -> None:
        """A new step has begun."""
        ...

    def bar(self, total: int) -> Callable[[int], None]:
        """How far the step is: call the result with the number done."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where the report is and what it says."""

    report_path: Path
    headline: str


def run_demo(trace_path: Path | None, folder: Path, *, repair: bool, progress: Progress) -> Outcome:
    """Make the report.

    Args:
        trace_path: the user's recording, or None for the made-up week.
        folder: for the report; made if missing.
        repair: drop unusable rows of the recording instead of refusing it.
        progress: told about every step.

    Raises:
        FormatError: the recording cannot be used.
        PrecomputeError: the folder cannot be written, or a part of the system failed.
    """
    with working_folder(folder) as work:
        check_kept(folder, trace_path)
        progress.step("reading the recording" if trace_path else "making up a week")
        material = (
            made_up_material(work)
            if trace_path is None
            else own_material(trace_path, work, repair=repair)
        )
        progress.step(f"fitting priors to {material.title}")
        fitted = fit_class(material, work, progress.bar)
        progress.step("designing the noise")
        design, sha256 = design_noise(work)
        expected = int(material.times_seconds.size)
        progress.step(f"publishing {expected:,} positions: broker, listener and agent on 127.0.0.1")
        published = publish(
            material,
            work,
            bundle_name=BUNDLE_NAME,
            bundle_sha256=sha256,
            progress=progress.bar(expected),
        )
        progress.step("attacking what was published")
        report = measure(material, published, design, fitted.prior, fitted.origin_of_it)
        progress.step("writing the report")
        (work / REPORT_NAME).write_text(render_report(report), encoding="utf-8")
        (work / REPORT_NAME).chmod(0o600)
        keep(work, folder, material)
    return Outcome(folder / REPORT_NAME, headline(report))


@contextmanager
def working_folder(folder: Path) -> Iterator[Path]:
    """A private folder inside ``folder``, gone afterwards with all it holds.

    Raises:
        PrecomputeError: the folder cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix="work-", dir=folder))
    except OSError as error:
        raise PrecomputeError(
            f"{folder}: cannot be written ({error.strerror}); name another folder with -o"
        ) from None
    try:
        yield work
    except OSError as error:
        raise PrecomputeError(
            f"{folder}: the demonstration could not go on ({error.strerror or error})"
        ) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def check_kept(folder: Path, trace_path: Path | None) -> None:
    """Refuse to write over files that an earlier demonstration did not leave.

    Raises:
        FormatError: such a file, or the recording itself.
    """
    kinds = {REPORT_NAME: REPORT, **KEPT}
    if trace_path is None:
        kinds[MADE_UP_NAME] = MADE_UP
    for name, kind in kinds.items():
        inputs = [trace_path] if trace_path is not None else []
        check_output(folder / name, kind, option="-o", inputs=inputs)


def keep(work: Path, folder: Path, material: Material) -> None:
    """Move what is worth keeping out of the working folder, over what an earlier run left."""
    names = [REPORT_NAME, *KEPT]
    if material.made_up:
        names.append(material.replay_path.name)
    for name in names:
        (work / name).replace(folder / name)


def measure(
    material: Material,
    published: Published,
    design: StreamDesign,
    prior: PriorClass,
    class_origin: str,
) -> TraceReport:
    """Attack what was published, and independent noise of the same power beside it."""
    rows = np.searchsorted(material.times_seconds, published.times_seconds)
    known = (rows < material.times_seconds.size) & np.isin(
        published.times_seconds, material.times_seconds
    )
    if not bool(np.all(known)):
        raise PrecomputeError(
            f"{int(np.sum(~known))} releases arrived for times at which none was due; "
            "the demonstration's cadence and the agent's differ: report this"
        )
    times, truth = published.times_seconds, material.points[rows]
    step = float(material.every_seconds)
    deviation = math.sqrt(design.noise_variance)
    rng = np.random.default_rng(SEED)
    independent = truth + rng.normal(0.0, deviation, truth.shape)
    plan = plan_windows(times, step)
    stays = _stays(times, truth)
    sides = []
    for released, noise, information in (
        (
            independent,
            IndependentNoise(deviation**2),
            independent_information(prior, step, deviation**2),
        ),
        (
            published.points,
            StreamNoise(design),
            design.guarantee.worst_information,
        ),
    ):
        findings = (
            None
            if plan is None
            else examine(times, truth, released, noise, plan=plan, stays=stays, rng=rng)
        )
        sides.append(Side(released, findings, least_attacker_error(information)))
    return TraceReport(
        title=material.title,
        made_up=material.made_up,
        times_seconds=times,
        truth=truth,
        step_seconds=step,
        independent=sides[0],
        shaped=sides[1],
        plan=plan,
        journey=None if plan is None else find_journey(truth, plan, step),
        stays=stays,
        design=design,
        class_origin=class_origin,
        notes=material.notes,
        seed=SEED,
        expected=int(material.times_seconds.size),
    )


def find_journey(truth: FloatArray, plan: WindowPlan, step_seconds: float) -> slice | None:
    """A typical stretch under way: the one of middling extent."""
    stretches = stretches_under_way(truth, plan, step_seconds)
    stretches.sort(key=lambda part: float(np.max(np.ptp(truth[part], axis=0))))
    return stretches[len(stretches) // 2] if stretches else None


def _stays(times: FloatArray, truth: FloatArray) -> tuple[tuple[slice, ...], ...]:
    """The longest stay, and all stays at its place when there are more."""
    groups = group_by_place(truth, find_stays(times, truth), radius=SAME_PLACE_METRES)
    if not groups:
        return ()
    together = tuple(groups[0])
    alone = (max(together, key=lambda part: part.stop - part.start),)
    return (alone,) if len(together) == 1 else (alone, together)
