# SPDX-License-Identifier: MIT
# Pickles in files on the disk, byte by byte as Python writes them, and its own read.
import pickle, io, os, sys, collections, dataclasses, enum, datetime, pathlib, decimal, fractions, tempfile
@dataclasses.dataclass
class D:
    x: int
    y: list = None
class C:
    def __init__(self): self.a = 1; self._c = 2
    def __getstate__(self): return {"a": self.a}
    def __setstate__(self, d): self.__dict__.update(d); self._c = "restored"
class S:
    __slots__ = ("q",)
class L(list): pass
class M(dict):
    pass
class T:
    def __init__(self, k): self.k = k
    def __reduce__(self): return (T, (self.k + "!",))
class E(enum.Enum): A = 1
N = collections.namedtuple("N", "a b")
def fn(): return 7
m = M(a=1); m.extra = 5
l = L([1, 2])
shared = [1, 2]
objs = [None, True, 0, 255, 256, 70000, -1, -129, 1 << 31, -(1 << 31), 1 << 70, -(1 << 63), 1.5, float("inf"), "", "é" * 200, "x", b"", b"\0\xff", bytearray(b"ba"), (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [], [1], list(range(2500)), {}, {"a": 1}, {"stoi": {c: i for i, c in enumerate("abc")}, "itos": {0: "a"}, "vocab_size": 3}, {1}, set(), frozenset([2]), 1j, range(3), D(1, [2]), C(), l, m, T("k"), E.A, N(1, "b"), collections.OrderedDict(b=1, a=2), collections.defaultdict(list, a=[1]), collections.Counter("aab"), collections.deque([1, 2], 5), datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 3, 4, 5, 6), datetime.timedelta(days=1, seconds=5), pathlib.Path("a/b"), decimal.Decimal("1.50"), fractions.Fraction(1, 3), fn, D, len, int, [shared, shared], ValueError("v", 1), {"n": {"m": [(), {}]}}, [True, False, None]]
with tempfile.TemporaryDirectory() as d:
    p = os.path.join(d, "o.pkl")
    with open(p, "wb") as f:
        for o in objs: pickle.dump(o, f)
    with open(p, "rb") as f:
        for o in objs:
            b = pickle.load(f)
            print(type(b).__name__, getattr(b, "__dict__", None) if type(b) in (C, M, T) else "", repr(b)[:60] if type(b) not in (C, T) and b not in (fn, len) else b is o, b == o if type(b) not in (C, T, ValueError) else "")
        try: pickle.load(f)
        except EOFError as e: print("EOF", e)
    s = S(); s.q = 3
    l = [1]; l.append(l); dd = {}; dd["me"] = dd; t = ([],); t[0].append(t)
    with open(p, "wb") as f:
        pickle.dump(s, f); pickle.dump(l, f); pickle.dump(dd, f); pickle.dump(t, f); pickle.dump({"a": shared, "b": shared}, f)
    with open(p, "rb") as f:
        print(pickle.load(f).q, (lambda x: x[1] is x)(pickle.load(f)), (lambda x: x["me"] is x)(pickle.load(f)), (lambda x: x[0][0] is x)(pickle.load(f)), (lambda x: x["a"] is x["b"])(pickle.load(f)))
    for o in (D(1, [2, "é"]), {"stoi": {"a": 0, "b": 1}, "vocab_size": 65}, [1, "a", "a", (1.5, None)], N(1, 2), collections.OrderedDict(a=1), -129, 1 << 40, E.A):
        with open(p, "wb") as f: pickle.dump(o, f, protocol=4)
        print(open(p, "rb").read())
    for bad in (lambda: 0, (i for i in [])):
        try:
            with open(p, "wb") as f: pickle.dump(bad, f)
            print("fine")
        except Exception as e: print(type(e).__name__, str(e).split(" at 0x")[0])
for data in (b"\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01K\x01u.", b"(dp0\nVa\np1\nI1\nsVb\np2\n(lp3\nI2\naF1.5\nas.", b"V\\u00e9x\n.", b"(I7\ni__main__\nD\n.", b"\x80\x03c__main__\nD\nq\x00)\x81q\x01}q\x02(X\x01\x00\x00\x00xq\x03K\x05X\x01\x00\x00\x00yq\x04Nub.", b"\x80\x02c_codecs\nencode\nq\x00X\x02\x00\x00\x00\xc3\xbfq\x01X\x06\x00\x00\x00latin1q\x02\x86q\x03Rq\x04.", b"\x80\x04\x95"):
    try: print(pickle.loads(data))
    except Exception as e: print(type(e).__name__, e)
for bad in (3, None):
    try: pickle.dump(1, bad)
    except TypeError as e: print(e)
    try: pickle.load(bad)
    except TypeError as e: print(e)
