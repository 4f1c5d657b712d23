"""Uncompressed ZIP files in one canonical form: the same members always give the same bytes.

Written by hand because ``zipfile`` leaves its version, platform and clock in the file, and
because reading then needs no trust in any size that the file declares. The form (all numbers
little-endian; PKWARE APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16):

For each member, in ascending order of name:

    local header   "PK\\3\\4", version needed 20, flags 0, method 0 (stored), time 0, date 0x0021
                   (1980-01-01), CRC-32, size, size again, name length, extra length 0; name; data

then for each member in the same order:

    central entry  "PK\\1\\2", version made by 20, version needed 20, flags 0, method 0, time 0,
                   date 0x0021, CRC-32, size, size again, name length, extra and comment length 0,
                   disk 0, internal attributes 0, external attributes 0, offset of the local
                   header; name

and at the end:

    end record     "PK\\5\\6", disk 0, disk 0, number of members twice, size and offset of the
                   central directory, comment length 0

Names are 1 to 120 of the characters A-Z a-z 0-9 - _ . and do not begin with a dot, so no name
can be a path. Nothing else is read: whatever does not come out the same when written again is
refused, be it a comment, a compressed or a repeated member, or bytes between members.
"""

import re
import struct
import zlib
from collections.abc import Mapping

from agent.formats.errors import FormatError

MAX_MEMBERS = 256

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,119}")
_VERSION, _DATE = 20, 0x0021
_MAX_BYTES = (1 << 32) - 1


def encode_stored_zip(members: Mapping[str, bytes]) -> bytes:
    """The members as one file.

    Raises:
        FormatError: a name that the form does not allow, too many members, or 4 GiB or more.
    """
    if len(members) > MAX_MEMBERS:
        raise FormatError(f"{len(members)} members; at most {MAX_MEMBERS} are allowed")
    chunks: list[bytes] = []
    central: list[bytes] = []
    offset = 0
    for name in sorted(members):
        if not _NAME.fullmatch(name):
            raise FormatError(
                f"the member name {name!r} is not allowed; expected letters of the English "
                "alphabet, digits, - and _, at most 120"
            )
        encoded, data = name.encode("ascii"), members[name]
        if offset + len(data) > _MAX_BYTES // 2:
            raise FormatError("2 GiB or more do not fit into one bundle")
        common = (0, 0, 0, _DATE, zlib.crc32(data), len(data), len(data), len(encoded), 0)
        chunks += [_LOCAL.pack(b"PK\x03\x04", _VERSION, *common), encoded, data]
        central.append(
            _CENTRAL.pack(b"PK\x01\x02", _VERSION, _VERSION, *common, 0, 0, 0, 0, offset) + encoded
        )
        offset += _LOCAL.size + len(encoded) + len(data)
    directory = b"".join(central)
    count = len(members)
    end = _END.pack(b"PK\x05\x06", 0, 0, count, count, len(directory), offset, 0)
    return b"".join([*chunks, directory, end])


def decode_stored_zip(content: bytes) -> dict[str, bytes]:
    """The inverse of :func:`encode_stored_zip`; accepts its output and nothing else.

    Allocates no more than the file's own size again, whatever its headers say.

    Raises:
        FormatError: not in the canonical form, or damaged.
    """
    members: dict[str, bytes] = {}
    offset = 0
    while content[offset : offset + 4] == b"PK\x03\x04":
        if len(members) == MAX_MEMBERS:
            raise FormatError(f"over {MAX_MEMBERS} members")
        if offset + _LOCAL.size > len(content):
            raise FormatError("ends within a member's header, so it is cut off")
        fields = _LOCAL.unpack_from(content, offset)
        method, crc, size, name_length = fields[3], fields[6], fields[8], fields[9]
        if method != 0:
            raise FormatError("holds a compressed member; expected stored ones only")
        name_at = offset + _LOCAL.size
        data_at = name_at + name_length
        if data_at + size > len(content):
            raise FormatError("a member declares more bytes than the file has")
        name = content[name_at:data_at].decode("latin-1")
        if name in members:
            raise FormatError(f"holds the member {name!r} twice")
        data = content[data_at : data_at + size]
        if zlib.crc32(data) != crc:
            raise FormatError(f"the checksum of member {name!r} does not match, so it is damaged")
        members[name] = data
        offset = data_at + size
    if encode_stored_zip(members) != content:
        raise FormatError("is not an uncompressed ZIP file in canonical form")
    return members
