"""Ctrl-C that the quadratic solver catches is Ctrl-C to Python too."""

from types import SimpleNamespace

import numpy as np
import osqp
import pytest

from precompute.mapping.epic_classifier import train


class _Interrupted:
    def setup(self, *_words, **_settings):
        pass

    def solve(self, **_settings):
        status = SimpleNamespace(status_val=osqp.SolverStatus.OSQP_SIGINT)
        return SimpleNamespace(x=None, info=status)


def test_a_solver_that_was_interrupted_interrupts(monkeypatch):
    monkeypatch.setattr(osqp, "OSQP", _Interrupted)
    phi = np.random.default_rng(1).normal(size=(8, 3))
    signs = np.where(np.arange(8) % 2 == 0, 1.0, -1.0)
    with pytest.raises(KeyboardInterrupt):
        train(phi, signs, np.full(8, 1 / 8), 0.1)
