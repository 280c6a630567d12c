# SPDX-License-Identifier: MIT
# The annotations of a class: one dict, which may be changed or set anew.
from __future__ import annotations
import dataclasses
from typing import get_type_hints


class A:
    x: int = 3
    z: "list[str]"


print(A.__annotations__, get_type_hints(A), A.__annotations__ is A.__annotations__)
A.__annotations__["y"] = str
A.__annotations__["w"] = "float"
del A.__annotations__["z"]
print(A.__annotations__, get_type_hints(A))


class B(A):
    z: float


print(B.__annotations__, get_type_hints(B))
print([[n for n in dir(c) if "note" in n] for c in (A, B)],
      [[k for k in vars(c) if "note" in k] for c in (A, B)])
A.__annotations__ = {"q": "A"}
print(A.__annotations__, get_type_hints(A), list(get_type_hints(B)))
C = type("C", (), {"__annotations__": {"k": int}})
print(C.__annotations__, get_type_hints(C))
D = dataclasses.make_dataclass("D", [("a", int), ("b", "str")])
print(D.__annotations__)


def f(x: int, y: A = None) -> "B":
    return x


print(f.__annotations__, get_type_hints(f))
f.__annotations__["x"] = "str"
print(f.__annotations__, get_type_hints(f)["x"])
f.__annotations__ = {"y": A}
print(f.__annotations__, get_type_hints(f))
