"""What native code prints does not reach the program's output."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

from precompute.mapping import rule_program
from precompute.mapping.block_program import solve_block
from precompute.mapping.blocks import Block
from precompute.native_output import native_output_discarded

REPOSITORY = Path(__file__).parents[2]


def test_descriptor_1_is_silent_inside_and_back_afterwards(capfd) -> None:
    os.write(1, b"before ")
    with native_output_discarded():
        os.write(1, b"inside ")
        os.write(2, b"errors are heard ")
    os.write(1, b"after")
    said = capfd.readouterr()
    assert said.out == "before after"
    assert said.err == "errors are heard "


def test_it_is_back_after_an_error_and_no_descriptor_is_left_open(capfd) -> None:
    first = os.dup(1)
    os.close(first)
    for _ in range(3):
        with suppress(KeyboardInterrupt), native_output_discarded():
            raise KeyboardInterrupt
        os.write(1, b"x")
    last = os.dup(1)
    os.close(last)
    assert capfd.readouterr().out == "xxx"
    assert last == first


def test_a_process_without_output_works() -> None:
    words = (
        "import os; os.close(1)\n"
        "from precompute.native_output import native_output_discarded\n"
        "with native_output_discarded(): pass"
    )
    done = subprocess.run([sys.executable, "-c", words], cwd=REPOSITORY, check=False)
    assert done.returncode == 0


def test_the_integer_programs_words_are_not_heard(capfd, monkeypatch) -> None:
    """As HiGHS does in some of its searches."""
    solve = rule_program.milp

    def talking(*words, **options):
        os.write(1, b"HighsMipSolverData::transformNewIntegerFeasibleSolution")
        return solve(*words, **options)

    monkeypatch.setattr(rule_program, "milp", talking)
    reward = np.random.default_rng(0).dirichlet(np.ones(12)).reshape(2, 2, 3)
    block = Block(
        reward=reward,
        post=None,
        guard=None,
        guard_post=None,
        information=np.inf,
        local=1.0,
        symbols=2,
    )
    present, _ = solve_block(
        block, block.gain(np.zeros((2, 2), dtype=np.intp)), np.full((3, 2), 0.5), np.zeros(0, int)
    )
    found = rule_program.solve_with_rule(block, present)
    assert block.success(found) >= block.success(present)
    assert capfd.readouterr().out == ""
