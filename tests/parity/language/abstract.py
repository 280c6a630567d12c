"""The abstract classes of collections, by their methods, their names as bases
and the classes of data; copies of UserDict, Counters with zeros."""
import collections.abc as c
names = "Callable Collection Container Generator Hashable Iterable Iterator Reversible Sized Sequence MutableSequence Set MutableSet Mapping MutableMapping KeysView ItemsView ValuesView ByteString".split()
def gen(): yield 1
class A:
    def __iter__(self): return iter([])
    def __len__(self): return 0
    def __contains__(self, x): return False
class B:
    __hash__ = None
vals = {"int":1,"float":1.0,"str":"a","bytes":b"a","bytearray":bytearray(b"a"),"list":[],"tuple":(),"dict":{},"set":set(),"frozenset":frozenset(),"range":range(2),"gen":gen(),"iter":iter([]),"zip":zip(),"map":map(str,[]),"fn":gen,"cls":A,"A":A(),"B":B(),"None":None,"keys":{}.keys(),"values":{}.values(),"items":{}.items(),"deque":__import__("collections").deque(),"odict":__import__("collections").OrderedDict(),"exc":ValueError(),"mod":c,"len":len,"complex":1j,"slice":slice(1),"tupiter":iter((1,)),"rev":reversed([1])}
for k, v in vals.items():
    print(k, [n for n in names if isinstance(v, getattr(c, n))])
for t in (int,str,bytes,list,tuple,dict,set,frozenset,range,A,B):
    print(t.__name__, [n for n in names if issubclass(t, getattr(c, n))])


class S(c.Sequence):
    def __len__(self):
        return 2

    def __getitem__(self, i):
        return [5, 6][i]


class H:
    __hash__ = None


s = S()
print(isinstance(s, c.Sequence), isinstance(s, c.Iterable),
      isinstance(s, c.Mapping), issubclass(S, c.Collection))
print(isinstance(H(), c.Hashable), issubclass(H, c.Hashable),
      isinstance(H, c.Hashable))
import collections, copy
u = collections.UserDict(a=1)
v = copy.copy(u)
v["a"] = 2
print(u, v)
a = collections.Counter("aab")
print(a == collections.Counter({"a": 2, "b": 1, "c": 0}),
      a == collections.Counter("ab"))
p = collections.namedtuple("P", "x y")(1, 2)
try:
    p.x = 5
except AttributeError as e:
    print(e)
