# SPDX-License-Identifier: MIT
"""fnmatch: names by patterns with * ? and [ ]."""
import re


def translate(pat):
    out, i = [], 0
    while i < len(pat):
        c = pat[i]
        i += 1
        if c == "*":
            if not out or out[-1] != ".*":
                out.append(".*")
        elif c == "?":
            out.append(".")
        elif c == "[":
            j = i + 1 if i < len(pat) and pat[i] in "!]" else i
            if j < len(pat) and pat[j - 1] == "!" and pat[j] == "]":
                j += 1
            end = pat.find("]", j)
            if end < 0:
                out.append("\\[")
                continue
            inner = pat[i:end].replace("\\", "\\\\")
            i = end + 1
            if inner[:1] == "!":
                inner = "^" + inner[1:]
            elif inner[:1] == "^":
                inner = "\\" + inner
            out.append("[" + inner + "]")
        else:
            out.append(re.escape(c))
    return "(?s:" + "".join(out) + ")\\Z"


def fnmatchcase(name, pat):
    return re.match(translate(pat), name) is not None


def fnmatch(name, pat):
    return fnmatchcase(name, pat)


def filter(names, pat):
    return [name for name in names if fnmatchcase(name, pat)]
