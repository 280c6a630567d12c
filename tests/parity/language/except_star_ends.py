# SPDX-License-Identifier: MIT
# What a try with except* ends in: one error alone, several, and those that are
# raised again in the shape of the group; and other facts of utility code.
try:
    try: raise ExceptionGroup("a", [ValueError("v")])
    except* ValueError: raise KeyError("new")
except Exception as x: print(repr(x))
try:
    try: raise ExceptionGroup("a", [ValueError("v"), TypeError("t")])
    except* ValueError: raise KeyError("new")
except Exception as x: print(repr(x), repr(x.exceptions[0].__context__))
try:
    try: raise ExceptionGroup("a", [ValueError("v"), TypeError("t")])
    except* ValueError: raise KeyError("new")
    except* TypeError: raise KeyError("new2")
except Exception as x: print(repr(x))
try:
    try: raise ExceptionGroup("a", [ValueError("v"), TypeError("t")])
    except* ValueError: raise
    except* TypeError: raise KeyError("new2")
except Exception as x: print(repr(x))
try:
    try: raise ValueError("n")
    except* ValueError: raise KeyError("new")
except Exception as x: print(repr(x))
import argparse, struct
try:
    import nothing_here
except ImportError as e: print(e.name)
try:
    from os import zzz_no
except ImportError as e: print(e.name)
n = argparse.Namespace(a=1, b=2)
print(n._get_kwargs(), "a" in n, "c" in n, "_get_args" in n)
p = argparse.ArgumentParser(prog="tool")
s = p.add_subparsers(dest="cmd", required=True, title="commands", metavar="CMD")
s.add_parser("train", help="train it")
s.add_parser("eval", help="evaluate")
print(p.format_help())
class KV(argparse.Action):
    def __call__(self, parser, ns, values, option_string=None):
        raise argparse.ArgumentError(self, "expected KEY=VALUE")
q = argparse.ArgumentParser(exit_on_error=False)
q.add_argument("--set", action=KV)
try: q.parse_args(["--set", "x"])
except argparse.ArgumentError as e: print(e)
for x in (0.0, -0.0, 1.5, 65504.0, 6e-8, 2e-8, 1e-5, -3.14159, float("inf"), float("nan"), 2049.0, 2051.0, 0.1):
    b = struct.pack("<e", x)
    print(b, struct.unpack("<e", b), struct.pack(">e", x))
try: struct.pack("e", 65520.0)
except OverflowError as e: print(e)
class A:
    def __float__(self): return float("nan")
print(float(A()))
try: raise ReferenceError("gone")
except ReferenceError as e: print(e, ReferenceError.__mro__[1])


def named_again():
    # `raise e` is an error of its own; a bare raise is not.
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2), KeyError(3)])
    except* ValueError as e:
        raise e
    except* TypeError:
        raise


try:
    named_again()
except ExceptionGroup as e:
    print(e, [(x, x.exceptions) for x in e.exceptions])
