# SPDX-License-Identifier: MIT
"""codecs: texts to bytes and back, by name."""
import _absent
import io

BOM_UTF8 = b"\xef\xbb\xbf"
BOM = BOM_LE = BOM_UTF16 = BOM_UTF16_LE = b"\xff\xfe"
BOM_BE = BOM_UTF16_BE = b"\xfe\xff"
BOM_UTF32 = BOM_UTF32_LE = b"\xff\xfe\x00\x00"
BOM_UTF32_BE = b"\x00\x00\xfe\xff"


def _rot13(text):
    def turned(c):
        if "a" <= c <= "z":
            return chr((ord(c) - 84) % 26 + 97)
        if "A" <= c <= "Z":
            return chr((ord(c) - 52) % 26 + 65)
        return c
    return "".join(map(turned, text))


def _of_bytes(name):
    import base64
    import binascii
    return {"hex": (binascii.hexlify, binascii.unhexlify),
            "hex_codec": (binascii.hexlify, binascii.unhexlify),
            "base64": (base64.encodebytes, base64.decodebytes),
            "base64_codec": (base64.encodebytes, base64.decodebytes),
            "rot13": (_rot13, _rot13), "rot_13": (_rot13, _rot13)}.get(
                name.lower().replace("-", "_"))


def encode(obj, encoding="utf-8", errors="strict"):
    own = _of_bytes(encoding)
    return own[0](obj) if own else obj.encode(encoding, errors)


def decode(obj, encoding="utf-8", errors="strict"):
    own = _of_bytes(encoding)
    return own[1](obj) if own else bytes(obj).decode(encoding, errors)


class CodecInfo:
    def __init__(self, name):
        self.name = name

    def encode(self, input, errors="strict"):
        return encode(input, self.name, errors), len(input)

    def decode(self, input, errors="strict"):
        return decode(input, self.name, errors), len(input)

    def incrementalencoder(self, errors="strict"):
        return IncrementalEncoder(errors, self.name)

    def incrementaldecoder(self, errors="strict"):
        return IncrementalDecoder(errors, self.name)

    def __repr__(self):
        return f"<codecs.CodecInfo object for encoding {self.name} at " \
               f"{id(self):#x}>"


_NAMES = {"utf8": "utf-8", "u8": "utf-8", "latin1": "iso8859-1",
          "latin-1": "iso8859-1", "iso-8859-1": "iso8859-1",
          "us-ascii": "ascii"}


def lookup(encoding):
    name = encoding.lower().replace("_", "-")
    if _of_bytes(encoding) is None:
        "".encode(encoding)
    return CodecInfo(_NAMES.get(name, name))


def getencoder(encoding):
    return lookup(encoding).encode


def getdecoder(encoding):
    return lookup(encoding).decode


def getincrementalencoder(encoding):
    return lookup(encoding).incrementalencoder


def getincrementaldecoder(encoding):
    return lookup(encoding).incrementaldecoder


class IncrementalEncoder:
    def __init__(self, errors="strict", encoding="utf-8"):
        self.errors, self._encoding = errors, encoding

    def encode(self, input, final=False):
        return input.encode(self._encoding, self.errors)

    def reset(self):
        pass


class IncrementalDecoder:
    """Bytes by parts: what does not end a character waits for the next."""

    def __init__(self, errors="strict", encoding="utf-8"):
        self.errors, self._encoding, self._rest = errors, encoding, b""

    def decode(self, input, final=False):
        data = self._rest + bytes(input)
        for keep in range(0 if final else min(4, len(data) + 1)):
            head = data[:len(data) - keep]
            try:
                text = head.decode(self._encoding)
            except UnicodeDecodeError as error:
                if error.end < len(head) or keep == 3:
                    break
            else:
                self._rest = data[len(data) - keep:]
                return text
        self._rest = b""
        return data.decode(self._encoding, self.errors)

    def reset(self):
        self._rest = b""


def open(filename, mode="r", encoding=None, errors="strict", buffering=-1):
    if encoding is None:
        return io.open(filename, mode)
    return io.open(filename, mode, encoding=encoding, errors=errors,
                   newline="")


def iterencode(iterator, encoding, errors="strict"):
    for text in iterator:
        if text:
            yield text.encode(encoding, errors)


def iterdecode(iterator, encoding, errors="strict"):
    decoder = IncrementalDecoder(errors, encoding)
    for data in iterator:
        if text := decoder.decode(data):
            yield text
    if text := decoder.decode(b"", True):
        yield text


def register_error(name, handler):
    raise _absent.error("codecs.register_error is not part of dtrepl")


def register(search_function):
    raise _absent.error("codecs.register is not part of dtrepl")
