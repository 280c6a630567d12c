# SPDX-License-Identifier: MIT
# The module re: characters and bytes, groups, flags, templates, and what it
# says of patterns that are wrong; and what CPython 3.11 printed.
import re
print(re.match(r".", "é").group(), re.search(r"\w+", "  naïve café").group(), re.search("é", "naïve é").span())
print(re.sub(r"x*", "-", "abxd"), re.split(r"(,)\s*", "a, b,c"), re.findall(r"(\w)(\d)?", "a1b"))
m = re.match(r"(?P<a>\w+) (?P<b>\w+)?", "hello ")
print(m.groupdict(), m.groups("z"), m.lastgroup, m.lastindex, m.re.pattern, m.pos, m.endpos, m.string, m.regs)
print(type(m), type(m.re), m, m.re, m["a"], m.start("b"))
for bad in ["(", ")", "a**", "[z-a]", "(?P<a", r"\q", "(?<n>a)", "*a", "(?P=x)", "x{2,1}", "(?i", r"(?<=a*)b", "[", "\\", "a(?i)b", "(?P<1a>x)", r"(a)\2", "(?R)", "(*ACCEPT)", "(?z)"]:
    try: re.compile(bad); print(bad, "ok")
    except re.error as e: print(bad, "->", e, e.msg, e.pos)
print(re.compile("a", re.I | re.M), re.I | re.M, re.compile(r"(?im)a").flags, re.IGNORECASE)
print(re.compile(r"""
  (\d+)   # number
  \s* x   # times
""", re.X).findall("3 x4x"))
print(re.sub(r"(?P<w>\w+)", r"<\g<w>>\1\\", "ab cd"), re.subn("a", lambda m: m.group().upper(), "banana", count=2))
print(re.escape("a.b*c [é] -_"), re.fullmatch("a|ab", "ab"), re.match(r"a{,2}b", "aab"), re.findall(r"[\[]a", "[a"), re.findall(r"\bfoo\b", "foo food foo"))
print([x.span() for x in re.finditer(r"a*", "baac")], re.findall(r"$", "a\n"), re.findall(r"(?m)^.", "ab\ncd"), re.match(r"a\Z", "a\n"))
p = re.compile("b"); print(p.search("abab", 2).span(), p.match("ab", 1), p.search("abab", 0, 1), p.groups, p.groupindex, p == re.compile("b"), hash(p) == hash(re.compile("b")))
print(re.search(rb"b+", b"abbc"), re.sub(b"b", b"x", b"abc"), re.split(r"[,;]", "a,b;c", maxsplit=1), re.split(r"x*", "axbc"))
print(re.search(r"(a)|(b)", "b").lastindex, re.match(r"(?:(a)|b)*", "ab").groups(), re.search(r"(?<!x)a", "xaa").span(), re.search(r"(?i:A)b", "ab"), re.search(r"(?>a+)b", "aab"), re.search(r"a++b", "aab"), re.match(r"(a)?(?(1)b|c)", "c"))
print(re.search(r"\u00e9", "café"), re.search(r"\x41", "A"), re.sub(r"\s+", " ", "a \t\n b"), re.search(r"[^\W\d_]+", "1é_a"), re.IGNORECASE | 2)
try: re.sub("(a)", r"\2", "a")
except Exception as e: print(type(e).__name__, e)
try: m.group(7)
except Exception as e: print(type(e).__name__, e)
try: re.match("a", b"a")
except Exception as e: print(type(e).__name__, e)
try: re.match("a", 3)
except Exception as e: print(type(e).__name__, e)
print(re.Pattern, re.Match, isinstance(m, re.Match), isinstance(p, re.Pattern), bool(m))


class Text(str):
    pass


t = Text("a1b22")
print(re.findall(Text(r"\d+"), t), re.search("b", t).string is t, re.sub("1", "", t))
