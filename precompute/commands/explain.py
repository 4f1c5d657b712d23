"""``sfumato explain BUNDLE -o FILE.html``: pictures of what a bundle's noise does."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.formats.bundle import Bundle
    from precompute.reports.design_page import Asked

HELP = "pictures of a bundle's noise, its spectrum, and the loss inside and outside its class"
PAGE = "explained.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help="file made by `sfumato design`")
    parser.add_argument(
        "--design",
        type=Path,
        metavar="DESIGN.yaml",
        help="the file the bundle was made from: shows its class of priors, and what lies outside",
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
    noise = any(isinstance(one, (StreamDesign, WindowDesign)) for one in bundle.designs.values())
    if arguments.design is None and noise:
        print("with --design DESIGN.yaml the page also shows the class of priors and its outside")
    return 0


def _asked(path: Path, bundle: "Bundle") -> "dict[str, Asked]":
    """What the design file says about each design; refused where the two do not belong together."""
    from agent.formats.designs import StreamDesign, WindowDesign
    from precompute.design_config import load_requests
    from precompute.design_kinds.stream import StreamRequest
    from precompute.design_kinds.window import WindowRequest
    from precompute.errors import DesignError
    from precompute.reports.design_page import Asked

    found = {}
    known = False
    for request in load_requests(path):
        design = bundle.designs.get(request.name)
        known = known or design is not None
        if not isinstance(request, (StreamRequest, WindowRequest)) or not isinstance(
            design, (StreamDesign, WindowDesign)
        ):
            continue
        promise = request.promise
        told = promise.prior.describe()
        shipped = design.guarantee.prior
        if len(told) > len(shipped) or any(
            not line.startswith(words) for words, line in zip(told, shipped, strict=False)
        ):
            raise DesignError(
                f"{path}: the design {promise.name!r} has another prior than the bundle's; "
                "give the file that the bundle was made from"
            )
        secrets = request.secrets if isinstance(request, WindowRequest) else None
        found[promise.name] = Asked(promise.prior, secrets)
    if not known:
        raise DesignError(
            f"{path}: has none of the bundle's designs ({', '.join(bundle.designs)}); "
            "give the file that the bundle was made from"
        )
    return found
