"""A file's content in bounded blocks and lines, plain or gzipped, with caps before memory grows.

Whether a file is gzipped is read off its first two bytes. The cap counts *decompressed* bytes,
as they come, so that a gzip bomb is refused after a few blocks rather than unpacked.
"""

import gzip
import zlib
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Protocol

from agent.formats.errors import FormatError

MAX_TRACE_BYTES = 256 << 20
BLOCK_BYTES = 1 << 16
MAX_LINE_BYTES = 1 << 16
_GZIP_MAGIC = b"\x1f\x8b"
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

Batch = tuple[int, list[str]]


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def read_blocks(path: Path, limit: int = MAX_TRACE_BYTES) -> Generator[bytes, None, None]:
    """The decompressed content, in blocks of at most ``BLOCK_BYTES``, without a UTF-8 mark.

    Raises:
        FormatError: missing, not a file, unreadable, empty, damaged gzip, not text, or more than
            ``limit`` bytes once decompressed.
    """
    try:
        if not path.exists():
            raise FormatError(f"{path}: no such file; check the path")
        if not path.is_file():
            raise FormatError(f"{path}: is not a file; give the path of a file")
        with path.open("rb") as raw:
            packed = raw.read(2) == _GZIP_MAGIC
            raw.seek(0)
            if packed:
                with gzip.GzipFile(fileobj=raw) as stream:
                    yield from _limited(stream, path, limit)
            else:
                yield from _limited(raw, path, limit)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise FormatError(f"{path}: the gzip data is damaged or cut off; copy it again") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or "bad path"
        raise FormatError(f"{path}: cannot be read ({reason})") from None


def _limited(stream: _Readable, path: Path, limit: int) -> Iterator[bytes]:
    total = 0
    first = True
    while block := stream.read(BLOCK_BYTES):
        total += len(block)
        if total > limit:
            raise FormatError(
                f"{path}: holds more than the {limit} bytes allowed; split it into smaller files"
            )
        if first:
            if block.startswith(_UTF16_MARKS) or b"\0" in block:
                raise FormatError(f"{path}: is not UTF-8 text; expected a trace or a table as text")
            block = block.removeprefix(_UTF8_MARK)
            first = False
        yield block
    if total == 0:
        raise FormatError(f"{path}: is empty; expected a trace or a table")


def read_lines(blocks: Iterable[bytes], where: str) -> Iterator[Batch]:
    """Batches of whole lines with the number of their first line (from 1), ends stripped.

    Bytes that are not UTF-8 become U+FFFD; the cell they stand in is then refused by its reader.

    Raises:
        FormatError: a line longer than ``MAX_LINE_BYTES``.
    """
    number = 1
    rest = b""
    for block in blocks:
        content = rest + block
        cut = content.rfind(b"\n") + 1
        rest = content[cut:]
        if len(rest) > MAX_LINE_BYTES:
            raise FormatError(
                f"{where}: line {number + content.count(10)} is longer than {MAX_LINE_BYTES} "
                "bytes; expected one row a line"
            )
        if cut:
            lines = content[: cut - 1].decode("utf-8", "replace").replace("\r", "").split("\n")
            yield number, lines
            number += len(lines)
    if rest:
        yield number, [rest.decode("utf-8", "replace").replace("\r", "")]
