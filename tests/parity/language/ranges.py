# Ranges of any size.
r = range(2, 20, 3)
print(r, len(r), list(r), r[1], r[-1], r[1:3], r[::-1], 5 in r, 6 in r, r.index(8), r.count(8), r.start, r.stop, r.step)
print(range(10**30), range(10**30, 10**30+3)[1] if False else list(range(10**30, 10**30+3)), range(5) == range(0, 5, 1), hash(range(5)) == hash(range(0,5)), range(0) == range(2, 1))
print(type(r), isinstance(r, range), bool(range(0)), list(reversed(r)), sorted(range(3), reverse=True), sum(range(10)), max(range(4)))
print([*range(3)], (*range(2),), dict.fromkeys(range(2)), {1: range(3)}, list(zip(range(3), "abc")))
a, b, *c = range(5); print(a, b, c)
match range(3):
    case [x, y, z]: print("seq", x, y, z)
for e in ["range()", "range(1,2,0)", "range('a')", "range(3)+range(2)", "range(3)[5]", "range(3)<range(2)", "range(3).x", "range(1.5)", "range(3)[0]", "range(3)['a']", "len(range(10**30))", "range(5).index(9)", "range(3)*2", "1.0 in range(3)", "'a' in range(3)", "range(3)[1:]", "[1,2]+range(2)", "{range(3)}", "hash(range(3))-hash(range(0,3,1))", "''.join(map(str, range(5)))", "[1,2,3][range(1)]", "range(3) == [0,1,2]", "list(range(5))[::2]"]:
    try: print(eval(e))
    except Exception as x: print(e, type(x).__name__, x)
import copy, random
print(copy.copy(r), copy.deepcopy([r]))
random.seed(1); print(random.sample(range(1000), 3), random.choice(range(10)))
l=[1,2,3]; l[1:2] = range(3); print(l); l.extend(range(2)); print(l); l += range(2); print(l)
