# vars() of a type has what its own body defines; dir() what is above it, too.
import collections
for t in (collections.Counter, collections.OrderedDict, collections.defaultdict):
    for n in ("get", "__contains__", "__len__", "copy", "items", "__or__", "clear"):
        print(t.__name__, n, n in vars(t), n in dir(t), n in dir(t()))
class Below(collections.Counter):
    pass
print("get" in vars(Below), "get" in dir(Below), "most_common" in dir(Below()))
print(set(dir(1)) == set(dir(True)), "__and__" in dir(True), "real" in dir(False))
