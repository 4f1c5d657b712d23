"""The noise state as bytes. This docstring is the format's specification, version 1.

All numbers are little-endian.

    offset  size  field
    0       4     magic "SFNS"
    4       1     format version, 1
    5       1     kind: 1 stream, 2 window
    6       1     started: 0 nothing drawn in this segment yet, 1 otherwise
    7       1     zero
    8       16    design fingerprint: the first 16 bytes of its SHA-256 (formats/bundle.py)
    24      4     segment, unsigned, the first is 0
    28      8     time of the segment's first reading, Unix milliseconds, signed; 0 if not started
    36      8     time of its last reading; 0 if not started
    44      4     number of payload values, unsigned
    48      8 n   payload, float64, all finite, axis by axis
    48+8n   4     CRC-32 of everything before it

The CRC finds damage, not malice: the state lies in a file that only the device's user can
write. A state of a later version or of another design is refused, never guessed at.
"""

import struct
import zlib
from dataclasses import dataclass

import numpy as np

from agent.formats.designs import FloatArray
from agent.formats.errors import FormatError

MAGIC = b"SFNS"
VERSION = 1
STREAM = 1
WINDOW = 2
FINGERPRINT_BYTES = 16

_HEADER = struct.Struct("<4sBBBB16sIqqI")
_CRC = struct.Struct("<I")


@dataclass(frozen=True, slots=True, eq=False)
class StateFields:
    """What the bytes say. ``payload`` is (n,) float64; the times are 0 unless ``started``."""

    kind: int
    fingerprint: bytes
    segment: int
    started: bool
    first_ms: int
    last_ms: int
    payload: FloatArray


def encode_fields(fields: StateFields) -> bytes:
    """The fields as specified above."""
    header = _HEADER.pack(
        MAGIC,
        VERSION,
        fields.kind,
        int(fields.started),
        0,
        fields.fingerprint,
        fields.segment,
        fields.first_ms,
        fields.last_ms,
        fields.payload.size,
    )
    content = header + np.ascontiguousarray(fields.payload, dtype="<f8").tobytes()
    return content + _CRC.pack(zlib.crc32(content))


def decode_fields(content: bytes, *, kind: int, fingerprint: bytes) -> StateFields:
    """The inverse of :func:`encode_fields`, for one design.

    Raises:
        FormatError: damaged, of a later version, of another kind or design, or not finite.
    """
    if len(content) < _HEADER.size + _CRC.size or content[:4] != MAGIC:
        raise FormatError(
            f"noise state: {len(content)} bytes that are not a noise state; expected at least "
            f"{_HEADER.size + _CRC.size} that begin with {MAGIC.decode()}; restore the state "
            "folder, or start a new segment"
        )
    body = content[: -_CRC.size]
    if _CRC.unpack(content[-_CRC.size :])[0] != zlib.crc32(body):
        raise FormatError(
            "noise state: its checksum does not match, so it is damaged; restore the state "
            "folder, or start a new segment"
        )
    _, version, found_kind, started, zero, found_design, segment, first, last, size = (
        _HEADER.unpack_from(body)
    )
    if version != VERSION:
        raise FormatError(
            f"noise state: format version {version}; this sfumato reads {VERSION}; "
            "install the version that wrote it"
        )
    if found_kind != kind or found_design != fingerprint:
        raise FormatError(
            f"noise state: belongs to another design (fingerprint {found_design.hex()}, expected "
            f"{fingerprint.hex()}); put the former bundle back, or start a new segment"
        )
    if len(body) != _HEADER.size + 8 * size or zero != 0 or started not in (0, 1):
        raise FormatError("noise state: its length and fields disagree; start a new segment")
    payload: FloatArray = np.frombuffer(body, dtype="<f8", offset=_HEADER.size).astype(np.float64)
    if not bool(np.all(np.isfinite(payload))):
        raise FormatError("noise state: a value is not finite; start a new segment")
    if not started and (size or first or last):
        raise FormatError("noise state: not started, yet it holds values; start a new segment")
    payload.setflags(write=False)
    return StateFields(kind, found_design, segment, bool(started), first, last, payload)
