"""AGENT.yaml as values: strict, with units, and with the outside's last word.

Precedence: defaults < file < environment < command line. The environment's names:
    SFUMATO_BROKER_HOST  SFUMATO_BROKER_PORT  SFUMATO_BROKER_USERNAME
    SFUMATO_BROKER_PASSWORD_FILE  SFUMATO_STATE
Paths in the file are relative to the file; others are relative to where the command runs. Every
module that is configured declares its own settings; this one only parses.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agent.broker import DEFAULT_HOST, BrokerSettings, Password, TlsSettings
from agent.cadence import CadenceSettings
from agent.category_kind import CategorySettings
from agent.formats.documents import Section, count, flag, load_yaml, number, one_of, text
from agent.formats.errors import FormatError, shown
from agent.formats.quantities import parse_duration, parse_length
from agent.kinds import DEFAULT_RANGE_METRES, LocationSettings, ScalarSettings
from agent.mapping_kind import MappingSettings
from agent.sources.replay import ReplaySettings, parse_columns, parse_speed, parse_utc_offset

MAX_PASSWORD_BYTES = 4096
MAX_TOPIC_BYTES = 1024
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """One channel; ``design`` names a design of the bundle."""

    name: str
    design: str
    kind: LocationSettings | ScalarSettings | CategorySettings | MappingSettings
    source: ReplaySettings
    cadence: CadenceSettings
    topic: str


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The whole of AGENT.yaml."""

    device: str
    bundle_path: Path
    bundle_sha256: str
    state: Path
    broker: BrokerSettings
    channels: tuple[ChannelSettings, ...]


@dataclass(frozen=True, slots=True)
class Overrides:
    """What stands on the command line."""

    state: Path | None = None
    host: str | None = None
    port: int | None = None


def load_agent(
    path: Path, environment: Mapping[str, str], overrides: Overrides | None = None
) -> AgentSettings:
    """The settings of one agent.

    Raises:
        FormatError: anything unknown, missing, without its unit, or out of range.
    """
    overrides = overrides or Overrides()
    document = load_yaml(path)
    folder = path.parent
    bundle = document.section("bundle")
    state = folder / document.take_or("state", text, "state")
    if environment.get("SFUMATO_STATE"):
        state = Path(environment["SFUMATO_STATE"])
    broker_section = document.section("broker") if document.has("broker") else Section({}, "broker")
    settings = AgentSettings(
        device=document.take("device", parse_name),
        bundle_path=folder / bundle.take("path", text),
        bundle_sha256=bundle.take("sha256", parse_sha256),
        state=overrides.state or state,
        broker=_with_overrides(parse_broker(broker_section, folder, environment), overrides),
        channels=tuple(_channel(section, folder) for section in document.sections("channels")),
    )
    bundle.close()
    document.close()
    names = [channel.name for channel in settings.channels]
    for name in names:
        if names.count(name) > 1:
            raise document.fail("channels", f"two are named {shown(name)}; give each its own name")
    return settings


def parse_broker(section: Section, folder: Path, environment: Mapping[str, str]) -> BrokerSettings:
    """The ``broker`` section, under what the environment says."""
    tls = _tls(section, folder) if section.has("tls") else None
    host = section.take_or("host", text, DEFAULT_HOST)
    port = section.take_or("port", count, 1883 if tls is None else 8883)
    username = section.take_or("username", text, None)
    password_file = (
        folder / section.take("password_file", text) if section.has("password_file") else None
    )
    protocol = section.take_or("protocol", _protocol, "5")
    section.close()
    host = environment.get("SFUMATO_BROKER_HOST") or host
    username = environment.get("SFUMATO_BROKER_USERNAME") or username
    if environment.get("SFUMATO_BROKER_PORT"):
        port = _port(environment["SFUMATO_BROKER_PORT"], "SFUMATO_BROKER_PORT")
    if environment.get("SFUMATO_BROKER_PASSWORD_FILE"):
        password_file = Path(environment["SFUMATO_BROKER_PASSWORD_FILE"])
    password = read_password(password_file) if password_file is not None else None
    try:
        return BrokerSettings(host, port, protocol, username, password, tls)
    except FormatError as error:
        raise FormatError(f"{section.where}: {error}") from None


def read_password(path: Path) -> Password:
    """The first line of a password file.

    Raises:
        FormatError: missing, empty, or readable by every user of the machine.
    """
    try:
        mode = path.stat().st_mode & 0o777
        if mode & 0o007:
            raise FormatError(
                f"{path}: the password file has the mode {mode:04o}, open to every user; expected "
                f"0600; say chmod 600 {path}"
            )
        with path.open("rb") as stream:
            line = stream.read(MAX_PASSWORD_BYTES).decode("utf-8").partition("\n")[0].rstrip("\r")
    except UnicodeDecodeError:
        raise FormatError(f"{path}: the password file is not UTF-8 text") from None
    except OSError as error:
        raise FormatError(f"{path}: the password file cannot be read ({error.strerror})") from None
    if not line:
        raise FormatError(f"{path}: the password file is empty; put the password on its first line")
    return Password(line)


