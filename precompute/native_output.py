"""Keeps what native libraries print out of the program's own output."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

STDOUT = 1


@contextmanager
def native_output_discarded() -> Iterator[None]:
    """What C or C++ code writes to file descriptor 1 meanwhile goes nowhere.

    HiGHS prints a debugging line now and then in its integer search, whatever its options say; in
    the output of ``--json`` that would be no JSON any more. Python's own ``print`` must not be used
    inside, except on other descriptors. Where there is no descriptor 1, nothing needs to be done.
    """
    try:
        kept = os.dup(STDOUT)
    except OSError:
        yield
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, STDOUT)
        finally:
            os.close(nowhere)
        yield
    finally:
        os.dup2(kept, STDOUT)
        os.close(kept)
