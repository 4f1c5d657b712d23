"""Where results go: a file of the user's is never written over by mistake, nor half written.

A command checks its targets before the work begins (:func:`check_output`), so that an hour's fit
is not lost to a typing error, and writes at the end (:func:`write_output`). A target may be new,
empty, or a file of the command's own kind, which a second run replaces. Anything else that stands
there is the user's, and what the command reads is never its target.
"""

import os
import secrets
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from agent.formats.errors import FormatError

PEEK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class OutputKind:
    """What a command writes, and how its own earlier output is told from other files.

    Attributes:
        name: in words, after "expected".
        is_ours: whether a file is one, from its first and its last ``PEEK_BYTES``.
    """

    name: str
    is_ours: Callable[[bytes, bytes], bool]


def text_kind(name: str, *openings: str) -> OutputKind:
    """A kind whose files begin with one of these words."""
    beginnings = tuple(opening.encode("utf-8") for opening in openings)
    return OutputKind(name, lambda head, tail: head.startswith(beginnings))


# A ZIP file whose directory, at its end, names the manifest.
BUNDLE = OutputKind(
    "a bundle", lambda head, tail: head.startswith(b"PK\x03\x04") and b"manifest.npy" in tail
)
# As agent.formats.geojson writes it: sorted keys, no blanks, every place with its topic.
GEOJSON = OutputKind(
    "GeoJSON by `sfumato listen`",
    lambda head, tail: (
        head == b'{"features":[],"type":"FeatureCollection"}\n'
        or (
            head.startswith(b'{"features":[{"geometry":{"coordinates":[')
            and b'"topic":"' in head
            and tail.endswith(b'],"type":"FeatureCollection"}\n')
        )
    ),
)


def check_output(path: Path, kind: OutputKind, *, option: str, inputs: Iterable[Path] = ()) -> None:
    """Refuse a target now that must not or cannot be written at the end.

    Args:
        path: of the target.
        kind: what will be written.
        option: how the user named it, for the message.
        inputs: files that the command reads, and its other targets.

    Raises:
        FormatError: an input, a file of another kind, a folder, or not writable.
    """
    try:
        target = path.resolve()
        for other in inputs:
            if _same(target, other):
                raise FormatError(
                    f"{option}: {path}: is also read or written by this command; give another file"
                )
        if not target.parent.is_dir():
            raise FormatError(f"{option}: {path.parent}: no such folder; make it first")
        if target.is_dir():
            raise FormatError(f"{option}: {path}: is a folder; give the path of a file")
        if os.path.lexists(target):
            _require_ours(path, target, kind, option)
        handle, draft = _draft_beside(target)  # the folder takes files
        os.close(handle)
        draft.unlink()
    except (OSError, ValueError, RuntimeError) as error:  # a NUL, a loop of links
        raise _refused(path, option, error) from None


def write_output(
    path: Path,
    content: bytes | str,
    *,
    option: str,
    replace: Callable[[Path, Path], None] = os.replace,
) -> None:
    """The file is the old one or the whole new one, never a part, also after a power cut.

    Raises:
        FormatError: the disk refuses.
    """
    try:
        target = path.resolve()  # what a link names is replaced, not the link
        handle, draft = _draft_beside(target)
        try:
            with os.fdopen(handle, "wb") as stream:
                if target.exists():
                    os.fchmod(stream.fileno(), stat.S_IMODE(target.stat().st_mode))
                stream.write(content.encode("utf-8") if isinstance(content, str) else content)
                stream.flush()
                os.fsync(stream.fileno())
            replace(draft, target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except (OSError, ValueError, RuntimeError) as error:
        raise _refused(path, option, error) from None


def _require_ours(path: Path, target: Path, kind: OutputKind, option: str) -> None:
    if not target.is_file():
        raise FormatError(f"{option}: {path}: is not a plain file; give the path of a file")
    with target.open("rb") as stream:
        head = stream.read(PEEK_BYTES)
        stream.seek(max(0, target.stat().st_size - PEEK_BYTES))
        tail = stream.read(PEEK_BYTES)
    if head and not kind.is_ours(head, tail):
        raise FormatError(
            f"{option}: {path}: is there already and is not {kind.name}; it is left alone: give "
            "another name, or move it away"
        )


def _draft_beside(target: Path) -> tuple[int, Path]:
    """An empty file on the target's disk, with the mode that the user's files get."""
    draft = target.parent / f".sfumato-{secrets.token_hex(8)}"
    return os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), draft


def _same(target: Path, other: Path) -> bool:
    if target.exists() and other.exists():
        return target.samefile(other)
    return target == other.resolve()


def _refused(path: Path, option: str, error: Exception) -> FormatError:
    reason = getattr(error, "strerror", None) or "bad path"
    return FormatError(f"{option}: {path}: cannot be written ({reason})")
