"""``kind: leakage`` in a design document: from matrices and a limit to what the device needs.

- name: activity
  kind: leakage
  knowledge: {backward: B.csv, forward: F.csv}   # files beside the document; one is enough
  protect: {alpha: 1}                            # or {epsilon: 1} with `memoise`
  step: 10 min                                   # of the matrices; at most one release in each
  mechanism: randomised_response                 # unary_encoding, grid_laplace, planar_laplace
  policy: adaptive                               # or steady
  memoise: 1 d                                   # instead of a policy
  horizon: 144                                   # releases whose leakage is shown
  segments: 16                                   # lost accounts allowed, plus one
  unknown: elsewhere                             # the state that an unknown one counts as
  width: 12                                      # cells in a row, for planar_laplace
  regions: {latitude: 40, longitude: 116.5, cell: 1 km}
"""

import math
from pathlib import Path
from typing import cast

from agent.formats.documents import Section, count, number, one_of, positive, text
from agent.formats.leakage_design import LeakageDesign, MechanismName, Policy, Regions
from agent.formats.leakage_table import LeakageTable
from agent.formats.quantities import parse_duration, parse_length
from precompute.leakage.allocation import steady_state
from precompute.leakage.errors import LeakageError
from precompute.leakage.matrix_files import read_matrix_file
from precompute.leakage.matrix_heads import (
    Direction,
    Grid,
    MatrixFile,
    require_grid,
    require_same_chain,
    require_step,
)
from precompute.leakage.quantification import Adversary
from precompute.leakage.transition_matrices import TransitionMatrix

MECHANISMS = ("randomised_response", "unary_encoding", "grid_laplace", "planar_laplace")
DEFAULT_HORIZON = 144
DEFAULT_SEGMENTS = 16
_WORDS: dict[Direction, str] = {
    "backward": "was one step earlier",
    "forward": "is one step later",
}
EMPTY = LeakageTable((), (), ())


def design_leakage(section: Section, directory: Path) -> LeakageDesign:
    """The design that a section asks for; the section is read to its end.

    Args:
        section: the mapping above; ``kind`` may have been taken already.
        directory: where the files of ``knowledge`` lie.

    Raises:
        FormatError: a key or value that is not known.
        LeakageError: matrices that do not fit, or no budget keeps the limit.
    """
    if section.has("kind"):
        section.take("kind", one_of("leakage"))
    name = section.take("name", text)
    files, sentences = _knowledge(section.section("knowledge"), directory)
    matrices = tuple(file.matrix for file in files)
    states = matrices[0].names
    if any(matrix.names != states for matrix in matrices):
        raise section.fail("knowledge", "the matrices name their states differently; use the same")
    step = section.take("step", parse_duration)
    for file in files:
        require_step(file, step)
    step_ms = round(1000 * step)
    period = section.take_or("memoise", parse_duration, math.nan)
    memoised = not math.isnan(period)
    protect = section.section("protect")
    limit = protect.take("epsilon" if memoised else "alpha", positive)
    protect.close()
    policy = section.take_or("policy", one_of("adaptive", "steady"), "adaptive")
    if memoised and section.has("policy"):
        raise section.fail("policy", "memoised releases have none; leave out one of the two")
    backward, forward, steady = EMPTY, EMPTY, (limit, limit, limit)
    if not memoised:
        adversary = _adversary(section, matrices)
        solved = steady_state(adversary, limit)
        backward, forward = adversary.backward, adversary.forward
        steady = (solved.epsilon, solved.backward, solved.forward)
    elsewhere = section.take_or("unknown", text, "")
    width = section.take_or("width", count, 0)
    regions = _regions(section.section("regions"), files) if section.has("regions") else None
    design = LeakageDesign(
        name=name,
        states=states,
        width=width or None,
        mechanism=cast(
            MechanismName, section.take_or("mechanism", one_of(*MECHANISMS), MECHANISMS[0])
        ),
        policy=cast(Policy, "memoised" if memoised else policy),
        step_ms=step_ms,
        limit=limit,
        epsilon=steady[0],
        steady_backward=steady[1],
        steady_forward=steady[2],
        horizon=section.take_or("horizon", count, DEFAULT_HORIZON),
        segments=section.take_or("segments", count, DEFAULT_SEGMENTS),
        memoise_steps=max(1, round(1000 * period / step_ms)) if memoised else None,
        elsewhere=elsewhere or None,
        regions=regions,
        knowledge=sentences,
        backward=backward,
        forward=forward,
    )
    section.close()
    return design


def _knowledge(section: Section, directory: Path) -> tuple[tuple[MatrixFile, ...], tuple[str, ...]]:
    """The matrices that are given, backward first, and a sentence for each."""
    files: list[MatrixFile] = []
    sentences = []
    for key, words in _WORDS.items():
        if section.has(key):
            file = read_matrix_file(directory / section.take(key, text), key)
            files.append(file)
            sentences.append(
                f"how likely each of {len(file.matrix)} states {words}, given the present one"
            )
    if not files:
        raise LeakageError(f"{section.where}: neither backward nor forward; give at least one")
    section.close()
    require_same_chain(files)
    return tuple(files), tuple(sentences)


def _adversary(section: Section, matrices: tuple[TransitionMatrix, ...]) -> Adversary:
    """The observer; which of the two a single matrix is stands in the document."""
    known = section.section("knowledge")
    backward = matrices[0] if known.has("backward") else None
    return Adversary.knowing(backward, matrices[-1] if known.has("forward") else None)


def _regions(section: Section, files: tuple[MatrixFile, ...]) -> Regions:
    regions = Regions(
        section.take("latitude", number),
        section.take("longitude", number),
        section.take("cell", parse_length),
    )
    section.close()
    for file in files:
        require_grid(file, Grid(regions.latitude, regions.longitude, regions.cell_metres))
    return regions
