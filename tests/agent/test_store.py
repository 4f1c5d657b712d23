"""The store: one transaction, one owner, and nothing that this version does not know."""

import sqlite3
import stat
from itertools import pairwise

import pytest

from agent.errors import ConfigError, UnavailableError
from agent.state_folder import FILE_NAME
from agent.store import Advance, Outgoing, Store

DESIGN = "d" * 64


def open_store(folder, first=1_700_000_000_000):
    return Store(folder, first_sequence=lambda: first)


def advance(sequence, *, channel="c", design=DESIGN, state=b"state", segments=1):
    return Advance(channel, design, state, segments, sequence, 5_000)


def outgoing(*sequences, channel="c"):
    return [Outgoing(channel, n, "t", f"payload {n}".encode()) for n in sequences]


def test_state_and_releases_come_back_after_a_restart(tmp_path):
    folder = tmp_path / "state"
    with open_store(folder) as store:
        store.commit(advances=[advance(3)], outgoing=outgoing(1, 2))
    with open_store(folder) as store:
        position = store.position("c", DESIGN)
        assert (position.state, position.next_sequence, position.last_time_ms) == (
            b"state",
            3,
            5_000,
        )
        assert [row.payload for row in store.waiting(0, 10)] == [b"payload 1", b"payload 2"]


def test_later_noise_replaces_earlier_noise(tmp_path):
    folder = tmp_path / "state"
    with open_store(folder) as store:
        store.commit(advances=[advance(2, state=b"early" * 200)])
        store.commit(advances=[advance(3, state=b"late", segments=2)])
    with open_store(folder) as store:
        position = store.position("c", DESIGN)
    assert (position.state, position.segments_used, position.next_sequence) == (b"late", 2, 3)
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"early" not in content  # overwritten: with old releases it would tell old places


def test_a_failing_batch_changes_nothing(tmp_path):
    with open_store(tmp_path / "state") as store:
        store.commit(advances=[advance(2, state=b"before")], outgoing=outgoing(1))
        with pytest.raises(UnavailableError):
            store.commit(advances=[advance(9, state=b"after")], outgoing=outgoing(2, 1))
        assert store.position("c", DESIGN).state == b"before"
        assert [row.sequence for row in store.waiting(0, 10)] == [1]
        store.commit(outgoing=outgoing(2))  # and the store still works


def test_acknowledged_rows_go_and_parked_rows_stay_aside(tmp_path):
    with open_store(tmp_path / "state") as store:
        store.commit(outgoing=outgoing(1, 2, 3))
        first, second, third = store.waiting(0, 10)
        store.commit(acknowledged=[first.row_id], parked=[second.row_id])
        assert store.waiting(0, 10) == [third]
        assert (store.count("waiting"), store.count("parked")) == (1, 1)


def test_lost_noise_state_is_a_cold_start_that_remembers_the_segments_used(tmp_path):
    folder = tmp_path / "state"
    with open_store(folder) as store:
        store.commit(advances=[advance(2, segments=2)])
    database = sqlite3.connect(folder / FILE_NAME)
    database.execute("DELETE FROM noise")
    database.commit()
    database.close()
    with open_store(folder) as store:
        position = store.position("c", DESIGN)
        assert (position.state, position.segments_used) == (None, 2)


def test_another_design_starts_its_own_noise_but_goes_on_with_the_sequence(tmp_path):
    with open_store(tmp_path / "state") as store:
        store.commit(advances=[advance(7)])
        other = store.position("c", "e" * 64)
        assert (other.state, other.segments_used, other.other_designs) == (None, 0, 1)
        assert other.next_sequence == 7


def test_sequences_of_new_stores_start_at_random_and_far_apart(tmp_path):
    """Not at the clock: two quick starts would collide, and an id would tell when it was."""
    starts = []
    for number in range(20):
        with Store(tmp_path / str(number)) as store:
            starts.append(store.position("c", DESIGN).next_sequence)
    starts.sort()
    assert all(0 <= start < 1 << 50 for start in starts)
    assert min(after - before for before, after in pairwise(starts)) > 1_000_000
    assert starts[-1] > 1 << 48  # (3/4)^20 by chance: all fifty bits are used


def test_a_store_that_was_used_goes_on_whatever_the_random_start(tmp_path):
    with open_store(tmp_path / "one", first=5) as store:
        assert store.position("c", DESIGN).next_sequence == 5
        store.commit(advances=[advance(9)])
    with open_store(tmp_path / "one", first=77) as store:
        assert store.position("c", DESIGN).next_sequence == 9


def test_a_damaged_stores_message_says_what_starting_anew_spends(tmp_path):
    folder = tmp_path / "state"
    open_store(folder).close()
    (folder / FILE_NAME).write_bytes(b"\xa5" * 8192)
    with pytest.raises(ConfigError, match="whole promise once more"):
        open_store(folder)


def test_every_file_is_for_its_owner_alone(tmp_path):
    folder = tmp_path / "state"
    with open_store(folder) as store:
        store.commit(outgoing=outgoing(1))
        found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert f"{FILE_NAME}-wal" in found
    assert set(found.values()) == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_open_to_others_is_refused(tmp_path):
    folder = tmp_path / "state"
    folder.mkdir()
    folder.chmod(0o755)
    with pytest.raises(ConfigError, match=r"0755.*chmod 700"):
        open_store(folder)


def test_two_agents_cannot_share_a_folder(tmp_path):
    with open_store(tmp_path / "state"), pytest.raises(ConfigError, match="another agent"):
        open_store(tmp_path / "state")
    open_store(tmp_path / "state").close()  # free again


def test_a_store_of_a_later_version_is_refused_untouched(tmp_path):
    folder = tmp_path / "state"
    open_store(folder).close()
    database = sqlite3.connect(folder / FILE_NAME)
    database.execute("PRAGMA user_version = 2")
    database.close()
    before = (folder / FILE_NAME).read_bytes()
    with pytest.raises(ConfigError, match=r"later version.*schema 2"):
        open_store(folder)
    assert (folder / FILE_NAME).read_bytes() == before


@pytest.mark.parametrize("where", [0, 100, 4096])
def test_a_damaged_store_is_refused(tmp_path, where):
    folder = tmp_path / "state"
    with open_store(folder) as store:
        store.commit(advances=[advance(9)], outgoing=outgoing(*range(400)))
    path = folder / FILE_NAME
    content = bytearray(path.read_bytes())
    content[where : where + 3000] = b"\xa5" * 3000
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="damaged"):
        open_store(folder)


def test_an_unknown_status_is_refused(tmp_path):
    folder = tmp_path / "state"
    with open_store(folder) as store:
        store.commit(outgoing=outgoing(1))
    database = sqlite3.connect(folder / FILE_NAME)
    database.execute("UPDATE outbox SET status = 'sent'")
    database.commit()
    database.close()
    with open_store(folder) as store, pytest.raises(ConfigError, match="'sent'"):
        store.waiting(0, 10)
