# SPDX-License-Identifier: MIT
# Every method of a text with arguments at and around its bounds.
import itertools

NAMES = {}


def row(name, calls):
    answers = []
    for call in calls:
        try:
            answers.append(repr(call()))
        except Exception as e:
            answers.append(f"{type(e).__name__}: {e}")
    print(name, " ".join(answers))


texts = ["", "a", "ab", "aba", "aaaa", "  a b\t", "\n", "Ab-cD 1e", "é\u0301ß", "x\r\ny\n\nz", "ǆ1", "_9"]
needles = ["", "a", "ab", "aa", "ba", "\n", "é", "zz"]
bounds = [None, 0, 1, 2, 4, 9, -1, -2, -9]

for m in ("find", "rfind", "index", "rindex", "count", "startswith", "endswith"):
    for s in texts[:5] + texts[8:9]:
        for n in needles[:5]:
            row(f"{m} {s!r} {n!r}", [
                lambda i=i, j=j: getattr(s, m)(n, i, j)
                for i, j in itertools.product(bounds, (None, 0, 1, 3, 9, -1, -3))])
for m in ("split", "rsplit"):
    for s in texts:
        for sep in (None, " ", "a", "aa", "\n", ""):
            row(f"{m} {s!r} {sep!r}", [
                lambda k=k: getattr(s, m)(sep, k) for k in (-2, -1, 0, 1, 2, 3, 9)])
for m in ("partition", "rpartition", "removeprefix", "removesuffix"):
    for s in texts:
        row(f"{m} {s!r}", [lambda n=n: getattr(s, m)(n) for n in needles])
for m in ("strip", "lstrip", "rstrip"):
    for s in texts:
        row(f"{m} {s!r}", [lambda n=n: getattr(s, m)(*n) for n in (
            (), (None,), ("",), ("a",), ("ab",), (" \n",), ("za-",))])
for m in ("center", "ljust", "rjust"):
    for s in texts[:6]:
        row(f"{m} {s!r}", [lambda w=w, f=f: getattr(s, m)(w, *f)
                           for w in (-1, 0, 1, 2, 3, 4, 5, 8)
                           for f in ((), ("*",), ("",), ("ab",))])
for s in texts + ["+1", "-", "+", "-12", "--1", "+é"]:
    row(f"zfill {s!r}", [lambda w=w: s.zfill(w) for w in (-1, 0, 1, 2, 3, 4, 6)])
for s in ["\t", "a\tb", "ab\t\tc", "abc\td\n\te", "\r\tx"]:
    row(f"expandtabs {s!r}", [lambda w=w: s.expandtabs(w) for w in (-1, 0, 1, 2, 3, 4, 8)])
for s in texts:
    for a, b in itertools.product(needles[:5], ("", "X", "ab")):
        row(f"replace {s!r} {a!r} {b!r}", [
            lambda k=k: s.replace(a, b, k) for k in (-2, -1, 0, 1, 2, 3, 9)])
    row(f"splitlines {s!r}", [lambda k=k: s.splitlines(k) for k in (False, True)])
for s in texts + ["A", "1", "²", "½", "Ⅷ", "٣", " ", "Aa Bb", "aB", "If", "class", "a b", "1a", "\x00", "\x7f", "\xa0", "ﬁ", "İ", "Σ", "'s", "they're", "x\u2028y"]:
    row(f"facts {s!r}", [getattr(s, m) for m in (
        "isalpha", "isdigit", "isdecimal", "isnumeric", "isalnum", "isspace",
        "isupper", "islower", "istitle", "isidentifier", "isprintable", "isascii",
        "upper", "lower", "title", "capitalize", "swapcase", "casefold")])
for s in texts[:6]:
    row(f"times {s!r}", [lambda k=k: s * k for k in (-1, 0, 1, 2, 3)] + [lambda: s * 1.0, lambda: s + 1, lambda: 1 + s])
    row(f"join {s!r}", [lambda x=x: s.join(x) for x in ([], ["a"], ["a", "b"], "xyz", ("a", ""), [1], ["a", 1])])
    row(f"in {s!r}", [lambda n=n: n in s for n in needles] + [lambda: 1 in s])
    row(f"less {s!r}", [lambda t=t: (s < t, s <= t, s > t, s >= t, s == t, s != t) for t in texts])
row("translate", [
    lambda: "abcab".translate(str.maketrans("ab", "xy")),
    lambda: "abcab".translate(str.maketrans("ab", "xy", "c")),
    lambda: "abcab".translate(str.maketrans({"a": None, "b": "long", 99: 100})),
    lambda: "abc".translate({97: 65, 98: None}),
    lambda: str.maketrans("ab", "x"),
    lambda: str.maketrans("a", "b", 1)])
row("encode", [lambda e=e: "aé\u20ac\U0001f600".encode(*e) for e in (
    (), ("utf-8",), ("ascii", "ignore"), ("ascii", "replace"),
    ("latin-1", "backslashreplace"), ("ascii", "xmlcharrefreplace"), ("nope",))])
row("ord", [lambda x=x: ord(x) for x in ("a", "é", "\U0001f600", "", "ab", b"a", 1)])
row("chr", [lambda x=x: chr(x) for x in (0, 9, 65, 127, 128, 255, 256, 0xffff, 0x10000, 0x10ffff, 0x110000, -1, "a", 1.0)])
row("repr", [lambda x=x: x for x in ("'", '"', "'\"", "\\", "\t\r\n", "\x00\x1f\x7f\x80\xa0\xad", "\u200b\u2028\ufeff", "\U0001f600\U000e0001")])
