# SPDX-License-Identifier: MIT
"""base64: bytes as letters of sets of 64 and 16."""

_LETTERS = (b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
            b"0123456789+/")


class Error(ValueError):
    pass


def b64encode(s, altchars=None):
    s = bytes(s)
    out = bytearray()
    for at in range(0, len(s), 3):
        part = s[at:at + 3]
        bits = int.from_bytes(part + bytes(3 - len(part)), "big")
        letters = [_LETTERS[bits >> 18 & 63], _LETTERS[bits >> 12 & 63],
                   _LETTERS[bits >> 6 & 63], _LETTERS[bits & 63]]
        out += bytes(letters[:len(part) + 1]) + b"=" * (3 - len(part))
    out = bytes(out)
    if altchars is not None:
        out = out.translate(bytes.maketrans(b"+/", altchars))
    return out


def b64decode(s, altchars=None, validate=False):
    if isinstance(s, str):
        s = s.encode("ascii")
    if altchars is not None:
        s = s.translate(bytes.maketrans(altchars, b"+/"))
    bits, count, out, pads = 0, 0, bytearray(), 0
    for c in s:
        if c == 61:
            pads += 1
            if count >= 2 and count + pads >= 4:
                break
            continue
        at = _LETTERS.find(c)
        if at < 0:
            if validate:
                raise Error("Only base64 data is allowed")
            continue
        bits, count = bits << 6 | at, count + 1
        if count == 4:
            out += bits.to_bytes(3, "big")
            bits, count = 0, 0
    if count == 1:
        raise Error("Invalid base64-encoded string: number of data characters "
                    f"({len(out) // 3 * 4 + 1}) cannot be 1 more than a "
                    "multiple of 4")
    if count and count + pads < 4:
        raise Error("Incorrect padding")
    if count:
        out += (bits << 6 * (4 - count)).to_bytes(3, "big")[:count - 1]
    return bytes(out)


def standard_b64encode(s):
    return b64encode(s)


def standard_b64decode(s):
    return b64decode(s)


def urlsafe_b64encode(s):
    return b64encode(s, b"-_")


def urlsafe_b64decode(s):
    return b64decode(s, b"-_")


def b16encode(s):
    return bytes(s).hex().upper().encode("ascii")


def b16decode(s, casefold=False):
    if isinstance(s, bytes):
        s = s.decode("ascii")
    if not casefold and s != s.upper():
        raise Error("Non-base16 digit found")
    return bytes.fromhex(s)


_B32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def b32encode(s):
    s = bytes(s)
    out = []
    for i in range(0, len(s), 5):
        part = s[i:i + 5]
        bits = int.from_bytes(part + bytes(5 - len(part)), "big")
        text = "".join([_B32[bits >> 5 * k & 31] for k in range(7, -1, -1)])
        used = (len(part) * 8 + 4) // 5
        out.append(text[:used] + "=" * (8 - used))
    return "".join(out).encode("ascii")
