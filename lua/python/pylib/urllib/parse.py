# SPDX-License-Identifier: MIT
"""urllib.parse: the parts of addresses."""
from collections import namedtuple

_RELATIVE = ("", "ftp", "http", "gopher", "nntp", "imap", "wais", "file",
             "https", "shttp", "mms", "prospero", "rtsp", "rtspu", "sftp",
             "svn", "svn+ssh", "ws", "wss")
_PARAMS = ("", "ftp", "hdl", "prospero", "http", "imap", "https", "shttp",
           "rtsp", "rtspu", "sip", "sips", "mms", "sftp", "tel")
_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                  "0123456789_.-~")


class _Parts:
    """What an address's netloc says."""
    __slots__ = ()

    def _split(self):
        user, at, host = self.netloc.rpartition("@")
        name, _, port = host.rpartition(":") if ":" in host.rpartition(
            "]")[2] else (host, "", "")
        return (user if at else None), name.strip("[]"), port or None

    @property
    def username(self):
        user = self._split()[0]
        return None if user is None else user.partition(":")[0]

    @property
    def password(self):
        user = self._split()[0]
        return None if user is None or ":" not in user \
            else user.partition(":")[2]

    @property
    def hostname(self):
        return self._split()[1].lower() or None

    @property
    def port(self):
        port = self._split()[2]
        if port is None:
            return None
        if not (port.isdigit() and port.isascii()):
            raise ValueError("Port could not be cast to integer value as "
                             f"{port!r}")
        if int(port) > 65535:
            raise ValueError("Port out of range 0-65535")
        return int(port)


class SplitResult(namedtuple("SplitResult",
                             "scheme netloc path query fragment"), _Parts):
    __slots__ = ()

    def geturl(self):
        return urlunsplit(self)


class ParseResult(namedtuple("ParseResult", "scheme netloc path params query "
                             "fragment"), _Parts):
    __slots__ = ()

    def geturl(self):
        return urlunparse(self)


DefragResult = namedtuple("DefragResult", "url fragment")


def urlsplit(url, scheme="", allow_fragments=True):
    url = url.lstrip("".join(map(chr, range(33)))).replace(
        "\t", "").replace("\r", "").replace("\n", "")
    netloc = query = fragment = ""
    head, colon, rest = url.partition(":")
    if colon and head[:1].isalpha() and head.isascii() and all(
            c.isalnum() or c in "+-." for c in head):
        scheme, url = head.lower(), rest
    if url[:2] == "//":
        end = min((i for i in (url.find(c, 2) for c in "/?#") if i >= 0),
                  default=len(url))
        netloc, url = url[2:end], url[end:]
        if ("[" in netloc) != ("]" in netloc):
            raise ValueError("Invalid IPv6 URL")
    if allow_fragments and "#" in url:
        url, _, fragment = url.partition("#")
    if "?" in url:
        url, _, query = url.partition("?")
    return SplitResult(scheme, netloc, url, query, fragment)


def urlparse(url, scheme="", allow_fragments=True):
    scheme, netloc, path, query, fragment = urlsplit(url, scheme,
                                                     allow_fragments)
    params = ""
    if scheme in _PARAMS and ";" in path.rpartition("/")[2]:
        at = path.find(";", path.rfind("/") + 1)
        path, params = path[:at], path[at + 1:]
    return ParseResult(scheme, netloc, path, params, query, fragment)


def urlunsplit(parts):
    scheme, netloc, url, query, fragment = parts
    if netloc or scheme in _RELATIVE and scheme and url[:2] != "//":
        if url and url[:1] != "/":
            url = "/" + url
        url = "//" + netloc + url
    if scheme:
        url = scheme + ":" + url
    if query:
        url += "?" + query
    if fragment:
        url += "#" + fragment
    return url


def urlunparse(parts):
    scheme, netloc, url, params, query, fragment = parts
    if params:
        url = f"{url};{params}"
    return urlunsplit((scheme, netloc, url, query, fragment))