def parse_address(address: str) -> tuple[str, int | None]:
    """``HOST``, ``HOST:PORT`` or ``[IPv6]:PORT`` from the command line.

    Raises:
        FormatError: not such an address.
    """
    match = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]\s]+)(?::(\d{1,5}))?", address)
    if match is None:
        raise FormatError(f"--broker {shown(address)}: expected HOST or HOST:PORT")
    port = _port(match.group(2), "--broker") if match.group(2) else None
    return match.group(1).strip("[]"), port


def parse_name(value: object) -> str:
    """A name that is safe in topics, identities and file names."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise FormatError(
            f"found {shown(value)}; expected letters, digits, '-', '_' and '.' (64 at most)"
        )
    return value


def _with_overrides(broker: BrokerSettings, overrides: Overrides) -> BrokerSettings:
    return replace(broker, host=overrides.host or broker.host, port=overrides.port or broker.port)


def _channel(section: Section, folder: Path) -> ChannelSettings:
    kind_name = section.take("kind", one_of("location", "scalar", "category", "mapping"))
    publish = section.section("publish")
    topic = publish.take("topic", parse_topic)
    expected_format = "owntracks" if kind_name == "location" else "json"
    publish.take_or("format", one_of(expected_format), expected_format)
    publish.close()
    kind: LocationSettings | ScalarSettings | CategorySettings | MappingSettings
    if kind_name == "location":
        kind = _location(section)
    elif kind_name == "category":
        kind = CategorySettings()
    elif kind_name == "mapping":
        kind = MappingSettings(section.take("node", text))
    else:
        kind = ScalarSettings(section.take("unit", text))
    settings = ChannelSettings(
        name=section.take("name", parse_name),
        design=section.take("design", text),
        kind=kind,
        source=_source(section.section("source"), folder),
        cadence=_cadence(section.section("cadence")),
        topic=topic,
    )
    section.close()
    return settings


def _location(section: Section) -> LocationSettings:
    origin = section.section("origin")
    settings = LocationSettings(
        origin.take("latitude", number),
        origin.take("longitude", number),
        section.take_or("range", parse_length, DEFAULT_RANGE_METRES),
    )
    origin.close()
    return settings


def _source(section: Section, folder: Path) -> ReplaySettings:
    section.take("kind", one_of("replay"))
    settings = ReplaySettings(
        path=folder / section.take("path", text),
        speed=section.take_or("speed", parse_speed, 1.0),
        repair=section.take_or("repair", flag, False),
        columns=section.take_or("columns", parse_columns, None),
        time_format=section.take_or("time_format", text, None),
        utc_offset_seconds=section.take_or("utc_offset", parse_utc_offset, 0.0),
    )
    section.close()
    return settings


def _cadence(section: Section) -> CadenceSettings:
    if section.has("on"):
        section.take("on", one_of("reading"))
        section.close()
        return CadenceSettings(None)
    every = section.take("every", _milliseconds)
    hold = section.take_or("hold", _milliseconds, 0)
    section.close()
    try:
        return CadenceSettings(every, hold)
    except FormatError as error:
        raise FormatError(f"{section.where}: {error}") from None


def _tls(section: Section, folder: Path) -> TlsSettings | None:
    if isinstance(section.raw("tls"), bool):
        return TlsSettings() if section.take("tls", flag) else None
    tls = section.section("tls")

    def file(key: str) -> Path | None:
        return folder / tls.take(key, text) if tls.has(key) else None

    settings = TlsSettings(
        ca_file=file("ca_file"),
        certificate_file=file("certificate_file"),
        key_file=file("key_file"),
        insecure=tls.take_or("insecure", flag, False),
    )
    tls.close()
    return settings


def parse_topic(value: object) -> str:
    """A topic to publish on: no wildcards, no NUL, not reserved for the broker."""
    topic = text(value)
    if set(topic) & set("#+\0") or topic.startswith("$") or not topic.isprintable():
        raise FormatError(
            f"found {shown(topic)}; expected a topic without '+', '#' and a leading '$'"
        )
    if len(topic.encode()) > MAX_TOPIC_BYTES:
        raise FormatError(f"a topic of over {MAX_TOPIC_BYTES} bytes; expected a shorter one")
    return topic


def _milliseconds(value: object) -> int:
    seconds = parse_duration(value)
    milliseconds = round(seconds * 1000)
    if milliseconds < 1 or not math.isclose(milliseconds, seconds * 1000, rel_tol=1e-9):
        raise FormatError(f"found {shown(value)}; expected whole milliseconds")
    return milliseconds


def _protocol(value: object) -> str:
    words = {"5": "5", "5.0": "5", "3.1.1": "3.1.1", "4": "3.1.1"}
    if isinstance(value, bool) or str(value) not in words:
        raise FormatError(f"found {shown(value)}; expected 5 or 3.1.1")
    return words[str(value)]


def _port(word: str, where: str) -> int:
    if not word.isdigit() or not 1 <= int(word) <= 65535:
        raise FormatError(f"{where}: found {shown(word)}; expected a port from 1 to 65535")
    return int(word)


def parse_sha256(value: object) -> str:
    """A bundle's digest, in lower case.

    Raises:
        FormatError: it is none.
    """
    if not isinstance(value, str) or not re.fullmatch(r"[0-9a-fA-F]{64}", value):
        raise FormatError(
            "expected the 64 hexadecimal digits that `sfumato design` printed; "
            "`sha256sum BUNDLE` shows them too (in quotes, should YAML take them for a number)"
        )
    return value.lower()
