"""From a design document to the device: the leakage design, its entry, and its channel."""

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent.category_kind import CategoryKind
from agent.errors import RefusedError
from agent.formats.documents import parse_yaml
from agent.formats.errors import FormatError, SfumatoError
from agent.formats.leakage_design import (
    LeakageDesign,
    Regions,
    leakage_design_digest,
    leakage_entry,
    read_leakage_entry,
)
from agent.formats.leakage_summary import describe_leakage, summarise_leakage
from agent.formats.projection import LocalProjection
from agent.readings import Reading
from agent.sanitise.category import CategorySanitiser
from precompute.leakage.allocation import allocate_known_horizon
from precompute.leakage.designing import design_leakage
from precompute.leakage.learning import runs_on_grid
from precompute.leakage.matrix_files import read_matrix
from precompute.leakage.quantification import Adversary, quantify

STEP = 600_000
DOCUMENT = """
name: rooms
kind: leakage
knowledge: {backward: P.csv, forward: P.csv}
protect: {alpha: 1}
step: 10 min
"""


class SeededBits:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def bits(self, number: int) -> int:
        return self._random.getrandbits(number)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "P.csv").write_text(
        ",bed,hall,elsewhere\nbed,.8,.1,.1\nhall,.2,.7,.1\nelsewhere,.1,.1,.8\n"
    )
    return tmp_path


def design_of(folder: Path, more: str = "", without: str = "") -> LeakageDesign:
    kept = "\n".join(
        line for line in DOCUMENT.splitlines() if not (without and line.startswith(without))
    )
    return design_leakage(parse_yaml(f"{kept}\n{more}".encode(), "design.yaml"), folder)


def test_a_document_becomes_a_design(folder: Path) -> None:
    design = design_of(
        folder,
        "unknown: elsewhere\nregions: {latitude: 40, longitude: 116.5, cell: 1 km}\nhorizon: 9\n",
    )
    assert design.states == ("bed", "hall", "elsewhere")
    assert (design.policy, design.mechanism, design.step_ms) == (
        "adaptive",
        "randomised_response",
        STEP,
    )
    matrix = read_matrix(folder / "P.csv")
    plan = allocate_known_horizon(Adversary.knowing(matrix, matrix), 1.0, 3)
    assert (design.steady_backward, design.epsilon, design.steady_forward) == pytest.approx(plan)
    assert design.regions is not None
    assert design.regions.cell_metres == 1000


def test_one_matrix_is_enough(folder: Path) -> None:
    text = "knowledge: {forward: P.csv}\n"
    design = design_of(folder, text, without="knowledge")
    assert design.backward.starts == ()
    assert len(design.forward.starts) >= 1
    assert design.steady_backward == pytest.approx(design.epsilon)


@pytest.mark.parametrize(
    ("more", "without", "message"),
    [
        ("surprise: 1", "", "unknown key 'surprise'"),
        ("", "step", "'step' is missing"),
        ("protect: {alpha: 0}", "protect", "expected a number above zero"),
        ("protect: {epsilon: 1}", "protect", "'alpha' is missing"),
        ("knowledge: {}", "knowledge", "neither backward nor forward"),
        ("knowledge: {forward: Q.csv}", "knowledge", "no such file"),
        ("mechanism: magic", "", "expected one of randomised_response"),
        ("mechanism: planar_laplace", "", "a width belongs to planar_laplace"),
        ("mechanism: planar_laplace\nwidth: 2", "", "do not fill rows"),
        ("unknown: attic", "", "not among the states"),
        ("memoise: 1 d\npolicy: steady", "", "'epsilon' is missing"),
    ],
)
def test_wrong_documents_are_refused(folder: Path, more: str, without: str, message: str) -> None:
    with pytest.raises(SfumatoError, match=message):
        design_of(folder, more, without)


def test_a_design_survives_its_manifest_entry(folder: Path) -> None:
    for more in ("", "unknown: elsewhere\nregions: {latitude: 40, longitude: 0, cell: 1 km}"):
        design = design_of(folder, more)
        entry = json.loads(json.dumps(leakage_entry(design)))
        again = read_leakage_entry(entry, design.backward, design.forward)
        assert again == design
        assert leakage_design_digest(again) == leakage_design_digest(design)


