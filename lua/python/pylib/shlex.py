# SPDX-License-Identifier: MIT
"""shlex: words of a line as a shell reads them."""
import _absent
import re

_UNSAFE = re.compile(r"[^\w@%+=:,./-]", re.ASCII)


def split(s, comments=False, posix=True):
    if not posix:
        raise _absent.error("shlex.split with posix=False is not part of "
                            "dtrepl")
    words, word, i = [], None, 0
    while i < len(s):
        c = s[i]
        if c in " \t\r\n":
            if word is not None:
                words.append(word)
            word = None
        elif c == "#" and comments and word is None:
            i = s.find("\n", i)
            if i < 0:
                break
        elif c == "'":
            stop = s.find("'", i + 1)
            if stop < 0:
                raise ValueError("No closing quotation")
            word = (word or "") + s[i + 1:stop]
            i = stop
        elif c == '"':
            word, i = _quoted(s, i + 1, word or "")
        elif c == "\\":
            i += 1
            if i == len(s):
                raise ValueError("No escaped character")
            word = (word or "") + s[i]
        else:
            word = (word or "") + c
        i += 1
    if word is not None:
        words.append(word)
    return words


def _quoted(s, i, word):
    """The word with what stands in double quotes, and where they end."""
    while i < len(s):
        c = s[i]
        if c == '"':
            return word, i
        if c == "\\" and s[i + 1:i + 2] in ('"', "\\"):
            i += 1
            c = s[i]
        word += c
        i += 1
    raise ValueError("No closing quotation")


def quote(s):
    if not s:
        return "''"
    if _UNSAFE.search(s) is None:
        return s
    return "'" + s.replace("'", "'\"'\"'") + "'"


def join(split_command):
    return " ".join(quote(word) for word in split_command)
