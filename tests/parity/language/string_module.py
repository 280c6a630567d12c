# SPDX-License-Identifier: MIT
# string: Formatter and what a class below it changes; templates with other
# delimiters and names.
import string
f = string.Formatter()
print(f.format("{0} {a:>4} {1!r} {} ".replace("{} ", ""), 1, "x", a=2), f.format("{} {:{}} {{}} {x.real} {y[0]} {y[k]}".replace(" {y[k]}", ""), 1, 2, 5, x=3, y=[7]))
for bad in ("{", "}", "{0} {}", "{} {0}", "{a", "{!x}", "{0[}", "{0[]}", "{a!rr}", "{b}", "{5}"):
    try: print(bad, f.format(bad, 1, 2, a=3))
    except Exception as e: print(bad, type(e).__name__, e)
class D(string.Formatter):
    def get_value(self, k, a, kw): return kw.get(k, "{" + k + "}") if isinstance(k, str) else a[k]
    def check_unused_args(self, used, args, kwargs): print(sorted(map(str, used)), args, kwargs)
    def convert_field(self, v, c): return v.upper() if c == "u" else super().convert_field(v, c)
print(D().format("{a} {zz} {0!u}", "q", a=1), list(f.parse("a{b!r:>{w}}c{{d}}")))
T = string.Template
print(T("$a ${b} $$ $c_d").substitute(a=1, b=2, c_d=3), T("$x $y ${z").safe_substitute(x=1), T("$a $1").is_valid(), T("$a ${b} $a").get_identifiers(), T("$a").template)
for bad in ("$", "a\n $ b", "${", "$1"):
    try: print(T(bad).substitute(a=1))
    except Exception as e: print(type(e).__name__, e)
try: T("$q").substitute({"a": 1}, b=2)
except KeyError as e: print("KeyError", e)
class P(T): delimiter = "%"; idpattern = "[a-z]+"
print(P("%a %% $a %A").safe_substitute(a=1), P("%ab").substitute({"ab": "x"}))
class B(T): braceidpattern = "[a-z0-9]+"
print(B("${1a} $b").substitute({"1a": 5, "b": 6}))
print(string.capwords("hello big  world"), string.capwords("a-b", "-"))
