# SPDX-License-Identifier: MIT
# Boxes and texts derived from, and what they do with each other.
from collections import UserDict, UserList, UserString
import copy
def t(f):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__, e)
class D(UserDict):
    def __missing__(self, k): return k * 2
class L(UserList): pass
class S(UserString): pass
d=D(a=1); t(lambda: d["b"]); t(lambda: d|{"c":2}); t(lambda: {"c":3}|d); t(lambda: d|3); t(lambda: d=={"a":1}); t(lambda: d==D(a=1)); t(lambda: d!=3); t(lambda: d.pop("z",9)); t(lambda: d.pop("z")); t(lambda: d.popitem()); t(lambda: d.popitem()); t(lambda: D({"x":1}).copy()); t(lambda: copy.copy(D({"x":1}))); t(lambda: D.fromkeys("ab",1)); t(lambda: type(D.fromkeys("ab"))); t(lambda: D([("q",1)],r=2)); t(lambda: UserDict()["k"])
d=D(a=1); d|=D(b=2); t(lambda: d); t(lambda: list(d.items())); t(lambda: len(d)); t(lambda: "a" in d)
l=L([1,2,3]); t(lambda: l[1:]); t(lambda: type(l[1:])); t(lambda: l+[4]); t(lambda: [0]+l); t(lambda: l+L([5])); t(lambda: l+(6,)); t(lambda: l*2); t(lambda: 2*l); t(lambda: l<[2]); t(lambda: l>=L([1])); t(lambda: l==[1,2,3]); t(lambda: l=="x"); t(lambda: l.index(2)); t(lambda: l.count(3)); t(lambda: l.pop()); t(lambda: l.append(9)); t(lambda: l.sort(reverse=True)); t(lambda: l); t(lambda: list(reversed(l))); t(lambda: l.copy()); t(lambda: copy.copy(l)); t(lambda: l.extend(L([1]))); t(lambda: l); t(lambda: l.remove(77)); t(lambda: 9 in l); t(lambda: l<3)
l+=(7,); t(lambda: l); l*=2; t(lambda: l); t(lambda: len(l)); t(lambda: l[100])
s=S("ab c"); t(lambda: s.upper()); t(lambda: type(s.upper())); t(lambda: s+"d"); t(lambda: "d"+s); t(lambda: s+S("e")); t(lambda: s+3); t(lambda: s*2); t(lambda: 2*s); t(lambda: s[1]); t(lambda: type(s[1])); t(lambda: s=="ab c"); t(lambda: s<S("b")); t(lambda: "b" in s); t(lambda: S("b") in s); t(lambda: S("%s!")%"x"); t(lambda: "%s"%s); t(lambda: s.split()); t(lambda: s.join(["1",'2'])); t(lambda: int(S("12"))); t(lambda: float(S("1.5"))); t(lambda: complex(S("1j"))); t(lambda: hash(s)==hash("ab c")); t(lambda: S(5)); t(lambda: S(s)); t(lambda: list(s)); t(lambda: s.encode()); t(lambda: s.replace(S("a"),"z")); t(lambda: s.find(S("c"))); t(lambda: len(s)); t(lambda: s<3); t(lambda: {s:1}["ab c"]); t(lambda: copy.copy(s))
class A:
    def __rmod__(self, o): return "R"
    def __str__(self): return "S"
print("%s" % A())
