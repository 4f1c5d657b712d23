"""A joint stated in a table: read alike whatever separates its columns, refused by line."""

import numpy as np
import pytest

from precompute.mapping.errors import MappingError
from precompute.mapping.joint_files import read_joint

NODES = [("light", 2), ("air", 3)]
ROWS = ["h,g,light,air,p", "no,in,0,0,0.25", "yes,out,1,2,0.5", "yes,in,0,1,0.25"]


def read(tmp_path, text):
    path = tmp_path / "joint.csv"
    path.write_text(text)
    return read_joint(path, NODES)


def same(one, other):
    names = (one.public_names, one.private_names) == (other.public_names, other.private_names)
    ours, theirs = ((x.weights, x.public, x.private, *x.tables) for x in (one.joint, other.joint))
    return names and all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize(
    ("separator", "decimal"), [(";", "."), (";", ","), ("\t", "."), ("\t", ","), (" ; ", ",")]
)
def test_semicolons_and_tabs_say_the_same_as_commas(tmp_path, separator, decimal):
    rows = [separator.join(cell.replace(".", decimal) for cell in row.split(",")) for row in ROWS]
    found = read(tmp_path, "\n".join(rows))
    assert same(found, read(tmp_path, "\n".join(ROWS)))
    assert found.joint.weights.tolist() == [0.25, 0.5, 0.25]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h|g|light|air|p\nno|in|0|0|1", "line 1 is not the header .* commas, semicolons or tabs"),
        ("h;g;light;air;p\nno,in,0,0,0.5\nyes;in;0;0;1", "line 2: 1 cells; expected 5"),
        ("h,g,light,air,p\nno,in,0,0,0,5\nyes,in,0,0,0.5", "line 2: 6 cells; expected 5"),
        (
            "h;g;light;air;p\nno;in;0;0;0,5,0\nyes;in;0;0;0,5",
            "line 2: p is .0.5,0.; expected a probability",
        ),
        ("x" * 200_000 + "\nno", "line 1 is not the header"),
    ],
    ids=range(5),
)
def test_other_tables_are_refused_by_line(tmp_path, text, message):
    with pytest.raises(MappingError, match=message):
        read(tmp_path, text)
