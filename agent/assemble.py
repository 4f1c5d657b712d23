"""Where the parts of the agent are joined. Everything that can be wrong is found here, before
anything is connected or released.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from agent.broker import Link, connect_client, make_client
from agent.category_kind import CategoryKind, CategorySettings
from agent.channels import Channel, report_at_start
from agent.config import AgentSettings, ChannelSettings
from agent.entropy import NormalSource
from agent.errors import ConfigError, RefusedError
from agent.formats.bundle import Bundle, design_digest, load_bundle
from agent.formats.designs import Design, StreamDesign, WindowDesign, segments_of
from agent.formats.errors import FormatError, shown
from agent.formats.leakage_design import LeakageDesign
from agent.formats.mapping_design import MappingDesign
from agent.formats.mapping_node import Node
from agent.kinds import Kind, LocationKind, LocationSettings, ScalarKind, ScalarSettings
from agent.loop import Agent, Feed, Mailbox
from agent.mapping_kind import MappingKind, MappingSettings
from agent.node_columns import check_node_columns
from agent.publisher import Publisher
from agent.sanitise.category import CategorySanitiser
from agent.sanitise.discrete_bits import RandomBits
from agent.sanitise.interface import ChannelSanitiser
from agent.sanitise.mapping import MappingSanitiser
from agent.sanitise.sanitiser import Sanitiser
from agent.sources.base import SourceThread
from agent.sources.replay import ReplaySource, open_columns_replay, open_replay, open_state_replay
from agent.store import ChannelPosition, Store

READINGS_AHEAD = 512
NOTEWORTHY_SCALE_ERROR = 0.05


def assemble(
    settings: AgentSettings,
    *,
    normals: NormalSource,
    bits: RandomBits,
    say: Callable[[str], None],
    resources: ExitStack,
    connect: Callable[[int], Link] | None = None,
) -> tuple[Agent, Mailbox]:
    """The agent, ready to run, and the mailbox that a stop request goes to.

    Args:
        settings: from AGENT.yaml.
        normals: where noise comes from.
        bits: where random decisions about states come from.
        say: takes one line for the user.
        resources: takes charge of what must be closed.
        connect: makes a link to the broker; paho unless a test says otherwise.

    Raises:
        SfumatoError: anything that cannot be used, or a promise that is spent.
    """
    bundle = load_bundle(settings.bundle_path, settings.bundle_sha256)
    designs = [_design_for(channel, bundle) for channel in settings.channels]
    paths = [
        _sanitising(channel, design, normals, bits)
        for channel, design in zip(settings.channels, designs, strict=True)
    ]
    for channel, design in zip(settings.channels, designs, strict=True):
        _require_cadence(channel, design)
    _require_different_nodes(settings.channels)
    if connect is None:
        make_client(settings.broker, _client_id(settings))  # finds unusable TLS files now
    sources = []
    for channel, design in zip(settings.channels, designs, strict=True):
        source, notes = _open_source(channel, design)
        sources.append(source)
        for note in notes:
            say(f"channel {channel.name!r}: {channel.source.path.name}: {note}")
    store = resources.enter_context(Store(settings.state))
    channels = []
    for channel, design, (kind, sanitiser) in zip(settings.channels, designs, paths, strict=True):
        position = store.position(channel.name, design_digest(design).hex())
        try:
            channels.append(
                Channel(
                    name=channel.name,
                    device=settings.device,
                    topic=channel.topic,
                    kind=kind,
                    cadence=channel.cadence,
                    design=design,
                    sanitiser=sanitiser,
                    position=position,
                )
            )
        except RefusedError as error:  # the agent stops here; `health` says why
            refused = replace(report_at_start(design, position), standing=str(error))
            store.commit(reports={channel.name: refused})
            raise
        _say_where_it_stands(channel, design, position, say)
        _say_scale(channel, design, say)
    mailbox: Mailbox = Mailbox()
    if connect is None:
        connect = partial(connect_client, settings.broker, _client_id(settings), post=mailbox.put)
    agent = Agent(
        channels=channels,
        feeds=[
            Feed(SourceThread(number, source, mailbox.put, READINGS_AHEAD), source.can_wait)
            for number, source in enumerate(sources)
        ],
        store=store,
        publisher=Publisher(connect, time.monotonic, say, address=settings.broker.address),
        mailbox=mailbox,
        say=say,
    )
    return agent, mailbox


def _client_id(settings: AgentSettings) -> str:
    # Stable, so that the broker drops a half-open connection when the agent comes back.
    return f"sfumato-{settings.device}"


def _design_for(channel: ChannelSettings, bundle: Bundle) -> Design:
    design = bundle.designs.get(channel.design)
    if design is None:
        raise ConfigError(
            f"channel {channel.name!r}: the bundle has no design {shown(channel.design)}; it has "
            f"{', '.join(sorted(bundle.designs))}; name one of them"
        )
    return design


def _require_cadence(channel: ChannelSettings, design: Design) -> None:
    every = channel.cadence.every_ms
    if isinstance(design, (WindowDesign, LeakageDesign, MappingDesign)) and every != design.step_ms:
        found = "comes with every reading" if every is None else f"is every {every / 1000:g} s"
        raise ConfigError(
            f"channel {channel.name!r}: the cadence {found}; design {design.name!r} is made "
            f"for a step of {design.step_ms / 1000:g} s; set 'every' to that"
        )
    if isinstance(channel.kind, LocationSettings) and every is not None and every % 1000:
        raise ConfigError(
            f"channel {channel.name!r}: 'every' is {every} ms; OwnTracks times are whole seconds; "
            "choose a whole number of seconds"
        )


def _sanitising(
    channel: ChannelSettings, design: Design, normals: NormalSource, bits: RandomBits
) -> tuple[Kind, ChannelSanitiser]:
    """What the channel's readings mean, and what makes releases of them."""
    if isinstance(channel.kind, MappingSettings) or isinstance(design, MappingDesign):
        return _mapping(channel, design, bits)
    wants_states = isinstance(channel.kind, CategorySettings)
    if wants_states != isinstance(design, LeakageDesign):
        made = "states" if isinstance(design, LeakageDesign) else "numbers"
        raise ConfigError(
            f"channel {channel.name!r}: design {design.name!r} is for {made}; a category channel "
            "needs a design of the kind leakage, and no other channel can use one"
        )
    if isinstance(design, LeakageDesign):
        category = CategorySanitiser(design, bits)
        return CategoryKind(design, category), category
    try:
        sanitiser = Sanitiser(design, normals)
        if isinstance(channel.kind, LocationSettings):
            return LocationKind(channel.kind, design), sanitiser
        assert isinstance(channel.kind, ScalarSettings)
        return ScalarKind(channel.kind, design), sanitiser
    except ConfigError as error:
        raise ConfigError(f"channel {channel.name!r}: {error}") from None


