"""One array as a NumPy ``.npy`` file in one canonical form, which ``numpy.load`` opens.

Format version 1.0 (NumPy enhancement proposal 1): ``\\x93NUMPY 1 0``, the header's length as a
little-endian 16-bit number, and the header

    {'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }

padded with spaces and closed by a newline so that the data begins at a multiple of 64 bytes.
NumPy's own writer pads differently between its releases, and bytes that are signed by a digest
must not. Allowed: ``<f8`` and ``|u1``, in C order, of one or two dimensions. There is no way to
say "object", so nothing is ever unpickled, and the shape is checked against the bytes that are
there before any array is made.
"""

import re
from typing import Literal

import numpy as np
import numpy.typing as npt

from agent.formats.errors import FormatError

Code = Literal["<f8", "|u1"]

_MAGIC = b"\x93NUMPY\x01\x00"
_ALIGNMENT = 64
_HEADER = re.compile(
    rb"\{'descr': '(<f8|\|u1)', 'fortran_order': False, 'shape': \((\d{1,9}),(?: (\d{1,9}))?\), \}"
    rb" *\n"
)


def encode_array(array: npt.NDArray[np.generic], code: Code) -> bytes:
    """The array's bytes, header and all. ``array`` is (n,) or (n, m), of the code's type."""
    assert array.ndim in (1, 2)
    data = np.ascontiguousarray(array, dtype=np.dtype(code)).tobytes()
    return _header(code, array.shape) + data


def decode_array(content: bytes, code: Code, *, max_entries: int) -> npt.NDArray[np.generic]:
    """The inverse of :func:`encode_array`: a read-only view of ``content``.

    Raises:
        FormatError: another type, order or number of dimensions, too large, or wrong length.
    """
    if content[: len(_MAGIC)] != _MAGIC or len(content) < len(_MAGIC) + 2:
        raise FormatError("is not a .npy array of format version 1.0")
    data_at = len(_MAGIC) + 2 + int.from_bytes(content[len(_MAGIC) : len(_MAGIC) + 2], "little")
    match = _HEADER.fullmatch(content[len(_MAGIC) + 2 : data_at])
    if match is None or match[1].decode() != code:
        raise FormatError(f"is not an array of type {code} in C order with one or two dimensions")
    shape = tuple(int(length) for length in match.groups()[1:] if length is not None)
    entries = 1
    for length in shape:
        entries *= length
    if entries > max_entries:
        raise FormatError(f"has {entries} entries; at most {max_entries} are allowed")
    dtype = np.dtype(code)
    if len(content) - data_at != entries * dtype.itemsize:
        raise FormatError("has not as many bytes as its shape says")
    if content[:data_at] != _header(code, shape):
        raise FormatError("has a header that is not in canonical form")
    return np.frombuffer(content, dtype=dtype, offset=data_at).reshape(shape)


def _header(code: Code, shape: tuple[int, ...]) -> bytes:
    lengths = f"({shape[0]},)" if len(shape) == 1 else f"({shape[0]}, {shape[1]})"
    text = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {lengths}, }}".encode("ascii")
    padding = -(len(_MAGIC) + 2 + len(text) + 1) % _ALIGNMENT
    header = text + b" " * padding + b"\n"
    return _MAGIC + len(header).to_bytes(2, "little") + header