def test_a_design_is_told_in_words_and_figures(folder: Path) -> None:
    design = design_of(folder)
    summary = json.loads(json.dumps(summarise_leakage(design), allow_nan=False))
    assert (summary["states"], summary["alpha"]) == (3, 1.0)
    words = "\n".join(describe_leakage(design))
    assert "by a factor of at most 2.72" in words
    assert "at most one release every 10 min" in words
    memoised = design_of(folder, "memoise: 1 d\nprotect: {epsilon: 800}", without="protect")
    assert summarise_leakage(memoised)["odds_factor"] is None
    assert "within 1 d, a state always gets the same release" in "\n".join(
        describe_leakage(memoised)
    )


def test_every_wrong_entry_is_refused(folder: Path) -> None:
    design = design_of(folder)
    entry = leakage_entry(design)
    for key in entry:
        missing = {k: v for k, v in entry.items() if k != key}
        with pytest.raises(FormatError):
            read_leakage_entry(missing, design.backward, design.forward)
        with pytest.raises(FormatError):
            read_leakage_entry({**entry, key: [1]}, design.backward, design.forward)
        with pytest.raises(FormatError):
            read_leakage_entry({**entry, key: True}, design.backward, design.forward)
    with pytest.raises(FormatError, match="unknown or missing"):
        read_leakage_entry({**entry, "more": 1}, design.backward, design.forward)


def test_releases_are_accounted_for_and_survive_restarts(folder: Path) -> None:
    design = design_of(folder, "horizon: 50")
    sanitiser = CategorySanitiser(design, SeededBits(1))
    state = sanitiser.cold_start(0)
    for step in range(40):
        release, state = sanitiser.sanitise(state, step * STEP + 17, (step % 3,))
        assert release[0] in range(3)
        sanitiser = CategorySanitiser(design, SeededBits(step))  # a restart
    account = sanitiser.account(state)
    recent, worst = account.recent, account.worst
    assert recent <= worst <= 1.0
    assert worst == pytest.approx(1.0, abs=1e-5)  # from below: it began from the worst case


def test_one_release_a_step_only(folder: Path) -> None:
    sanitiser = CategorySanitiser(design_of(folder), SeededBits(1))
    _, state = sanitiser.sanitise(sanitiser.cold_start(0), 5 * STEP, (0,))
    with pytest.raises(RefusedError, match="already accounted for"):
        sanitiser.sanitise(state, 6 * STEP - 1, (0,))


@pytest.mark.parametrize("segment", [0, 1])
def test_an_account_begins_with_a_release_that_says_nothing(folder: Path, segment: int) -> None:
    design = design_of(folder)
    state = CategorySanitiser(design, SeededBits(0)).cold_start(segment)
    for seed in range(40):
        # The same bits give the same release whatever the state is.
        releases = {
            CategorySanitiser(design, SeededBits(seed)).sanitise(state, 100 * STEP, (value,))
            for value in range(3)
        }
        assert len(releases) == 1
    sanitiser = CategorySanitiser(design, SeededBits(3))
    _, after = sanitiser.sanitise(releases.pop()[1], 101 * STEP, (1,))
    assert sanitiser.account(after).worst <= 1.0
    with pytest.raises(RefusedError, match="at most 15 are allowed"):
        sanitiser.cold_start(16)


def test_the_device_names_cells_as_learning_does(folder: Path) -> None:
    rng = np.random.default_rng(4)
    latitude, longitude = 40 + rng.normal(0, 0.03, 300), 116.5 + rng.normal(0, 0.03, 300)
    east, north = LocalProjection(40.0, 116.5).forward(latitude, longitude)
    times = 600.0 * np.arange(300)
    (names,) = runs_on_grid(times, east, north, cell_metres=700.0, step_seconds=600.0)
    states = tuple(sorted(set(names)))
    design = replace(
        design_of(folder), states=states, regions=Regions(40.0, 116.5, 700.0), elsewhere=None
    )
    kind = CategoryKind(design, CategorySanitiser(design, SeededBits(1)))
    for position, name in zip(zip(latitude, longitude, strict=True), names, strict=True):
        (number,) = kind.to_steps(Reading(1, tuple(map(float, position))))
        assert states[number] == name


@pytest.mark.parametrize("policy", ["adaptive", "steady"])
def test_deleting_the_account_again_and_again_does_not_break_the_limit(
    folder: Path, policy: str
) -> None:
    design = design_of(folder, f"policy: {policy}")
    matrix = read_matrix(folder / "P.csv")
    budgets = []
    for step in range(120):
        if step in (0, 1, 30, 31, 32, 70):  # all that the device knew is gone
            sanitiser = CategorySanitiser(design, SeededBits(step))
            state = sanitiser.cold_start(0)
        _, state = sanitiser.sanitise(state, step * STEP, (step % 3,))
        budgets.append(sanitiser.last_budget(state))
    assert [step for step, budget in enumerate(budgets) if budget == 0] == [0, 1, 30, 31, 32, 70]
    # Nothing was learnt from a release that did not look; quantify takes no zero.
    spent = [budget or 1e-15 for budget in budgets]
    worst = quantify(Adversary.knowing(matrix, matrix), spent).worst
    assert 0.9 < worst <= 1.0 + 1e-12


