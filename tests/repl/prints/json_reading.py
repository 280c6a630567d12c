# SPDX-License-Identifier: MIT
# Values of JSON and the words for texts that are none; modules of classes; long
# texts by index and slice; and what CPython 3.11 printed.
import argparse, json
print(argparse.ArgumentParser, json.JSONDecodeError, json.JSONDecodeError.__module__, ValueError.__module__)
class A: pass
A.__module__ = "foo"
print(A, A.__module__)
class B(Exception): pass
class C: __module__ = "x.y"
print(B, C, A().__module__, C().__module__)
try: json.loads("{")
except json.JSONDecodeError as e: print(type(e), e)
print(json.loads('{"b": [1, 2.5, null, true, "x\\u00e9\\ud83d\\ude00"], "a": {}, "b": 12345678901234567890, "c": NaN, "d": -0, "e": -0.0, "f": 1e400}'))
print(json.loads(' [1, -2, 1E3, "\\u0000"] '), json.loads('"x"'), json.loads("3"), json.loads('{"z":1,"a":2}'))
for t in ["[1,]", "{'a':1}", "", "[1 2]", '{"a" 1}', '"\x01"', "[1]x", "nul", '{"a":1,}', '["\\x"]', "[" , '"abc']:
    try: print(json.loads(t))
    except ValueError as e: print(repr(t), e)

rows = json.loads(json.dumps([{"name": f"p{i}", "n": [i, i / 2]}
                              for i in range(2000)]))
print(len(rows), rows[1999])
text = "abcdefghij" * 20000
print(sum(1 for i in range(len(text)) if text[i] == "c"),
      "".join([text[i:i + 2] for i in range(0, 200000, 2000)])[:20])
wide = "aé" * 300
print(wide[299], wide[-1], wide[1:4], wide[598:], wide[3:1] == "", len(wide[::7]))
print([1, 2, 3][5:], (1, 2, 3)[1:], [1, 2, 3][2:1], [1, 2, 3][-2:], "abc"[7:9])
