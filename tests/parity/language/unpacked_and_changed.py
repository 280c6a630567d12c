# SPDX-License-Identifier: MIT
# What cannot be unpacked, and a program's own __iadd__ and the like on classes
# below list, dict and set.
class C(int): pass
class L(list):
    def __iadd__(s, o): print("iadd", o); return s
class L2(list): pass
class D(dict):
    def __ior__(s, o): print("ior"); return s
class S(set):
    def __ior__(s, o): print("ior"); return s
    def __iand__(s, o): print("iand"); return s
class E(Exception): pass
def u1(): a, *b = 5
def u2(): a, b = C(3)
def u3(): a, *b = C(3)
def u4():
    for i, *z in range(3): pass
def u5():
    for i, j in [1]: pass
def u6(): (a, [b, *c]) = 1, 2
def u7(): [a] = None
def u8(): a, b = E()
def u9(): a, b = lambda: 1
def u10(): a, b = int
def u11(): [x for x, y in [3]]
def u12(): {k: v for k, *v in [True]}
def u13(): a, b = 1.5
def u14(): a, b = 10**30
def u15(): a = L(); a += 3; a += [1]; print(a)
def u16(): a = D(); a |= {1: 2}; print(a); b = S(); b |= {1}; b &= {2}; print(b)
def u17(): a = L2([1]); b = a; a += (2,); print(a, type(a), a is b)
def u18(): L2([1])[5]
def u19(): L2([1])[5] = 1
def u20(): del L2([1])[5]
def u21(): del C(1)[0]
def u22(): del E()[0]
def u24(): a = [1]; a *= "x"
def u25(): a = (1,); a *= 2; print(a); a += [1]
def u26(): a = 1; a += "x"
def u27(): a = [1]; a += 5
def u29(): a, b = {1, 2, 3}
def u30(): a, b, *c = "x"
for f in [v for k, v in sorted(globals().items()) if k[0] == "u" and k[1:].isdigit()]:
    try: print(f.__name__, f())
    except Exception as e: print(f.__name__, type(e).__name__, e)
