"""Resident memory of `sfumato run` while it runs a location stream channel, in a fresh process.

    python benchmarks/agent_memory.py [FIXES]

Starts a broker of few lines in this process, replays a made-up walk at full speed in a child, and
prints the child's VmRSS while it runs and its VmHWM at the end. Linux only.
"""

import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "tests")]

from fakes.agents import finish, start, write_agent, write_walk  # noqa: E402
from fakes.fault_broker import FaultBroker  # noqa: E402

LIMIT_MIB = 50.0


def main() -> int:
    """Exit code 1 above the limit."""
    fixes = int(sys.argv[1]) if len(sys.argv) > 1 else 17_280  # a day at 5 s
    with tempfile.TemporaryDirectory() as name, FaultBroker() as broker:
        folder = Path(name)
        write_walk(folder / "walk.csv", fixes, step_seconds=5)
        begun = time.monotonic()
        process = start("run", write_agent(folder, broker.port, every="5 s"))
        seen: dict[str, list[int]] = {"VmRSS": [], "VmHWM": []}
        while process.poll() is None:
            for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
                key, _, value = line.partition(":")
                if key in seen:
                    seen[key].append(int(value.split()[0]))
            time.sleep(0.05)
        seconds = time.monotonic() - begun
        code, _, words = finish(process)
    resident, peak = max(seen["VmRSS"]) / 1024, max(seen["VmHWM"]) / 1024
    print(words.strip().splitlines()[-1])
    print(
        f"releases per second  {len(broker.published) / seconds:8.0f}  start and loading included"
    )
    print(f"VmRSS while running  {resident:8.1f} MiB")
    print(f"VmHWM                {peak:8.1f} MiB   limit {LIMIT_MIB} MiB")
    return code or int(peak > LIMIT_MIB)


if __name__ == "__main__":
    sys.exit(main())
