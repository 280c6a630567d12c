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
_B32_HEX = "0123456789ABCDEFGHIJKLMNOPQRSTUV"


def _in_groups_of_32(s, letters):
    s = bytes(s)
    out = []
    for i in range(0, len(s), 5):
        part = s[i:i + 5]
        bits = int.from_bytes(part + bytes(5 - len(part)), "big")
        text = "".join([letters[bits >> 5 * k & 31] for k in range(7, -1, -1)])
        used = (len(part) * 8 + 4) // 5
        out.append(text[:used] + "=" * (8 - used))
    return "".join(out).encode("ascii")


def _from_groups_of_32(s, letters, casefold, others):
    s = _ascii(s)
    if len(s) % 8:
        raise Error("Incorrect padding")
    if others:
        s = s.translate(bytes.maketrans(b"01", b"O" + others))
    s = s.decode("ascii").upper() if casefold else s.decode("ascii")
    bare = s.rstrip("=")
    pads = len(s) - len(bare)
    out = bytearray()
    for i in range(0, len(bare), 8):
        bits = 0
        for c in bare[i:i + 8].ljust(8, letters[0]):
            if c not in letters:
                raise Error("Non-base32 digit found")
            bits = bits << 5 | letters.index(c)
        out += bits.to_bytes(5, "big")
    if pads not in (0, 1, 3, 4, 6):
        raise Error("Incorrect padding")
    return bytes(out[:len(out) - (5 - (8 - pads) * 5 // 8) if pads
                     else len(out)])


def b32encode(s):
    return _in_groups_of_32(s, _B32)


def b32decode(s, casefold=False, map01=None):
    return _from_groups_of_32(s, _B32, casefold,
                              map01 and _ascii(map01))


def b32hexencode(s):
    return _in_groups_of_32(s, _B32_HEX)


def b32hexdecode(s, casefold=False):
    return _from_groups_of_32(s, _B32_HEX, casefold, None)


def _ascii(s):
    if isinstance(s, str):
        try:
            return s.encode("ascii")
        except UnicodeEncodeError:
            raise ValueError("string argument should contain only ASCII "
                             "characters")
    return bytes(s)


_B85 = (b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        b"!#$%&()*+-;<=>?@^_`{|}~")
_A85 = bytes(range(33, 118))


def _in_groups_of_85(b, letters, pad, short):
    b = bytes(b)
    missing = -len(b) % 4
    b += bytes(missing)
    out = []
    for i in range(0, len(b), 4):
        bits = int.from_bytes(b[i:i + 4], "big")
        if bits == 0 and b"z" in short:
            out.append(b"z")
        elif bits == 0x20202020 and b"y" in short:
            out.append(b"y")
        else:
            out.append(bytes(letters[bits // 85 ** k % 85]
                             for k in range(4, -1, -1)))
    if missing and not pad:
        if out[-1] == b"z":
            out[-1] = letters[:1] * 5
        out[-1] = out[-1][:-missing]
    return b"".join(out)


def b85encode(b, pad=False):
    return _in_groups_of_85(b, _B85, pad, ())


def _from_groups_of_85(b, letters):
    missing = -len(b) % 5
    b += letters[-1:] * missing
    out = bytearray()
    for i in range(0, len(b), 5):
        bits = 0
        for k, c in enumerate(b[i:i + 5]):
            at = letters.find(c)
            if at < 0:
                raise ValueError(f"bad base85 character at position {i + k}")
            bits = bits * 85 + at
        if bits > 0xffffffff:
            raise ValueError(f"base85 overflow in hunk starting at byte {i}")
        out += bits.to_bytes(4, "big")
    return bytes(out[:len(out) - missing])


def b85decode(b):
    return _from_groups_of_85(_ascii(b), _B85)


def a85encode(b, *, foldspaces=False, wrapcol=0, pad=False, adobe=False):
    out = _in_groups_of_85(b, _A85, pad, (b"z", b"y") if foldspaces
                           else (b"z",))
    if adobe:
        out = b"<~" + out
    if wrapcol:
        wrapcol = max(2 if adobe else 1, wrapcol)
        parts = [out[i:i + wrapcol] for i in range(0, len(out), wrapcol)]
        if adobe and len(parts[-1]) + 2 > wrapcol:
            parts.append(b"")
        out = b"\n".join(parts)
    return out + b"~>" if adobe else out


def a85decode(b, *, foldspaces=False, adobe=False, ignorechars=b" \t\n\r\x0b"):
    b = _ascii(b)
    if adobe:
        if not b.endswith(b"~>"):
            raise ValueError("Ascii85 encoded byte sequences must end with "
                             "b'~>'")
        b = b[2:-2] if b.startswith(b"<~") else b[:-2]
    groups = bytearray()
    for c in b:
        if c == 122 or c == 121 and foldspaces:
            if len(groups) % 5:
                raise ValueError(f"{chr(c)} inside Ascii85 5-tuple")
            groups += b"!!!!!" if c == 122 else b"+<VdL"
        elif 33 <= c <= 117:
            groups.append(c)
        elif c not in ignorechars:
            raise ValueError("Non-Ascii85 digit found: %c" % c)
    return _from_groups_of_85(bytes(groups), _A85)


def encodebytes(s):
    return b"".join(b64encode(s[i:i + 57]) + b"\n"
                    for i in range(0, len(s), 57))


def decodebytes(s):
    return b64decode(s)


def encode(input, output):
    while part := input.read(57):
        output.write(b64encode(part) + b"\n")


def decode(input, output):
    while line := input.readline():
        output.write(b64decode(line))
