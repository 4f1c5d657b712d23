"""The documentation's way from a recording to the broker, on a real one and a made-up one."""

import csv
import json
import random
import time
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from fakes.agents import finish, start, write_walk
from fakes.documents import commands_in, file_in, section_of

ALPHA = 2.0
PAGE = section_of("docs/leakage.md", "### From a recording to the broker")


def make_up(folder):
    """A walk of three days, and a log of activities of a week."""
    write_walk(folder / "week.gpx", 900, step_seconds=300)
    chance = random.Random(3)
    now = datetime(2030, 1, 1)
    lines = ["Start\tEnd\tActivity"]
    for _ in range(60):
        end = now + timedelta(minutes=chance.choice([20, 45, 90, 400]))
        lines.append(f"{now}\t{end}\t{chance.choice(['Sleeping', 'Lunch', 'Reading'])}")
        now = end + timedelta(minutes=chance.choice([0, 10, 70]))
    (folder / "activities.txt").write_text("\n".join(lines) + "\n")


def borrow(folder, data_dir):
    """A GeoLife user and a home's activities, read where they lie."""
    (folder / "week.gpx").symlink_to(data_dir / "geolife/users/u022.csv.gz")
    (folder / "activities.txt").symlink_to(data_dir / "sensors/ordonezA_ADLs.txt")


def sfumato(folder, *words):
    code, out, err = finish(start(*words, cwd=folder))
    return code, out, err


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("recording", ["made up", "real"])
def test_states_reach_a_subscriber_within_the_limit(tmp_path, mosquitto, request, recording):
    if recording == "real":
        borrow(tmp_path, request.getfixturevalue("data_dir"))
    else:
        make_up(tmp_path)
    (tmp_path / "design.yaml").write_text(file_in(PAGE, "design.yaml"))
    out = tmp_path / "published.csv"
    listener = start("listen", "city/#", "home/#", "--port", mosquitto.port, "--csv", out)
    try:
        assert "subscribed" in listener.stderr.readline()
        channels = follow_the_page(tmp_path, mosquitto.port)
        released = sum(channel["releases"] for channel in channels.values())
        deadline = time.monotonic() + 20
        while len(rows_of(out)) < released and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        listener.terminate()
        code = finish(listener)[0]
    assert code == 0
    rows = rows_of(out)
    assert len({row["id"] for row in rows}) == len(rows) == released
    require_what_was_designed(tmp_path, rows, channels)


def follow_the_page(folder, port):
    """Every command of the page in its order; what health then says of each channel."""
    ran = []
    for words in commands_in(PAGE):
        code, printed, said = sfumato(folder, *words)
        assert code == 0, (words, said)
        ran.append(" ".join(words[:2]))
        if words[0] == "design":
            config = file_in(PAGE, "agent.yaml").replace("port: 1883", f"port: {port}")
            digest = printed.split("sha256: ")[1][:64]
            assert "the digest that design printed" in config
            config = config.replace("the digest that design printed", digest)
            (folder / "agent.yaml").write_text(config)
    assert ran[-2:] == ["run agent.yaml", "health agent.yaml"]
    assert printed.endswith("\nhealthy\n")
    assert printed.count(f" of {ALPHA:g} (each release") == 2

    code, printed, _ = sfumato(folder, "health", "state", "--json")
    health = json.loads(printed)
    assert (code, health["healthy"], health["running"]) == (0, True, False)
    channels = {channel["name"]: channel for channel in health["channels"]}
    for channel in channels.values():
        assert 0.5 * ALPHA < channel["tpl_worst"] <= ALPHA
        assert (channel["waiting"], channel["parked"]) == (0, 0)
    return channels


def require_what_was_designed(folder, rows, channels):
    """The published budgets, put to `quantify`, keep the limit that health shows."""
    regions = [row for row in rows if row["topic"] == "city/alice/region"]
    assert len(regions) == channels["region"]["releases"] > 100
    assert all(isinstance(json.loads(row["state"]), list) for row in regions)
    activities = [row for row in rows if row["topic"] == "home/alice/activity"]
    header = (folder / "activity-next.csv").read_text().splitlines()
    states = next(line for line in header if not line.startswith("#")).split(",")[1:]
    assert {row["state"] for row in activities} <= set(states)
    times = [datetime.fromisoformat(row["time"][:-1]) for row in activities]
    assert {later - sooner for sooner, later in pairwise(times)} == {timedelta(hours=1)}
    assert float(activities[0]["epsilon"]) == 0  # drawn without looking
    budgets = [row["epsilon"] for row in activities[1:]]
    (folder / "budgets.txt").write_text("\n".join(budgets) + "\n")
    code, printed, said = sfumato(
        folder,
        *("leakage", "quantify", "--backward", "activity-before.csv"),
        *("--forward", "activity-next.csv", "--epsilons", "budgets.txt", "--json"),
    )
    assert code == 0, said
    worst = json.loads(printed)["worst_tpl"]
    # Health follows each release for 144 more, and counts from the worst of a lost account.
    assert 0.25 * ALPHA < worst <= ALPHA
    assert worst <= channels["activity"]["tpl_worst"] + 0.01
