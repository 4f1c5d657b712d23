"""Bad input: one clear line, exit 2, and nothing connected."""

import pytest
from fakes.agents import write_agent, write_walk
from fakes.designs import guarantee, location_stream, temperature_window, write_designs

from agent.cli import main
from agent.formats.designs import Component, StreamDesign

NOBODY = 9  # a port where no broker is: a run that got as far as connecting would not end


@pytest.fixture
def agent_yaml(tmp_path):
    write_walk(tmp_path / "walk.csv", 10)
    return write_agent(tmp_path, NOBODY)


def refused(config, capsys, *words):
    assert main(["run", str(config), *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.strip().splitlines()[-1:]
    assert line.startswith("sfumato run: ")
    return captured.err


def change(config, old, new):
    text = config.read_text()
    assert old in text
    config.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("device: phone", "devise: phone", "'device' is missing; found 'devise' instead"),
        ("device: phone", "device: a/b", "expected letters"),
        ("speed: max", "sped: max", "did you mean 'speed'?"),
        ("speed: max", "speed: 0", "above zero"),
        ("every: 30 s", "every: 30", "no unit"),
        ("every: 30 s", "every: 1500 ms", "whole seconds"),
        ("every: 30 s", "every: 1 h", "hold is 600 s; expected one to"),
        ("hold: 10 min", "hold: 10 min, on: reading", "unknown key"),
        ("kind: location", "kind: place", "expected one of location, scalar"),
        ("latitude: 40.0", "latitude: 91.0", "origin"),
        ("design: location", "design: elsewhere", "the bundle has no design 'elsewhere'"),
        ("protocol: 5", "protocol: 6", "expected 5 or 3.1.1"),
        ("topic: owntracks/alice/phone", "topic: owntracks/+/phone", "without '+', '#'"),
        ("format: owntracks", "format: json", "expected one of owntracks"),
        ("path: walk.csv", "path: gone.csv", "no such file"),
        ("path: location.bundle", "path: gone.bundle", "no such file"),
        ("host: 127.0.0.1", "host: 127.0.0.1, username: u, password_file: gone", "cannot be read"),
        ("host: 127.0.0.1", "host: 127.0.0.1, tls: {ca_file: gone.pem}", "certificate"),
        ("state: state", "state: walk.csv", "state folder"),
    ],
)
def test_one_wrong_word_in_the_file_is_refused(agent_yaml, capsys, old, new, expected):
    change(agent_yaml, old, new)
    assert expected in refused(agent_yaml, capsys)


def test_a_bundle_with_one_byte_changed_is_refused(agent_yaml, capsys):
    path = agent_yaml.parent / "location.bundle"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert "SHA-256" in refused(agent_yaml, capsys)


def replace_design(config, design):
    digest = write_designs(config.parent / "location.bundle", [design])
    old = config.read_text().split('sha256: "')[1][:64]
    change(config, old, digest)


def test_a_design_with_the_wrong_axes_or_unit_is_refused(agent_yaml, capsys):
    replace_design(agent_yaml, temperature_window("location"))
    assert "needs two axes in metres" in refused(agent_yaml, capsys)


def test_a_window_whose_step_is_not_the_cadence_is_refused(agent_yaml, capsys):
    change(agent_yaml, "kind: location", "kind: scalar\n    unit: Cel")
    change(agent_yaml, "origin: {latitude: 40.0, longitude: 116.5}", "")
    change(agent_yaml, "format: owntracks", "format: json")
    replace_design(agent_yaml, temperature_window("location"))
    assert "every 30 s; design 'location' is made for a step of 900 s" in refused(
        agent_yaml, capsys
    )


def test_a_scalar_channel_in_another_unit_is_refused(agent_yaml, capsys):
    change(agent_yaml, "kind: location", "kind: scalar\n    unit: K")
    change(agent_yaml, "origin: {latitude: 40.0, longitude: 116.5}", "")
    change(agent_yaml, "format: owntracks", "format: json")
    replace_design(
        agent_yaml,
        StreamDesign(
            "location", ("value",), "Cel", 0.01, (Component("matern12", 1, 60),), guarantee()
        ),
    )
    assert "'Cel'; this scalar channel needs one axis in 'K'" in refused(agent_yaml, capsys)


def test_a_spent_allowance_is_refused_at_the_start(agent_yaml, capsys):
    import sqlite3

    from agent.formats.bundle import design_digest
    from agent.state_folder import FILE_NAME
    from agent.store import Advance, Store

    design = location_stream(segments=2)
    replace_design(agent_yaml, design)
    state = agent_yaml.parent / "state"
    with Store(state) as store:
        spent = Advance("location", design_digest(design).hex(), b"lost", 2, 5, 1)
        store.commit(advances=[spent])
    database = sqlite3.connect(state / FILE_NAME)
    database.execute("DELETE FROM noise")
    database.commit()
    database.close()
    assert "the guarantee covers 2" in refused(agent_yaml, capsys)


def test_damaged_noise_state_is_refused(agent_yaml, capsys):
    from agent.formats.bundle import design_digest
    from agent.store import Advance, Store

    with Store(agent_yaml.parent / "state") as store:
        digest = design_digest(location_stream()).hex()
        store.commit(advances=[Advance("location", digest, b"\x01" * 40, 1, 5, 1)])
    assert "noise state" in refused(agent_yaml, capsys)


def test_a_state_folder_in_use_is_refused(agent_yaml, capsys):
    from agent.store import Store

    with Store(agent_yaml.parent / "state"):
        assert "another agent" in refused(agent_yaml, capsys)
