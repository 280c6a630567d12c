# SPDX-License-Identifier: MIT
# Command lines as argparse reads them.
import argparse
import sys


class Silent:
    def write(self, text):
        pass



def show(parser, *args):
    out, sys.stderr = sys.stderr, Silent()
    try:
        print(args, parser.parse_args(list(args)))
    except SystemExit as e:
        print(args, "exit", e.code)
    sys.stderr = out

p = argparse.ArgumentParser(prog="prog", description="what", formatter_class=argparse.RawTextHelpFormatter)
p.add_argument("path")
p.add_argument("more", nargs="*", type=int)
p.add_argument("-v", "--verbose", action="count", default=0)
p.add_argument("--lr", type=float, default=1e-3, help="rate (default: %(default)s)")
p.add_argument("--mode", choices=["a", "b"], default="a")
p.add_argument("--sizes", nargs="+", type=int, metavar="N")
p.add_argument("-x", action="store_const", const=5)
p.add_argument("--flag", action=argparse.BooleanOptionalAction, default=True)
p.add_argument("--tag", action="append")
p.add_argument("--n-layers", dest="layers", type=int, default="3")
p.add_argument("--off", action="store_false")
p.add_argument("--opt", nargs="?", const="c", default="d")
show(p, "f")
show(p, "f", "1", "2", "-vv", "--lr=0.5", "--mode", "b", "--sizes", "1", "2", "--tag", "a", "--tag=b")
show(p, "f", "-x", "--no-flag", "--off", "--opt", "--n-l", "7", "-3")
show(p, "f", "--opt", "z", "--", "-5")
show(p, "f", "--mode", "c")
show(p, "f", "--lr", "fast")
show(p, "f", "--lr")
show(p, "f", "--unknown", "1")
show(p, "f", "x")
print(p.parse_known_args(["f", "--who", "-v"]))
print(vars(p.parse_args(["f"]))["layers"], p.parse_args(["f"]) == p.parse_args(["f"]), "lr" in p.parse_args(["f"]))
q = argparse.ArgumentParser(prog="q")
g = q.add_mutually_exclusive_group(required=True)
g.add_argument("--one", action="store_true")
g.add_argument("--two", type=int)
h = q.add_argument_group("others")
h.add_argument("--must", required=True)
show(q, "--one", "--must", "m")
show(q, "--one", "--two", "3", "--must", "m")
show(q, "--must", "m")
show(q, "--one")
s = argparse.ArgumentParser(prog="s")
s.add_argument("--g", type=int, default=0)
sub = s.add_subparsers(dest="command", required=True)
a = sub.add_parser("train", help="t")
a.add_argument("--steps", type=int, default=2)
a.set_defaults(run="train")
sub.add_parser("eval")
show(s, "--g", "4", "train", "--steps", "9")
show(s, "eval")
show(s, "bad")
show(s)
print(p.format_usage())
print(q.format_help())
