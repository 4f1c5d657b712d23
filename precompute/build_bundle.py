"""From what is asked to the bundle that ships: every design built, then written as one file."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from numpy.linalg import LinAlgError

from agent.formats.bundle import write_bundle
from agent.formats.errors import SfumatoError, shown
from precompute.design_kinds.request import BuiltDesign, Report, Request
from precompute.errors import DesignError


@dataclass(frozen=True, slots=True)
class BuiltBundle:
    """A bundle's bytes, their SHA-256 in hexadecimal, and how its designs were found."""

    content: bytes
    sha256: str
    designs: tuple[BuiltDesign, ...]


def build_bundle(requests: Iterable[Request], report: Report = lambda _: None) -> BuiltBundle:
    """Build every design and encode them.

    Args:
        requests: in the order of the file.
        report: told in words how far the work is.

    Raises:
        DesignError: a design that no noise can meet; the message names it.
    """
    built = tuple(_build(request, report) for request in requests)
    report("writing the bundle")
    content = write_bundle([one.design for one in built])
    return BuiltBundle(content, hashlib.sha256(content).hexdigest(), built)


def _build(request: Request, report: Report) -> BuiltDesign:
    name = request.name
    try:
        return request.build(lambda words: report(f"{name}: {words}"))
    except SfumatoError as error:
        line = str(error)
        raise DesignError(
            line if shown(name) in line else f"design {shown(name)}: {line}"
        ) from None
    except (ArithmeticError, LinAlgError) as error:
        raise DesignError(
            f"design {shown(name)}: its figures leave what float64 can hold or tell apart "
            f"({type(error).__name__}); check radius, noise, lengthscales and times"
        ) from error
