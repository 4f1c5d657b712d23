"""Every reading has a cell: the slow and obvious one."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.formats.errors import FormatError
from agent.formats.quantisers import Centres, Cuts, Tree

numbers = st.floats(-1000, 1000)


@given(st.lists(numbers, max_size=8, unique=True).map(sorted), numbers)
def test_a_cut_belongs_to_the_cell_above_it(cuts, value):
    assert Cuts(tuple(cuts)).cell((value,)) == sum(cut <= value for cut in cuts)


@given(st.data(), st.integers(1, 4), st.integers(1, 9))
def test_the_nearest_centre_by_exact_arithmetic(data, columns, cells):
    point = st.tuples(*[numbers] * columns)
    centres = tuple(data.draw(point) for _ in range(cells))
    scales = data.draw(st.tuples(*[st.floats(0.1, 10)] * columns))
    value = data.draw(point)
    distances = [
        sum(
            ((Fraction(v) - Fraction(c)) / Fraction(s)) ** 2
            for v, c, s in zip(value, one, scales, strict=True)
        )
        for one in centres
    ]
    found = distances[Centres(centres, scales).cell(value)]
    assert float(found - min(distances)) <= 1e-12 * float(1 + max(distances))


def test_the_first_of_equal_centres_and_far_values():
    quantiser = Centres(((1.0, 0.0), (3.0, 0.0), (3.0, 0.0)), (1.0, 1e-3))
    assert quantiser.cell((2.0, 0.0)) == 0
    assert quantiser.cell((2.5, 0.0)) == 1
    assert quantiser.cell((1e308, -1e308)) == 1
    assert quantiser.cell((-1e308, 1e308)) == 0


def test_a_trees_questions_by_hand():
    tree = Tree(((0, 20.0), (1, 25.0)), ((-1, 1), (-2, -3)), 2)
    assert [tree.cell(v) for v in ((19.9, 99.0), (20.0, 24.9), (20.0, 25.0))] == [0, 1, 2]
    assert Tree((), (), 3).cell((1.0, 2.0, 3.0)) == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: Cuts((1.0, 1.0)),
        lambda: Cuts((float("nan"),)),
        lambda: Cuts(tuple(map(float, range(256)))),
        lambda: Centres((), (1.0,)),
        lambda: Centres(((1.0,),), (0.0,)),
        lambda: Centres(((1.0, 2.0),), (1.0,)),
        lambda: Centres(((0.0,), (1e300,)), (1e-10,)),
        lambda: Tree(((0, 1.0),), ((-1, -1),), 1),
        lambda: Tree(((0, 1.0),), ((-1, 0),), 1),
        lambda: Tree(((1, 1.0),), ((-1, -2),), 1),
        lambda: Tree((), (), 0),
    ],
    ids=range(11),
)
def test_what_is_no_quantiser_is_refused(make):
    with pytest.raises(FormatError, match="quantiser"):
        make()
