# SPDX-License-Identifier: MIT
"""string: templates with $names, and the format of str.format by hand."""
import re
from collections import ChainMap


class Template:
    delimiter = "$"
    idpattern = "[_a-zA-Z][_a-zA-Z0-9]*"
    braceidpattern = None

    def __init__(self, template):
        self.template = template

    def _parts(self):
        """Texts, and (kind, name, place, all of it) of what begins with $."""
        own = re.compile(self.idpattern)
        braced = re.compile(self.braceidpattern or self.idpattern)
        text, sign = self.template, self.delimiter
        out, at = [], 0
        while True:
            i = text.find(sign, at)
            if i < 0:
                out.append(text[at:])
                return out
            out.append(text[at:i])
            j = i + len(sign)
            if text.startswith(sign, j):
                out.append(("escaped", sign, i, text[i:j + len(sign)]))
                at = j + len(sign)
                continue
            m = own.match(text, j)
            if m:
                out.append(("named", m.group(), i, text[i:m.end()]))
                at = m.end()
                continue
            m = braced.match(text, j + 1) if text.startswith("{", j) else None
            if m and text.startswith("}", m.end()):
                out.append(("named", m.group(), i, text[i:m.end() + 1]))
                at = m.end() + 1
                continue
            out.append(("invalid", "", i, sign))
            at = j

    def _refuse(self, at):
        lines = self.template[:at].splitlines(keepends=True)
        if not lines:
            column, line = 1, 1
        else:
            column = at - len("".join(lines[:-1]))
            line = len(lines)
        raise ValueError("Invalid placeholder in string: line %d, col %d"
                         % (line, column))

    def substitute(self, mapping=(), /, **kws):
        mapping = ChainMap(kws, mapping) if kws and mapping else kws or mapping
        out = []
        for part in self._parts():
            if isinstance(part, str):
                out.append(part)
            elif part[0] == "named":
                out.append(str(mapping[part[1]]) if mapping
                           else str({}[part[1]]))
            elif part[0] == "escaped":
                out.append(part[1])
            else:
                self._refuse(part[2])
        return "".join(out)

    def safe_substitute(self, mapping=(), /, **kws):
        mapping = ChainMap(kws, mapping) if kws and mapping else kws or mapping
        out = []
        for part in self._parts():
            if isinstance(part, str):
                out.append(part)
            elif part[0] == "named":
                try:
                    out.append(str((mapping or {})[part[1]]))
                except KeyError:
                    out.append(part[3])
            else:
                out.append(part[1] or part[3])
        return "".join(out)

    def is_valid(self):
        return not any(part[0] == "invalid" for part in self._parts()
                       if not isinstance(part, str))

    def get_identifiers(self):
        ids = []
        for part in self._parts():
            if (not isinstance(part, str) and part[0] == "named"
                    and part[1] not in ids):
                ids.append(part[1])
        return ids


def capwords(s, sep=None):
    return (sep or " ").join(map(str.capitalize, s.split(sep)))
