# SPDX-License-Identifier: MIT
s = "Hello, World"
print(s.lower(), s.upper(), s.title(), s.swapcase(), s.capitalize(), s[::-1], s[1:-1:2], s[-3:], len(s))
print(s.split(","), s.split(), "a,b,,c".split(","), "a b c".split(" ", 1), "a-b-c".rsplit("-", 1), "l1\nl2\n".splitlines())
print(s.find("o"), s.rfind("o"), s.find("zz"), s.index("W"), s.count("l"), s.replace("l", "L", 1), s.startswith("He"), s.endswith(("x", "ld")))
print("  pad ".strip(), "xxaxx".strip("x"), "xxa".lstrip("x"), "axx".rstrip("x"), "a".ljust(4) + "|", "a".rjust(4), "a".center(5) + "|", "7".zfill(3))
print("abc".isdigit(), "12".isdigit(), "ab".isalpha(), "a1".isalnum(), " ".isspace(), "AB".isupper(), "ab".islower())
print("-".join(str(i) for i in range(3)), "k=v=w".partition("="), "k".partition("="), "a.b.c".rpartition("."))
print("ab" in "cabd", "z" not in "abc", "a" < "b", "ab" * 3, 3 * "x", "a" "b", "prefix_x".removeprefix("prefix_"), "x.py".removesuffix(".py"))
print(ord("a"), chr(98), "".join(reversed("abc")), sorted("bca"), list("ab"), "é".encode("utf-8") == b"\xc3\xa9", r"\n", """tri
ple""")
for c in "ab": print(c, end=" ")
print("a\tb".expandtabs(4), "%s" % [1], str([1, 'a']), "x".__class__.__name__, "abc"[1], "abc"[-1], max("abc"), min("bca"))
