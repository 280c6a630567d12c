# SPDX-License-Identifier: MIT
import re
print(re.match(r"(\w+)-(\d+)", "abc-123 x").groups(), re.search("z", "abc"), re.findall(r"\d+", "a1b22c333"), re.findall(r"(\w)=(\d)", "a=1 b=2"))
print(re.sub(r"\s+", " ", "a  b \t c"), re.sub(r"(\w+) (\w+)", r"\2 \1", "hello world"), re.sub("a", lambda m: m.group().upper(), "banana", count=2))
m = re.search(r"layers\.(?P<n>\d+)\.(?P<rest>.*)", "model.layers.12.attn.wq")
print(m.group("n"), m["rest"], m.groupdict(), m.span(), m.start(1), m.end(), m)
p = re.compile(r"^(fc|conv)\d*\.(weight|bias)$", re.I)
for s in ["fc1.weight", "FC2.bias", "conv.weight", "x.fc1.weight", "fc1.weights"]:
    print(s, bool(p.match(s)), bool(p.fullmatch(s)), bool(p.search(s)))
print(re.split(r"[,;]\s*", "a, b;c,d"), re.split(r"(,)", "a,b"), re.escape("a.b*c"), p.pattern)
print([m.group() for m in re.finditer(r"[A-Z][a-z]*", "HelloWorldFoo")], re.sub(r"(?<!^)([A-Z])", r"_\1", "HelloWorldFoo").lower())
print(re.findall(r"a*?b", "aab ab b"), re.findall(r"<.+?>", "<a><b>"), re.findall(r"<.+>", "<a><b>"), re.findall(r"(?:ab)+", "ababxab"), re.findall(r"\bfoo\b", "foo foobar foo"))
print(re.match(r"(a)|b", "b").groups(), re.findall(r"^\w+", "a b\nc d", re.M), re.findall("a.c", "a\nc", re.S), re.match(r"(\w+) \1", "hi hi").group(1), re.findall(r"\d{2,3}", "1 12 123 1234"))
print(re.sub("", "-", "abc"), re.findall("", "ab"), re.split("b", "abc", maxsplit=1), re.findall(r"(?=(\w\w))", "abcd"), re.findall(r"[^\W\d_]+", "ab1_c"))
try: re.compile("(")
except re.error as e: print("err", e)
try: re.compile("*a")
except re.error as e: print("err", e)
print(re.subn("a", "b", "aaa"), re.match("a|ab|abc", "abc").group(), re.fullmatch("a|ab|abc", "abc").group(), re.findall(r"(a+)+$", "aaaa"), re.sub(r"(?i)HELLO", "x", "hello Hello"))
