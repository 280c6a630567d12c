# SPDX-License-Identifier: MIT
"""difflib: what two sequences have in common, and how they differ."""
from collections import namedtuple as _namedtuple
from heapq import nlargest as _nlargest

Match = _namedtuple("Match", "a b size")


class SequenceMatcher:
    """The longest common blocks of two sequences, from the longest down."""

    def __init__(self, isjunk=None, a="", b="", autojunk=True):
        self.isjunk, self.autojunk = isjunk, autojunk
        self.a = self.b = None
        self.set_seqs(a, b)

    def set_seqs(self, a, b):
        self.set_seq1(a)
        self.set_seq2(b)

    def set_seq1(self, a):
        if a is not self.a:
            self.a = a
            self.matching_blocks = self.opcodes = None

    def set_seq2(self, b):
        if b is self.b:
            return
        self.b = b
        self.matching_blocks = self.opcodes = self.fullbcount = None
        places = self.b2j = {}
        for i, x in enumerate(b):
            places.setdefault(x, []).append(i)
        self.bjunk = {x for x in places if self.isjunk and self.isjunk(x)}
        for x in self.bjunk:
            del places[x]
        self.bpopular = set()
        n = len(b)
        if self.autojunk and n >= 200:
            self.bpopular = {x for x, at in places.items()
                             if len(at) > n // 100 + 1}
            for x in self.bpopular:
                del places[x]

    def find_longest_match(self, alo=0, ahi=None, blo=0, bhi=None):
        a, b, places, junk = self.a, self.b, self.b2j, self.bjunk
        ahi = len(a) if ahi is None else ahi
        bhi = len(b) if bhi is None else bhi
        i0, j0, size, ends = alo, blo, 0, {}
        for i in range(alo, ahi):
            here = {}
            for j in places.get(a[i], ()):
                if j < blo:
                    continue
                if j >= bhi:
                    break
                k = here[j] = ends.get(j - 1, 0) + 1
                if k > size:
                    i0, j0, size = i - k + 1, j - k + 1, k
            ends = here
        for of_junk in (False, True):
            while i0 > alo and j0 > blo and a[i0 - 1] == b[j0 - 1] \
                    and (b[j0 - 1] in junk) == of_junk:
                i0, j0, size = i0 - 1, j0 - 1, size + 1
            while i0 + size < ahi and j0 + size < bhi \
                    and a[i0 + size] == b[j0 + size] \
                    and (b[j0 + size] in junk) == of_junk:
                size += 1
        return Match(i0, j0, size)

    def get_matching_blocks(self):
        if self.matching_blocks is not None:
            return self.matching_blocks
        la, lb = len(self.a), len(self.b)
        left, found = [(0, la, 0, lb)], []
        while left:
            alo, ahi, blo, bhi = left.pop()
            i, j, k = x = self.find_longest_match(alo, ahi, blo, bhi)
            if k:
                found.append(x)
                if alo < i and blo < j:
                    left.append((alo, i, blo, j))
                if i + k < ahi and j + k < bhi:
                    left.append((i + k, ahi, j + k, bhi))
        found.sort()
        out, at = [], (0, 0, 0)
        for i, j, k in found:
            if at[0] + at[2] == i and at[1] + at[2] == j:
                at = (at[0], at[1], at[2] + k)
            else:
                if at[2]:
                    out.append(at)
                at = (i, j, k)
        if at[2]:
            out.append(at)
        out.append((la, lb, 0))
        self.matching_blocks = [Match(*x) for x in out]
        return self.matching_blocks

    def get_opcodes(self):
        if self.opcodes is not None:
            return self.opcodes
        i = j = 0
        self.opcodes = out = []
        for ai, bj, size in self.get_matching_blocks():
            if i < ai and j < bj:
                out.append(("replace", i, ai, j, bj))
            elif i < ai:
                out.append(("delete", i, ai, j, bj))
            elif j < bj:
                out.append(("insert", i, ai, j, bj))
            i, j = ai + size, bj + size
            if size:
                out.append(("equal", ai, i, bj, j))
        return out

    def get_grouped_opcodes(self, n=3):
        codes = list(self.get_opcodes()) or [("equal", 0, 1, 0, 1)]
        if codes[0][0] == "equal":
            tag, i1, i2, j1, j2 = codes[0]
            codes[0] = tag, max(i1, i2 - n), i2, max(j1, j2 - n), j2
        if codes[-1][0] == "equal":
            tag, i1, i2, j1, j2 = codes[-1]
            codes[-1] = tag, i1, min(i2, i1 + n), j1, min(j2, j1 + n)
        group = []
        for tag, i1, i2, j1, j2 in codes:
            if tag == "equal" and i2 - i1 > 2 * n:
                group.append((tag, i1, min(i2, i1 + n), j1, min(j2, j1 + n)))
                yield group
                group = []
                i1, j1 = max(i1, i2 - n), max(j1, j2 - n)
            group.append((tag, i1, i2, j1, j2))
        if group and not (len(group) == 1 and group[0][0] == "equal"):
            yield group

    def ratio(self):
        same = sum(m[-1] for m in self.get_matching_blocks())
        return _ratio(same, len(self.a) + len(self.b))

    def quick_ratio(self):
        if self.fullbcount is None:
            self.fullbcount = {}
            for x in self.b:
                self.fullbcount[x] = self.fullbcount.get(x, 0) + 1
        left, same = {}, 0
        for x in self.a:
            n = left.get(x, self.fullbcount.get(x, 0))
            left[x] = n - 1
            same += n > 0
        return _ratio(same, len(self.a) + len(self.b))

    def real_quick_ratio(self):
        la, lb = len(self.a), len(self.b)
        return _ratio(min(la, lb), la + lb)


def _ratio(same, length):
    return 2.0 * same / length if length else 1.0


def get_close_matches(word, possibilities, n=3, cutoff=0.6):
    if not n > 0:
        raise ValueError(f"n must be > 0: {n!r}")
    if not 0.0 <= cutoff <= 1.0:
        raise ValueError(f"cutoff must be in [0.0, 1.0]: {cutoff!r}")
    found, s = [], SequenceMatcher()
    s.set_seq2(word)
    for x in possibilities:
        s.set_seq1(x)
        if s.real_quick_ratio() >= cutoff and s.quick_ratio() >= cutoff \
                and s.ratio() >= cutoff:
            found.append((s.ratio(), x))
    return [x for _, x in _nlargest(n, found)]


class Differ:
    """Lines that differ, and marks below where they differ."""

    def __init__(self, linejunk=None, charjunk=None):
        self.linejunk, self.charjunk = linejunk, charjunk

    def compare(self, a, b):
        codes = SequenceMatcher(self.linejunk, a, b).get_opcodes()
        for tag, alo, ahi, blo, bhi in codes:
            if tag == "replace":
                yield from self._replace(a, alo, ahi, b, blo, bhi)
            elif tag == "delete":
                yield from self._dump("-", a, alo, ahi)
            elif tag == "insert":
                yield from self._dump("+", b, blo, bhi)
            else:
                yield from self._dump(" ", a, alo, ahi)

    def _dump(self, tag, x, lo, hi):
        for i in range(lo, hi):
            yield f"{tag} {x[i]}"

    def _plain(self, a, alo, ahi, b, blo, bhi):
        if bhi - blo < ahi - alo:
            yield from self._dump("+", b, blo, bhi)
            yield from self._dump("-", a, alo, ahi)
        else:
            yield from self._dump("-", a, alo, ahi)
            yield from self._dump("+", b, blo, bhi)

    def _replace(self, a, alo, ahi, b, blo, bhi):
        best, cutoff, eqi = 0.74, 0.75, None
        s = SequenceMatcher(self.charjunk)
        for j in range(blo, bhi):
            s.set_seq2(b[j])
            for i in range(alo, ahi):
                if a[i] == b[j]:
                    if eqi is None:
                        eqi, eqj = i, j
                    continue
                s.set_seq1(a[i])
                if s.real_quick_ratio() > best and s.quick_ratio() > best \
                        and s.ratio() > best:
                    best, besti, bestj = s.ratio(), i, j
        if best < cutoff:
            if eqi is None:
                yield from self._plain(a, alo, ahi, b, blo, bhi)
                return
            besti, bestj, best = eqi, eqj, 1.0
        else:
            eqi = None
        yield from self._helper(a, alo, besti, b, blo, bestj)
        x, y = a[besti], b[bestj]
        if eqi is None:
            xtags = ytags = ""
            s.set_seqs(x, y)
            for tag, i1, i2, j1, j2 in s.get_opcodes():
                la, lb = i2 - i1, j2 - j1
                if tag == "replace":
                    xtags += "^" * la
                    ytags += "^" * lb
                elif tag == "delete":
                    xtags += "-" * la
                elif tag == "insert":
                    ytags += "+" * lb
                else:
                    xtags += " " * la
                    ytags += " " * lb
            yield from self._marked(x, y, xtags, ytags)
        else:
            yield "  " + x
        yield from self._helper(a, besti + 1, ahi, b, bestj + 1, bhi)

    def _helper(self, a, alo, ahi, b, blo, bhi):
        if alo < ahi:
            if blo < bhi:
                yield from self._replace(a, alo, ahi, b, blo, bhi)
            else:
                yield from self._dump("-", a, alo, ahi)
        elif blo < bhi:
            yield from self._dump("+", b, blo, bhi)

    def _marked(self, x, y, xtags, ytags):
        xtags = _with_spaces(x, xtags).rstrip()
        ytags = _with_spaces(y, ytags).rstrip()
        yield "- " + x
        if xtags:
            yield f"? {xtags}\n"
        yield "+ " + y
        if ytags:
            yield f"? {ytags}\n"


def _with_spaces(line, tags):
    return "".join(c if t == " " and c.isspace() else t
                   for c, t in zip(line, tags))


def IS_LINE_JUNK(line, pat=None):
    return line.strip() in ("", "#")


def IS_CHARACTER_JUNK(ch, ws=" \t"):
    return ch in ws


def ndiff(a, b, linejunk=None, charjunk=IS_CHARACTER_JUNK):
    return Differ(linejunk, charjunk).compare(a, b)


def restore(delta, which):
    try:
        tag = {1: "- ", 2: "+ "}[int(which)]
    except KeyError:
        raise ValueError(f"unknown delta choice (must be 1 or 2): {which!r}"
                         ) from None
    for line in delta:
        if line[:2] in ("  ", tag):
            yield line[2:]


def _check(a, b, *rest):
    for lines in (a, b):
        if lines and not isinstance(lines[0], str):
            raise TypeError("lines to compare must be str, not "
                            f"{type(lines[0]).__name__} ({lines[0]!r})")
    for x in rest:
        if not isinstance(x, str):
            raise TypeError(f"all arguments must be str, not: {x!r}")


def _range(start, stop, context):
    begin, length = start + 1, stop - start
    if context:
        if not length:
            begin -= 1
        return str(begin) if length <= 1 else f"{begin},{begin + length - 1}"
    if length == 1:
        return str(begin)
    return f"{begin - 1 if not length else begin},{length}"


def unified_diff(a, b, fromfile="", tofile="", fromfiledate="", tofiledate="",
                 n=3, lineterm="\n"):
    _check(a, b, fromfile, tofile, fromfiledate, tofiledate, lineterm)
    started = False
    for group in SequenceMatcher(None, a, b).get_grouped_opcodes(n):
        if not started:
            started = True
            fd = f"\t{fromfiledate}" if fromfiledate else ""
            td = f"\t{tofiledate}" if tofiledate else ""
            yield f"--- {fromfile}{fd}{lineterm}"
            yield f"+++ {tofile}{td}{lineterm}"
        first, last = group[0], group[-1]
        yield (f"@@ -{_range(first[1], last[2], False)} "
               f"+{_range(first[3], last[4], False)} @@{lineterm}")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                for line in a[i1:i2]:
                    yield " " + line
                continue
            if tag in ("replace", "delete"):
                for line in a[i1:i2]:
                    yield "-" + line
            if tag in ("replace", "insert"):
                for line in b[j1:j2]:
                    yield "+" + line


def context_diff(a, b, fromfile="", tofile="", fromfiledate="", tofiledate="",
                 n=3, lineterm="\n"):
    _check(a, b, fromfile, tofile, fromfiledate, tofiledate, lineterm)
    sign = {"insert": "+ ", "delete": "- ", "replace": "! ", "equal": "  "}
    started = False
    for group in SequenceMatcher(None, a, b).get_grouped_opcodes(n):
        if not started:
            started = True
            fd = f"\t{fromfiledate}" if fromfiledate else ""
            td = f"\t{tofiledate}" if tofiledate else ""
            yield f"*** {fromfile}{fd}{lineterm}"
            yield f"--- {tofile}{td}{lineterm}"
        first, last = group[0], group[-1]
        yield "***************" + lineterm
        yield f"*** {_range(first[1], last[2], True)} ****{lineterm}"
        if any(tag in ("replace", "delete") for tag, *_ in group):
            for tag, i1, i2, _, _ in group:
                if tag != "insert":
                    for line in a[i1:i2]:
                        yield sign[tag] + line
        yield f"--- {_range(first[3], last[4], True)} ----{lineterm}"
        if any(tag in ("replace", "insert") for tag, *_ in group):
            for tag, _, _, j1, j2 in group:
                if tag != "delete":
                    for line in b[j1:j2]:
                        yield sign[tag] + line
