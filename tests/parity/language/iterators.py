# Iterators: their classes, what they refuse, itertools and operator.
import itertools, operator
for v in [[], (), "a", "é", {}, set(), {}.items(), {}.values(), range(3), b"x"]:
    print(type(iter(v)), iter(v).__class__.__name__)
print(type(zip()), type(map(str, [])), isinstance(zip(), zip), type(reversed([])), type(reversed((1,))))
print(list(itertools.islice(itertools.count(3, 2), 4)), itertools.count(1), itertools.repeat(2, 3))
print([(k, list(g)) for k, g in itertools.groupby("aabbb")])
print(list(itertools.permutations([1,2,3], 2)), list(itertools.product("ab", [1,2])), list(itertools.combinations("abc", 2)), list(itertools.combinations_with_replacement("ab", 2)))
a, b = itertools.tee([1,2,3])
print(list(a), list(b), list(itertools.zip_longest("ab", [1], fillvalue=0)))
print(list(itertools.accumulate([1,2,3])), list(itertools.chain("ab", [1])), list(itertools.chain.from_iterable(["ab", "c"])))
def f(): yield 1
print(str(f())[:20], operator.length_hint(iter([1,2])), operator.itemgetter(1, 0)("ab"))
for e in ["len()", "len(1,2)", "isinstance(1)", "abs()", "sorted()", "sum('a')", "sum(['a'], '')", "map(str)", "iter(1)", "next([])", "chr()", "bool(1,2)", "hash(a=1)", "zip(1)", "list(itertools.chain(1))", "itertools.count('a')"]:
    try: print(eval(e))
    except Exception as x: print(type(x).__name__, x)
