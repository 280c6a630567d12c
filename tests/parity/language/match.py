# SPDX-License-Identifier: MIT
def m(x):
    match x:
        case 0: return "zero"
        case 1 | 2: return "small"
        case -1: return "neg"
        case "hi": return "str hi"
        case None: return "none"
        case True: return "true"
        case [a, b]: return f"pair {a} {b}"
        case [a, *rest]: return f"list {a} {rest}"
        case {"k": v, **rest}: return f"dict {v} {rest}"
        case int(n) if n > 100: return f"big {n}"
        case int(): return "int"
        case str() as s: return f"str {s}"
        case float(f): return f"float {f}"
        case _: return "other"
for x in [0, 1, 2, -1, "hi", None, True, (1, 2), [1,2,3], [5], {"k": 1, "z": 2}, 200, 50, "abc", 1.5, {}, object]:
    print(m(x))
class P:
    __match_args__ = ("x", "y")
    def __init__(self, x, y): self.x, self.y = x, y
def q(p):
    match p:
        case P(0, 0): return "origin"
        case P(x=0, y=yy): return f"y {yy}"
        case P(x, y) if x == y: return f"diag {x}"
        case P(): return "P"
        case [P(a, b), P(c, d)]: return (a,b,c,d)
        case {"a": [1, {"b": c}]}: return c
        case (1, _) | (_, 1): return "one"
for p in [P(0,0), P(0,3), P(2,2), P(1,2), [P(1,2),P(3,4)], {"a":[1,{"b":9}]}, (1,5), (5,1), 7]:
    print(q(p))
match = 5
print(match)
case = [1]
print(case[0])
import enum
class Color(enum.Enum):
    RED = 1
    BLUE = 2
def c(x):
    match x:
        case Color.RED: return "r"
        case Color.BLUE: return "b"
print(c(Color.RED), c(Color.BLUE), c(1))
match (1, 2):
    case (x, y):
        print(x + y)
match 1, 2:
    case 1, z:
        print(z)