def test_a_steady_policy_spends_the_same_each_time(folder: Path) -> None:
    design = design_of(folder, "policy: steady")
    sanitiser = CategorySanitiser(design, SeededBits(1))
    state = sanitiser.cold_start(0)
    for step in range(200):
        _, state = sanitiser.sanitise(state, step * STEP, (0,))
    assert 0.99 <= sanitiser.account(state).worst <= 1.0


def test_memoised_releases_repeat(folder: Path) -> None:
    design = design_of(folder, "memoise: 1 d\nprotect: {epsilon: 1}", without="protect")
    assert design.memoise_steps == 144
    sanitiser = CategorySanitiser(design, SeededBits(1))
    state = sanitiser.cold_start(0)
    releases = []
    for step in range(100):
        release, state = sanitiser.sanitise(state, step * STEP, (step % 3,))
        releases.append(release)
    assert all(len(set(releases[kind::3])) == 1 for kind in range(3))


@pytest.mark.parametrize("mechanism", ["unary_encoding", "grid_laplace", "planar_laplace"])
def test_every_mechanism_gives_state_numbers(folder: Path, mechanism: str) -> None:
    width = "width: 3\n" if mechanism == "planar_laplace" else ""
    sanitiser = CategorySanitiser(
        design_of(folder, f"mechanism: {mechanism}\n{width}"), SeededBits(1)
    )
    state = sanitiser.cold_start(0)
    seen: set[int] = set()
    for step in range(30):
        release, state = sanitiser.sanitise(state, step * STEP, (2,))
        seen.update(release)
    # Clamped noise that is wide for three cells falls on the two ends most often.
    assert {0, 2} <= seen <= {0, 1, 2}


def test_unknown_states_are_refused_or_elsewhere(folder: Path) -> None:
    sanitiser = CategorySanitiser(design_of(folder), SeededBits(1))
    with pytest.raises(RefusedError, match="unknown state") as caught:
        sanitiser.number_of("secret-clinic")
    assert "clinic" not in str(caught.value)
    with pytest.raises(RefusedError, match="unknown state"):
        sanitiser.sanitise(sanitiser.cold_start(0), 0, (3,))
    known = CategorySanitiser(design_of(folder, "unknown: elsewhere"), SeededBits(1))
    assert known.number_of("secret-clinic") == 2
    assert known.number_of("bed") == 0


def test_damaged_or_foreign_states_are_refused(folder: Path) -> None:
    design = design_of(folder)
    sanitiser = CategorySanitiser(design, SeededBits(1))
    _, state = sanitiser.sanitise(sanitiser.cold_start(0), 0, (0,))
    for size in range(len(state)):
        with pytest.raises(FormatError):
            sanitiser.segment(state[:size])
    with pytest.raises(FormatError):
        sanitiser.segment(state + b"\0")
    other = CategorySanitiser(replace(design, horizon=7), SeededBits(1))
    with pytest.raises(FormatError, match="belongs to another design"):
        other.segment(state)


def budgets_of(design: LeakageDesign, steps: range) -> list[float]:
    """What a device whose state folder is new charges at these steps."""
    sanitiser = CategorySanitiser(design, SeededBits(3))
    account = sanitiser.cold_start(0)
    budgets = []
    for step in steps:
        _, account = sanitiser.sanitise(account, step * STEP, (0,))
        budgets.append(sanitiser.last_budget(account) or 1e-300)
    return budgets


def test_deleted_accounts_keep_the_limit_only_while_time_moves_on(folder: Path) -> None:
    design = design_of(folder)
    matrix = read_matrix(folder / "P.csv")
    observer = Adversary.knowing(matrix, matrix)
    deleted_often = [
        e for start in range(0, 60, 6) for e in budgets_of(design, range(start, start + 6))
    ]
    assert quantify(observer, deleted_often).worst <= design.limit
    # The same moments twice: what the documentation says is not covered.
    once = budgets_of(design, range(60))
    assert quantify(observer, once).worst <= design.limit
    assert quantify(observer, [2 * epsilon for epsilon in once]).worst > 1.2 * design.limit
