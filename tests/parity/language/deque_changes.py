# Which changes of a deque end a loop over it.
from collections import deque
def go(what, f, n=4, m=None):
    d = deque(range(n), m)
    out = []
    try:
        for x in d:
            out.append(x)
            f(d)
            if len(out) > 8: break
    except RuntimeError as e:
        out.append(str(e))
    print(what, out, d)
go("extend []", lambda d: d.extend([]))
go("extendleft []", lambda d: d.extendleft(()))
go("+= []", lambda d: d.__iadd__([]))
go("+= [1]", lambda d: d.__iadd__([1]))
go("extend 1", lambda d: d.extend([1]))
go("rotate 0", lambda d: d.rotate(0))
go("rotate 4", lambda d: d.rotate(4))
go("rotate of one", lambda d: d.rotate(1), 1)
go("set", lambda d: d.__setitem__(0, 9))
go("del", lambda d: d.__delitem__(0))
go("reverse", lambda d: d.reverse())
go("imul 1", lambda d: d.__imul__(1))
go("imul 2", lambda d: d.__imul__(2))
go("full append", lambda d: d.append(7), 4, 4)
go("full extend", lambda d: d.extend([7]), 4, 4)
go("full appendleft", lambda d: d.appendleft(7), 4, 4)
go("none append", lambda d: d.append(7), 0, 0)
go("copy", lambda d: d.copy())
go("clear", lambda d: d.clear())
def rem(d):
    try: d.remove(99)
    except ValueError: pass
go("remove none", rem)
def ins(d):
    try: d.insert(0, 1)
    except IndexError: pass
go("insert full", ins, 4, 4)
def index(d):
    d.index(1); d.count(2)
go("index", index)
