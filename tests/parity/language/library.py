# Modules of Python's library that are texts here.
import heapq, bisect, statistics, textwrap, string, base64, struct, fractions, queue, numbers, keyword, fnmatch, types, collections, contextvars
h = [5,1,4]; heapq.heapify(h); print(h, heapq.heappop(h), heapq.heappushpop(h, 0), h, heapq.nlargest(2, [3,1,2]), list(heapq.merge([1,4],[2,3])))
print(bisect.bisect([1,2,2,3], 2), bisect.bisect_left([1,2,2,3], 2))
print(statistics.mean([1,2,3,4]), statistics.mean([1,2]), statistics.stdev([1.5,2.5,4]), statistics.variance([1,2,3,4]), statistics.median([1,3,2,4]), statistics.mode("aab"), statistics.pstdev([1,2,3,4]), statistics.fmean([1,2]), statistics.quantiles(range(1,10)), statistics.stdev([0.1,0.2,0.30000001]), statistics.harmonic_mean([2,3]))
print(textwrap.fill("The quick brown fox jumps over the lazy dog and runs-away from a very-long-hyphenated word.", 20))
print(textwrap.dedent("""
    a
      b
    c
"""), textwrap.indent("a\nb\n\nc", "> "), textwrap.shorten("hello big wide world", 12))
t = string.Template("$a is ${b}s and $$5"); print(t.substitute(a=1, b="x"), t.safe_substitute(a=2))
print(base64.b64encode(b"hello world"), base64.b64decode("aGVsbG8gd29ybGQ="), base64.urlsafe_b64encode(b"\xff\xfe\xfd"))
print(struct.pack("<IhB", 1, -2, 3), struct.unpack(">d", struct.pack(">d", 1.5)), struct.calcsize("bi"), struct.pack("5s", b"ab"), struct.unpack("<Q", b"\xff"*8))
F = fractions.Fraction
print(F(1,3)+F(1,6), F("3.25"), F(0.5), F(1,3)*2, 2-F(1,2), F(7,2)//1, round(F(7,2)), float(F(1,3)), F(1,2)==0.5, F(3,4)<1, hash(F(1,2))==hash(0.5), repr(F(-1,2)), F(1,2)**2, F(2)**-1, sum([F(1,2),F(1,3)]), F.from_float(0.25), F(3.14159).limit_denominator(100))
print(isinstance(3, numbers.Integral), isinstance(3.0, numbers.Real), isinstance(True, numbers.Number), isinstance("a", numbers.Number), isinstance(3.0, numbers.Integral), isinstance(F(1), numbers.Rational))
q = queue.Queue(); q.put(1); q.put(2); print(q.get(), q.qsize())
try: queue.Queue().get_nowait()
except queue.Empty: print("empty")
print(keyword.iskeyword("for"), fnmatch.fnmatch("a.py", "*.py"), fnmatch.filter(["a1","b2"], "a?"))
ns = types.SimpleNamespace(a=1); print(ns); C = types.new_class("C", (), {}, lambda d: d.update(x=3)); print(C.x, C.__name__)
m = types.MappingProxyType({"a": 1}); print(m, m["a"])
def gg(): yield 1
print(isinstance(gg(), types.GeneratorType), isinstance(gg, types.FunctionType), isinstance(lambda: 1, types.LambdaType))
print(collections.UserString("abc").upper() + "x", collections.UserList([1,2]) + [3], collections.UserDict(a=1))
v = contextvars.ContextVar("v", default=3); print(v.get()); tk = v.set(5); print(v.get()); v.reset(tk); print(v.get())
try: struct.pack("B", 300)
except struct.error as e: print("struct.error", e)
from abc import ABC, abstractmethod
class Sh(ABC):
    @abstractmethod
    def area(self): ...
    @classmethod
    def __subclasshook__(cls, other):
        return True if hasattr(other, "area2") else NotImplemented
class Q:
    area2 = 1
print(isinstance(Q(), Sh), issubclass(Q, Sh), isinstance(3, Sh)); Sh.register(int); print(isinstance(3, Sh), issubclass(int, Sh))
