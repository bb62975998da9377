"""Git's index: the list of the files that it tracks. Git is never run.

Its format is that of gitformat-index(5), versions 2 to 4. Whatever cannot be
read counts as a list that holds every file: who asks wants to know whether a
file may have come with a repository.
"""

from __future__ import annotations

import unicodedata

_HEAD, _SIGNATURE = 12, b"DIRC"
# Times, device, inode, mode, owner and size; then the hash, of either sort, and the flags.
_STAT, _SHA1, _SHA256, _FLAGS = 40, 20, 32, 2
_EXTENDED = 0x4000


def holds(data: bytes | None, name: str) -> bool:
    """Whether an index has a file, named from the top of the work tree.

    Names are compared as the most forgiving file system does: without case, and
    however their accents are written.
    """
    if data is None or data[:4] != _SIGNATURE:
        return True
    wanted = _alike(name)
    for hash_bytes in (_SHA1, _SHA256):
        try:
            names = _names(data, hash_bytes)
        except (ValueError, IndexError):
            continue
        # A folder stands for everything in it, where only a part is checked out.
        return any(
            wanted.startswith(one) if one.endswith("/") else one == wanted
            for one in map(_alike, names)
        )
    return True


def _alike(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _names(data: bytes, hash_bytes: int) -> list[str]:
    version, count = int.from_bytes(data[4:8]), int.from_bytes(data[8:12])
    if version not in (2, 3, 4):
        raise ValueError("a version that we do not know")
    found: list[str] = []
    place, name = _HEAD, b""
    for _ in range(count):
        start = place
        place += _STAT + hash_bytes
        flags = int.from_bytes(data[place : place + _FLAGS])
        place += _FLAGS * (2 if version >= 3 and flags & _EXTENDED else 1)
        kept = 0
        if version == 4:
            dropped, place = _number(data, place)
            kept = len(name) - dropped
            if kept < 0:
                raise ValueError("a name shorter than nothing")
        end = data.index(b"\0", place)
        name = name[:kept] + data[place:end]
        # In a split index, one that replaces another has none.
        if flags & 0xFFF != min(len(name), 0xFFF):
            raise ValueError("a name of another length")
        # Entries of the older versions end at a multiple of eight.
        place = end + 1 if version == 4 else start + (end - start + 8) // 8 * 8
        found.append(name.decode("utf-8", "surrogateescape"))
    return found


def _number(data: bytes, place: int) -> tuple[int, int]:
    """A number of as many bytes as it takes, and the place after it."""
    byte = data[place]
    value = byte & 0x7F
    while byte & 0x80:
        place += 1
        byte = data[place]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, place + 1
