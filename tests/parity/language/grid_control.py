# SPDX-License-Identifier: MIT
# How try, loops, with and generators end, in each combination.
import itertools

ENDS = ("fall", "return", "break", "continue", "raise", "other")


def end(how, log, where):
    log.append(where)
    if how == "raise": raise KeyError(where)
    if how == "other": raise ValueError(where)


def run(body, handler, otherwise, final, log):
    for turn in range(2):
        log.append(turn)
        try:
            end(body, log, "body")
            if body == "return": return "body"
            if body == "break": break
            if body == "continue": continue
        except KeyError:
            end(handler, log, "handler")
            if handler == "return": return "handler"
            if handler == "break": break
            if handler == "continue": continue
        else:
            end(otherwise, log, "else")
            if otherwise == "return": return "else"
            if otherwise == "break": break
        finally:
            end(final, log, "final")
            if final == "return": return "final"
            if final == "break": break
            if final == "continue": continue
        log.append("after")
    else:
        log.append("whole")
    return "end"


for body, handler, otherwise, final in itertools.product(ENDS, ENDS, ("fall", "return", "break", "raise"), ENDS):
    log = []
    try:
        got = run(body, handler, otherwise, final, log)
    except Exception as e:
        got = type(e).__name__, str(e), type(e.__context__).__name__, e.__suppress_context__
    print(body[:2], handler[:2], otherwise[:2], final[:2], got, "".join(str(x)[0] for x in log))


class Guard:
    def __init__(self, log, enter, swallow): self.log, self.enter, self.swallow = log, enter, swallow
    def __enter__(self):
        self.log.append("enter")
        if self.enter == "raise": raise KeyError("enter")
        return self.enter
    def __exit__(self, kind, value, trace):
        self.log.append(kind and kind.__name__)
        if self.swallow == "raise": raise OSError("exit")
        return self.swallow


def guarded(log, how, first, second):
    for turn in range(2):
        with Guard(log, 1, first) as a, Guard(log, second, False) as b:
            end(how, log, (a, b))
            if how == "return": return "with"
            if how == "break": break
            if how == "continue": continue
        log.append("after")
    return "end"


for how, first, second in itertools.product(ENDS, (False, True, None, "raise", 0, "yes"), (2, "raise")):
    log = []
    try:
        got = guarded(log, how, first, second)
    except Exception as e:
        got = repr(e), repr(e.__context__)
    print(how, first, second, got, log)


def generate(log):
    got = None
    try:
        while True:
            try:
                got = yield ("got", got)
            except KeyError as e:
                got = "key"
                if e.args == ("stop",): return "done"
            if got == "end": return "ended"
            if got == "raise": raise ValueError("inside")
    finally:
        log.append("final")


STEPS = ("next", "send None", "send 1", "send end", "send raise", "throw KeyError", "throw stop", "throw OSError", "close")
for steps in itertools.product(STEPS, repeat=3):
    log, out = [], []
    g = generate(log)
    for s in steps:
        try:
            if s == "next": r = next(g)
            elif s == "close": r = g.close()
            elif s == "throw KeyError": r = g.throw(KeyError("k"))
            elif s == "throw stop": r = g.throw(KeyError("stop"))
            elif s == "throw OSError": r = g.throw(OSError)
            else: r = g.send({"None": None, "1": 1}.get(s[5:], s[5:]))
        except BaseException as e:
            r = type(e).__name__, str(e), getattr(e, "value", "")
        out.append(r)
    print(*(s.split()[-1][:5] for s in steps), out, log)


def outer(log):
    r = yield from generate(log)
    yield ("outer", r)


for steps in itertools.product(STEPS[1:], repeat=2):
    log, out = [], []
    g = outer(log)
    next(g)
    for s in steps:
        try:
            if s == "close": r = g.close()
            elif s == "throw KeyError": r = g.throw(KeyError("k"))
            elif s == "throw stop": r = g.throw(KeyError("stop"))
            elif s == "throw OSError": r = g.throw(OSError)
            else: r = g.send({"None": None, "1": 1}.get(s[5:], s[5:]))
        except BaseException as e:
            r = type(e).__name__, str(e)
        out.append(r)
    print(*steps, out, log)


def chained(how):
    try:
        try: raise KeyError("first")
        except KeyError as e:
            if how == 0: raise ValueError("second")
            if how == 1: raise ValueError("second") from e
            if how == 2: raise ValueError("second") from None
            if how == 3: raise
            if how == 4: raise e from OSError("why")
            if how == 5: raise ValueError
            if how == 6: raise 5
            if how == 7: raise int
            if how == 8: raise ValueError("s") from 5
    except Exception as e:
        return repr(e), repr(e.__cause__), repr(e.__context__), e.__suppress_context__


for how in range(9): print(chained(how))


def loops(values, start, stop, otherwise):
    seen = []
    n = start
    while n < stop:
        n += 1
        if n in values: continue
        for m in range(n):
            if m == 2: break
            seen.append((n, m))
        else:
            seen.append(n)
            if otherwise: break
    else:
        seen.append("end")
    return seen


for values, start, stop, otherwise in itertools.product(((), (1,), (2, 3)), (0, 2), (0, 3, 4), (False, True)):
    print(loops(values, start, stop, otherwise))
for a, b, c in itertools.product((0, 1, "", "x"), repeat=3):
    print(a and b or c, a or b and c, not a or not b, (a and b) == c, a if b else c, 1 < 2 < 3 if a else 3 > 2 > 2, a == b == c, a != b != c, a is b or c, not (a or b) and c)
