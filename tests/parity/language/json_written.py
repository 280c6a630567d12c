# SPDX-License-Identifier: MIT
# json.dumps: separators, indents, keys left out, classes below the types, what
# is refused.
import json, collections, enum
class E(str, enum.Enum): A = "a"
class Sub(dict):
    def items(self): return [("z", 1)]
class L(list): pass
d = {1: 1, "b": [], None: {}, True: (1, 2), 2.5: "x", E.A: E.A}
for kw in ({}, {"indent": 2}, {"indent": 0}, {"separators": (",", ":")}, {"indent": "--", "separators": (" ;", "=")}, {"skipkeys": True}, {"ensure_ascii": False, "indent": 1}):
    print(json.dumps({**d, (1,): 2} if kw.get("skipkeys") else d, **kw))
    print(json.dumps({(1,): 2, "k": 1, (2,): 3, "l": 2, (3,): 1}, **{**kw, "skipkeys": True}), json.dumps({(1,): 2}, **{**kw, "skipkeys": True}))
print(json.dumps({"b": 1, "a": 2, "é": 3}, sort_keys=True), json.dumps(Sub(a=1)), json.dumps(L([1, L()])), json.dumps("\x7f\x1f\u2028é\U0001f600\\/\"'"), json.dumps("\x7f\x1f\u2028é\U0001f600\\/\"'", ensure_ascii=False))
for f in (lambda: json.dumps({1: 1, "a": 2}, sort_keys=True), lambda: json.dumps({1, 2}), lambda: json.dumps(collections.deque()), lambda: json.dumps({}.keys()), lambda: json.dumps([1j]), lambda: json.dumps(range(2)), lambda: json.dumps(b"x"), lambda: json.dumps({b"x": 1}), lambda: json.dumps([json]), lambda: json.dumps(json.dumps)):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
class Enc(json.JSONEncoder):
    item_separator = ";"
    def default(self, o): return {"set": list(o)} if isinstance(o, set) else json.JSONEncoder.default(self, o)
    def encode(self, o): return "<" + super().encode(o) + ">"
print(json.dumps([{1}, "x", 1], cls=Enc), Enc(indent=1).encode([1]), "".join(json.JSONEncoder().iterencode([1, {"a": 2}])))
x = []; x.append({"x": x})
for kw in ({}, ):
    try: json.dumps(x, **kw)
    except ValueError as e: print(e)
n = []
for _ in range(5000): n = [n]
try: json.dumps(n)
except RecursionError as e: print("deep")
print(json.dumps([1e16, 1e15, 1e-7, 123456789.123, -0.0, 10**30, 2**63, True]), json.dumps(x for x in ()) if 0 else "")
