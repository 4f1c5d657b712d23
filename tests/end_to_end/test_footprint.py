"""What the device has to carry: nothing heavy is imported, and memory stays small."""

import sys

import pytest
from fakes.agents import finish, start_python, write_agent, write_walk
from fakes.fault_broker import FaultBroker

LIMIT_MEGABYTES = 50
HEAVY = "scipy osqp matplotlib tqdm sklearn dask pandas precompute amqtt cvxpy"

PROBE = f"""
import sys
from agent.cli import main
code = main(["run", sys.argv[1], "--quiet"])
heavy = sorted(name for name in {HEAVY.split()!r} if name in sys.modules)
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
print(code, status["VmHWM"].split()[0], ",".join(heavy))
"""


def test_importing_the_agent_imports_nothing(tmp_path):
    probe = "import sys, agent; print('numpy' in sys.modules, 'scipy' in sys.modules)"
    assert finish(start_python("-c", probe))[1].split() == ["False", "False"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_running_agent_is_small_and_loads_nothing_heavy(tmp_path):
    write_walk(tmp_path / "walk.csv", 2880)  # a day of fixes
    with FaultBroker() as broker:
        config = write_agent(tmp_path, broker.port)
        code, out, err = finish(start_python("-c", PROBE, config))
    assert code == 0, err
    words = out.split()
    assert words[0] == "0"
    assert words[2:] == []  # nothing heavy
    assert int(words[1]) / 1024 <= LIMIT_MEGABYTES