def urldefrag(url):
    parts = urlparse(url)
    return DefragResult(urlunparse(parts[:5] + ("",)), parts.fragment)


def urljoin(base, url, allow_fragments=True):
    if not base or not url:
        return url or base
    b = urlparse(base, "", allow_fragments)
    scheme, netloc, path, params, query, fragment = urlparse(
        url, b.scheme, allow_fragments)
    if scheme != b.scheme or scheme not in _RELATIVE:
        return url
    if netloc:
        return urlunparse((scheme, netloc, path, params, query, fragment))
    if not path and not params:
        return urlunparse((scheme, b.netloc, b.path, b.params,
                           query or b.query, fragment))
    above = b.path.split("/")
    if above[-1] != "":
        del above[-1]
    parts = path.split("/") if path[:1] == "/" else above + path.split("/")
    if path[:1] != "/":
        parts[1:-1] = [p for p in parts[1:-1] if p]
    out = []
    for part in parts:
        if part == "..":
            out = out[:-1]
        elif part != ".":
            out.append(part)
    if parts[-1] in (".", ".."):
        out.append("")
    return urlunparse((scheme, b.netloc, "/".join(out) or "/", params, query,
                       fragment))


def quote_from_bytes(data, safe="/"):
    safe = safe.decode("ascii", "ignore") if isinstance(safe, bytes) else safe
    return "".join(chr(b) if chr(b) in _SAFE or chr(b) in safe
                   and b < 128 else f"%{b:02X}" for b in data)


def quote(string, safe="/", encoding=None, errors=None):
    if isinstance(string, str):
        string = string.encode(encoding or "utf-8", errors or "strict")
    return quote_from_bytes(string, safe)


def quote_plus(string, safe="", encoding=None, errors=None):
    return quote(string, safe + " ", encoding, errors).replace(" ", "+")


def unquote_to_bytes(string):
    if isinstance(string, str):
        string = string.encode("utf-8")
    parts = string.split(b"%")
    out = [parts[0]]
    for part in parts[1:]:
        try:
            out.append(bytes([int(part[:2], 16)]) + part[2:]
                       if len(part) > 1 else b"%" + part)
        except ValueError:
            out.append(b"%" + part)
    return b"".join(out)


def unquote(string, encoding="utf-8", errors="replace"):
    if "%" not in string:
        return string
    return unquote_to_bytes(string).decode(encoding or "utf-8",
                                           errors or "replace")


def unquote_plus(string, encoding="utf-8", errors="replace"):
    return unquote(string.replace("+", " "), encoding, errors)


def parse_qsl(qs, keep_blank_values=False, strict_parsing=False,
              encoding="utf-8", errors="replace", max_num_fields=None,
              separator="&"):
    out = []
    for pair in qs.split(separator) if qs else []:
        name, equals, value = pair.partition("=")
        if not equals and strict_parsing:
            raise ValueError(f"bad query field: {pair!r}")
        if value or keep_blank_values and (pair or strict_parsing):
            out.append((unquote_plus(name, encoding, errors),
                        unquote_plus(value, encoding, errors)))
    return out


def parse_qs(qs, keep_blank_values=False, strict_parsing=False, **kwargs):
    out = {}
    for name, value in parse_qsl(qs, keep_blank_values, strict_parsing,
                                 **kwargs):
        out.setdefault(name, []).append(value)
    return out


def urlencode(query, doseq=False, safe="", encoding=None, errors=None,
              quote_via=quote_plus):
    if hasattr(query, "items"):
        query = query.items()

    def text(v):
        return quote_via(v if isinstance(v, (str, bytes)) else str(v), safe)
    out = []
    for k, v in query:
        if doseq and not isinstance(v, (str, bytes)) and hasattr(v, "__len__"):
            out.extend(text(k) + "=" + text(x) for x in v)
        else:
            out.append(text(k) + "=" + text(v))
    return "&".join(out)
