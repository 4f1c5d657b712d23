"""``sfumato explain BUNDLE -o FILE.html``: pictures of what a bundle's designs do."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.formats.bundle import Bundle
    from agent.formats.mapping_design import MappingDesign
    from precompute.design_kinds.mapping import MappingRequest
    from precompute.errors import DesignError
    from precompute.reports.design_page import Asked

HELP = "pictures of a bundle's noise and its loss, or of what sensor nodes say and may tell"
PAGE = "explained.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help="file made by `sfumato design`")
    parser.add_argument(
        "--design",
        type=Path,
        metavar="DESIGN.yaml",
        help="the file the bundle was made from: shows a noise's class of priors, and what lies "
        "outside; of other kinds the bundle holds all that is shown",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE.html",
        help=f"write the page here; a folder gets {PAGE}",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write one page that needs nothing else, and say where it is.

    Raises:
        FormatError: the bundle or the design file is not one, or the page cannot be written.
        DesignError: the design file did not make this bundle.
        PrecomputeError: the design file asks for something that cannot be.
    """
    from agent.formats.bundle import load_bundle
    from agent.formats.designs import StreamDesign, WindowDesign
    from agent.formats.errors import FormatError
    from agent.formats.output_files import OutputKind, check_output, write_output
    from precompute.priors.algebra_threads import one_algebra_thread
    from precompute.reports.design_page import BRAND, render_designs

    path: Path = arguments.output
    if path.is_dir() or path.suffix.lower() not in {".html", ".htm"}:
        path /= PAGE
    inputs = [file for file in (arguments.bundle, arguments.design) if file is not None]
    bundle = load_bundle(arguments.bundle)
    asked = {} if arguments.design is None else _asked(arguments.design, bundle)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"--output: {path}: cannot be written ({error.strerror})") from None
    kind = OutputKind("a page by `sfumato explain`", lambda head, _: BRAND.encode() in head)
    check_output(path, kind, option="--output", inputs=inputs)
    with one_algebra_thread():
        page = render_designs(bundle, asked)
    write_output(path, page, option="--output")
    print(path)
    others = [
        one.name
        for one in bundle.designs.values()
        if not isinstance(one, (StreamDesign, WindowDesign))
    ]
    if arguments.design is None and len(others) < len(bundle.designs):
        print("with --design DESIGN.yaml the page also shows the class of priors and its outside")
    if arguments.design is not None and others:
        print(f"--design adds nothing for {', '.join(others)}: the bundle holds all that is shown")
    return 0


def _asked(path: Path, bundle: "Bundle") -> "dict[str, Asked]":
    """What the design file says about each design; refused where the two do not belong together."""
    from agent.formats.designs import StreamDesign, WindowDesign
    from agent.formats.leakage_design import LeakageDesign
    from agent.formats.mapping_design import MappingDesign
    from precompute.design_config import load_requests
    from precompute.design_kinds.leakage import LeakageRequest
    from precompute.design_kinds.mapping import MappingRequest
    from precompute.design_kinds.stream import StreamRequest
    from precompute.design_kinds.window import WindowRequest
    from precompute.reports.design_page import Asked

    requests = {request.name: request for request in load_requests(path)}
    missing = [name for name in bundle.designs if name not in requests]
    if missing:
        raise _another(
            path,
            f"has no design {', '.join(map(repr, missing))}, which the bundle holds "
            f"(found {', '.join(requests)})",
        )
    found = {}
    for name, design in bundle.designs.items():
        request = requests[name]
        if isinstance(request, StreamRequest) and isinstance(design, StreamDesign):
            secrets = None
        elif isinstance(request, WindowRequest) and isinstance(design, WindowDesign):
            secrets = request.secrets
        elif isinstance(request, MappingRequest) and isinstance(design, MappingDesign):
            _require_same_mapping(path, request, design)
            continue
        elif isinstance(request, LeakageRequest) and isinstance(design, LeakageDesign):
            continue
        else:
            raise _another(path, f"the design {name!r} is no {design.kind}, the bundle's is one")
        promise = request.promise
        told = promise.prior.describe()
        shipped = design.guarantee.prior
        if len(told) > len(shipped) or any(
            not line.startswith(words) for words, line in zip(told, shipped, strict=False)
        ):
            raise _another(path, f"the design {name!r} has another prior than the bundle's")
        found[name] = Asked(promise.prior, secrets)
    return found


def _require_same_mapping(path: Path, request: "MappingRequest", design: "MappingDesign") -> None:
    """Refuses a file that asks for other nodes; what only a new search would show is not asked."""
    keys, material = request.keys, request.material
    for what, asked, shipped in (
        ("another architecture", keys.architecture, design.architecture),
        ("other nodes", [node.name for node in keys.nodes], [node.name for node in design.nodes]),
        ("other columns", list(material.columns), [node.columns for node in design.nodes]),
        ("other values of H", material.public_names, design.public),
        ("another step", round(1000 * keys.step_seconds), design.step_ms),
    ):
        if asked != shipped:
            raise _another(path, f"the design {design.name!r} has {what} than the bundle's")


def _another(path: Path, what: str) -> "DesignError":
    from precompute.errors import DesignError

    return DesignError(f"{path}: {what}; give the file that the bundle was made from")
