"""``sfumato leakage learn``: a transition matrix, with its head, from traces or logs of states."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.formats.output_files import check_output, write_output

if TYPE_CHECKING:
    from precompute.leakage.state_logs import StateLog


def learn_matrix(arguments: argparse.Namespace) -> int:
    """Count, write and say what was learnt.

    Raises:
        SfumatoError: inputs that cannot be read or learnt from, or an output that is taken.
    """
    from agent.formats.quantities import parse_duration, parse_length
    from precompute.leakage.errors import LeakageError
    from precompute.leakage.learning import keep_most_visited, learn
    from precompute.leakage.matrix_files import MATRIX_FILE, format_matrix
    from precompute.leakage.matrix_heads import BACKWARD_COMMENT, FORWARD_COMMENT, step_comment
    from precompute.leakage.state_logs import read_states

    check_output(arguments.output, MATRIX_FILE, option="--output", inputs=arguments.inputs)
    if arguments.backward is not None:
        others = [*arguments.inputs, arguments.output]
        check_output(arguments.backward, MATRIX_FILE, option="--backward", inputs=others)
    step = parse_duration(arguments.step)
    comments = [step_comment(step)]
    runs: list[Sequence[str]] = []
    states: tuple[str, ...] = ()
    if arguments.states == (arguments.cell is not None):
        raise LeakageError("learn: give --cell for traces, or --states for logs of states")
    if arguments.states:
        logs: list[StateLog] = [
            read_states(path, step_seconds=step, repair=arguments.repair)
            for path in arguments.inputs
        ]
        notes = [note for log in logs for note in log.notes]
        runs = [run for log in logs for run in log.runs]
    else:
        from precompute.leakage.trace_cells import cells_of_traces

        hold = parse_duration(arguments.hold) if arguments.hold else 0.0
        cells = cells_of_traces(
            arguments.inputs,
            cell_metres=parse_length(arguments.cell),
            step_seconds=step,
            hold_seconds=hold,
            repair=arguments.repair,
        )
        notes, comments = list(cells.notes), [*comments, cells.grid]
        kept, states = keep_most_visited(cells.runs, arguments.most_states)
        runs = list(kept)
    learned = learn(runs, arguments.smoothing, states)
    forward = format_matrix(learned.forward, [FORWARD_COMMENT, *comments])
    backward = format_matrix(learned.backward, [BACKWARD_COMMENT, *comments])
    write_output(arguments.output, forward, option="--output")
    if arguments.backward is not None:
        write_output(arguments.backward, backward, option="--backward")
    for note in notes:
        print(note, file=sys.stderr)
    report = {
        "states": len(learned.forward),
        "transitions": learned.transitions,
        "smoothing": arguments.smoothing,
        "step_seconds": step,
        "forward": str(arguments.output),
        "backward": None if arguments.backward is None else str(arguments.backward),
    }
    if arguments.json:
        print(json.dumps(report, sort_keys=True))
    else:
        print(f"{report['states']} states, {report['transitions']} transitions: {arguments.output}")
        print("The matrix tells where the person goes; keep it as you keep the traces.")
    return 0
