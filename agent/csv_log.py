"""A CSV file that grows line by line, each flushed; a line torn by a crash is cut off."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from agent.errors import UnavailableError
from agent.formats.errors import FormatError


class CsvLog:
    """One file with a header; it may have been begun earlier.

    Args:
        path: of the file.
        headers: that it may have; a new file gets the first.

    Raises:
        FormatError: the file is there and is not one of ours.
        UnavailableError: it cannot be opened or written.
    """

    def __init__(self, path: Path, *headers: tuple[str, ...]) -> None:
        self._path = path
        self.header = headers[0]
        try:
            self.earlier = self._read_earlier(headers)
            self._stream = path.open("a", encoding="utf-8", newline="")
            if self._stream.tell() == 0:
                self._write(self.header)
        except OSError as error:
            raise self._refused(error) from None

    def append(self, values: Sequence[str]) -> None:
        """One more line, out of our hands when this returns."""
        try:
            self._write(values)
        except OSError as error:
            raise self._refused(error) from None

    def close(self) -> None:
        """No more lines."""
        self._stream.close()

    def _write(self, values: Sequence[str]) -> None:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(values)
        self._stream.write(line.getvalue())
        self._stream.flush()

    def _read_earlier(self, headers: tuple[tuple[str, ...], ...]) -> list[list[str]]:
        if not self._path.exists() or self._path.stat().st_size == 0:
            return []
        with self._path.open("rb+") as stream:
            content = stream.read()
            whole = content[: content.rfind(b"\n") + 1]
            lines = csv.reader(io.StringIO(whole.decode("utf-8", "replace"), newline=""))
            found = tuple(next(lines, []))
            if found not in headers:
                raise FormatError(
                    f"{self._path}: is not a file that `sfumato listen` wrote; expected the "
                    f"header {','.join(headers[0])}; give another file"
                )
            self.header = found
            rows = [line for line in lines if len(line) == len(found)]
            stream.truncate(len(whole))
        return rows

    def _refused(self, error: OSError) -> UnavailableError:
        return UnavailableError(f"{self._path}: cannot be written ({error.strerror})")
