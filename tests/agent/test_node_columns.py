"""Which column feeds which of a node's: mistakes are refused, other names are said once."""

import pytest
from fakes.mapping_designs import three_nodes

from agent.errors import ConfigError
from agent.node_columns import check_node_columns

NODE = three_nodes()[0]  # takes S1_Light, S1_Temp
CO2 = three_nodes()[1]


def told(columns, node=NODE):
    return check_node_columns("channel 'c'", columns, node)


def test_the_designs_own_names_in_its_own_order_need_no_word():
    assert told({"time": "t", "values": ["S1_Light", "S1_Temp"]}) == []
    assert told({"time": "t", "values": ["s1_light", "S1_TEMP"]}) == []
    assert told({"time": "t", "value": "S5_CO2"}, CO2) == []


@pytest.mark.parametrize("values", [["S1_Temp", "S1_Light"], ["s1_temp", "S1_LIGHT"]])
def test_the_designs_own_names_in_another_order_are_refused(values):
    with pytest.raises(ConfigError, match=r"another order; write values: \[S1_Light, S1_Temp\]"):
        told({"time": "t", "values": values})


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (["lux", "heat"], "'lux' feeds 'S1_Light', 'heat' feeds 'S1_Temp'"),
        (["S1_Temp", "heat"], "'S1_Temp' feeds 'S1_Light', 'heat' feeds 'S1_Temp'"),
        ([4, "S1_Temp"], "column 4 feeds 'S1_Light', 'S1_Temp' feeds 'S1_Temp'"),
        ([2, 1], "column 2 feeds 'S1_Light', column 1 feeds 'S1_Temp'"),
    ],
)
def test_other_names_are_said_in_one_line(values, first):
    (line,) = told({"time": "t", "values": values})
    assert f"of node 'light-1', {first}: check" in line


@pytest.mark.parametrize("columns", [None, {"values": "S1_Light"}, {"values": ["a", "b", "c"]}])
def test_another_number_of_columns_is_refused(columns):
    with pytest.raises(ConfigError, match="takes 2: S1_Light, S1_Temp"):
        told(columns)