def _mapping(
    channel: ChannelSettings, design: Design, bits: RandomBits
) -> tuple[Kind, ChannelSanitiser]:
    if not isinstance(design, MappingDesign) or not isinstance(channel.kind, MappingSettings):
        raise ConfigError(
            f"channel {channel.name!r}: design {design.name!r} is of the kind {design.kind}; a "
            "mapping channel needs a design of the kind mapping, and no other channel can use one"
        )
    try:
        node = design.node(channel.kind.node)
    except FormatError as error:
        raise ConfigError(f"channel {channel.name!r}: {error}") from None
    return MappingKind(design, node), MappingSanitiser(design, node, bits)


def _require_different_nodes(channels: tuple[ChannelSettings, ...]) -> None:
    """Two channels of one node would say two symbols of the same step."""
    taken: dict[tuple[str, str], str] = {}
    for channel in channels:
        if isinstance(channel.kind, MappingSettings):
            node = (channel.design, channel.kind.node)
            if node in taken:
                raise ConfigError(
                    f"channel {channel.name!r}: node {channel.kind.node!r} is already channel "
                    f"{taken[node]!r}; give each node one channel"
                )
            taken[node] = channel.name


def _open_source(channel: ChannelSettings, design: Design) -> tuple[ReplaySource, list[str]]:
    if isinstance(design, MappingDesign):
        assert isinstance(channel.kind, MappingSettings)
        return _open_node(channel, design.node(channel.kind.node))
    if isinstance(design, LeakageDesign) and design.regions is None:
        return open_state_replay(channel.source)
    return open_replay(channel.source, positions=not isinstance(channel.kind, ScalarSettings))


def _open_node(channel: ChannelSettings, node: Node) -> tuple[ReplaySource, list[str]]:
    """The columns of one node; they are checked before the file is read."""
    told = check_node_columns(f"channel {channel.name!r}", channel.source.columns, node)
    source, notes = open_columns_replay(channel.source)
    return source, [*notes, *told]


def _say_scale(channel: ChannelSettings, design: Design, say: Callable[[str], None]) -> None:
    """A wide range makes noise wider on the ground, so that the promise holds in all of it."""
    if not isinstance(channel.kind, LocationSettings) or not isinstance(
        design, (StreamDesign, WindowDesign)
    ):
        return
    kind = channel.kind
    wider = kind.projection().scale_error(kind.latitude)
    if wider > NOTEWORTHY_SCALE_ERROR:
        say(
            f"channel {channel.name!r}: so that the promise holds within "
            f"{kind.range_metres / 1000:g} km of the origin, noise is {100 * wider:.0f} % wider "
            "east-west there than the design says; a smaller 'range' avoids it"
        )


def _say_where_it_stands(
    channel: ChannelSettings,
    design: Design,
    position: ChannelPosition,
    say: Callable[[str], None],
) -> None:
    if position.state is not None:
        return
    what = "noise"
    if isinstance(design, (LeakageDesign, MappingDesign)):
        what = "memory" if design.memoise_steps is not None else "account"
    say(
        f"channel {channel.name!r}: new {what} for design {design.name!r}, segment "
        f"{position.segments_used + 1} of the {segments_of(design)} that its promise covers"
    )
    if position.other_designs:
        say(
            f"channel {channel.name!r}: {position.other_designs} other designs were used here "
            "before; what their promises allow an observer to learn adds up"
        )
