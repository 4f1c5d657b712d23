"""AGENT.yaml: what stands where, and who has the last word."""

from pathlib import Path

import pytest
from fakes.agents import write_agent

from agent.broker import TlsSettings
from agent.cadence import CadenceSettings
from agent.config import Overrides, load_agent, parse_address, read_password
from agent.formats.errors import FormatError
from agent.kinds import LocationSettings
from agent.sources.replay import parse_speed, parse_utc_offset

CONFIG = Path(__file__).parents[2] / "config"


def test_a_file_becomes_values_with_paths_beside_it(tmp_path):
    settings = load_agent(write_agent(tmp_path, 1234, protocol="3.1.1"), {})
    (channel,) = settings.channels
    assert settings.device == "phone"
    assert settings.state == tmp_path / "state"
    assert (settings.broker.port, settings.broker.protocol) == (1234, "3.1.1")
    assert channel.cadence == CadenceSettings(30_000, 600_000)
    assert channel.kind == LocationSettings(40.0, 116.5, 300_000.0)
    assert channel.source.path == tmp_path / "walk.csv"


def test_the_command_line_overrules_the_environment_and_that_the_file(tmp_path):
    config = write_agent(tmp_path, 1)
    environment = {"SFUMATO_BROKER_HOST": "e", "SFUMATO_BROKER_PORT": "2", "SFUMATO_STATE": "/e"}
    settings = load_agent(config, environment)
    assert (settings.broker.host, settings.broker.port) == ("e", 2)
    assert settings.state == Path("/e")
    settings = load_agent(config, environment, Overrides(Path("/c"), "c", None))
    assert (settings.broker.host, settings.broker.port) == ("c", 2)
    assert settings.state == Path("/c")


@pytest.mark.parametrize(("written", "meant"), [("5", "5"), ("3.1.1", "3.1.1"), ("4", "3.1.1")])
def test_protocols(tmp_path, written, meant):
    assert load_agent(write_agent(tmp_path, 1, protocol=written), {}).broker.protocol == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("tls: true", TlsSettings()),
        ("tls: {}", TlsSettings()),
        ("tls: false", None),
        ("tls: {insecure: true}", TlsSettings(insecure=True)),
    ],
)
def test_tls_verifies_unless_told_otherwise(tmp_path, written, meant):
    config = write_agent(tmp_path, 1)
    config.write_text(config.read_text().replace("port: 1,", f"{written},"))
    broker = load_agent(config, {}).broker
    assert broker.tls == meant
    assert broker.port == (1883 if meant is None else 8883)


def test_a_password_file_that_everyone_can_read_is_refused(tmp_path):
    path = tmp_path / "password"
    path.write_text("geheim\n")
    path.chmod(0o644)
    with pytest.raises(FormatError, match=r"0644.*chmod 600"):
        read_password(path)
    path.chmod(0o600)
    assert read_password(path).text == "geheim"
    path.write_text("\n")
    with pytest.raises(FormatError, match="empty"):
        read_password(path)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("h", ("h", None)), ("h:1", ("h", 1)), ("[::1]:2", ("::1", 2)), ("[::1]", ("::1", None))],
)
def test_addresses(written, meant):
    assert parse_address(written) == meant


@pytest.mark.parametrize("written", ["", ":1", "h:", "h:0", "h:65536", "a:b:c", "h h"])
def test_addresses_that_are_none(written):
    with pytest.raises(FormatError):
        parse_address(written)


def test_utc_offsets_have_a_unit_and_a_sign():
    assert parse_utc_offset("8 h") == 28800
    assert parse_utc_offset("-3.5 h") == -12600
    assert parse_utc_offset("0 h") == 0
    for wrong in ("8", 8, "25 h", "-", None):
        with pytest.raises(FormatError):
            parse_utc_offset(wrong)


def test_a_cadence_on_every_reading_is_written_as_the_example_says(tmp_path):
    path = tmp_path / "agent.yaml"
    text = (CONFIG / "agent.example.yaml").read_text()
    assert "`cadence: {on: reading}`" in text
    path.write_text(text.replace("cadence: {every: 30 s, hold: 10 min}", "cadence: {on: reading}"))
    assert load_agent(path, {}).channels[0].cadence.every_ms is None


def test_speeds():
    assert parse_speed("max") == float("inf")
    assert parse_speed(60) == 60.0
    for wrong in (0, -1, "fast", True, None):
        with pytest.raises(FormatError):
            parse_speed(wrong)


@pytest.mark.parametrize("path", sorted(CONFIG.glob("agent*.yaml")), ids=lambda path: path.name)
def test_every_example_is_loaded(path):
    assert load_agent(path, {}).channels
