"""The benchmark's lines compute their verdicts; the long form is `make bench-cip`."""

from benchmarks import cip


def test_known_optima_are_met() -> None:
    lines = list(cip.one_secret())
    asked = [line for line in lines if line.asked]
    assert len(asked) == 8
    assert all(line.met for line in asked)


def test_a_figure_that_is_missed_says_so(monkeypatch) -> None:
    monkeypatch.setitem(cip.windows.EXPECTED_FREE, 9, 4.2)
    assert [line.met for line in cip.one_secret() if line.asked].count(False) == 1


def test_the_reproduction_is_met() -> None:
    lines = list(cip.reproduction())
    assert len(lines) == 14
    assert all(line.met for line in lines)
