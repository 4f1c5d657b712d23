"""``sfumato run AGENT.yaml``: the device agent."""

import argparse
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

HELP = "sanitise readings and publish them over MQTT, until the source ends or a signal comes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words after ``sfumato run``."""
    parser.add_argument("config", type=Path, metavar="AGENT.yaml", help="what to run")
    parser.add_argument(
        "--state", type=Path, metavar="DIR", help="folder for noise state and outbox (0700)"
    )
    parser.add_argument("--broker", metavar="HOST[:PORT]", help="instead of the file's broker")
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors")


def run(arguments: argparse.Namespace) -> int:
    """0 when everything was released and acknowledged or a signal came; else 1."""
    import os

    from agent.assemble import assemble
    from agent.config import Overrides, load_agent, parse_address
    from agent.entropy import OperatingSystemNormals
    from agent.errors import AgentError
    from agent.failing_threads import failing_threads
    from agent.loop import StopRequested
    from agent.sanitise.discrete_bits import SystemBits

    host, port = parse_address(arguments.broker) if arguments.broker else (None, None)
    settings = load_agent(arguments.config, os.environ, Overrides(arguments.state, host, port))

    def say(line: str) -> None:
        if not arguments.quiet:
            print(f"sfumato run: {line}", file=sys.stderr, flush=True)

    failures: list[str] = []

    def stop(words: str) -> None:
        failures.append(words)
        mailbox.put(StopRequested())

    with ExitStack() as resources:
        agent, mailbox = assemble(
            settings,
            normals=OperatingSystemNormals(),
            bits=SystemBits(),
            say=say,
            resources=resources,
        )
        # SimpleQueue.put may be interrupted by itself, which a signal handler needs.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: mailbox.put(StopRequested()))
        with failing_threads(stop):
            summary = agent.run()
    say(summary.line())
    if failures:
        raise AgentError(f"stopped: {failures[0]}")
    for words in summary.barren:  # an error: also with --quiet
        print(f"sfumato run: {words}", file=sys.stderr, flush=True)
    return 0 if summary.complete else 1
