# SPDX-License-Identifier: MIT
import argparse, sys
def build():
    p = argparse.ArgumentParser(prog="train", description="Train a model.")
    p.add_argument("--lr", type=float, default=1e-3, help="learning rate (default: %(default)s)")
    p.add_argument("--opt", choices=["adam", "sgd"], default="adam")
    p.add_argument("-v", "--verbose", action="count", default=0)
    sub = p.add_subparsers(dest="cmd", required=True, metavar="COMMAND")
    t = sub.add_parser("fit", help="fit it", aliases=["f"])
    t.add_argument("data", nargs="+")
    t.add_argument("--amp", action=argparse.BooleanOptionalAction, default=True)
    t.set_defaults(func=lambda a: print("fit", a.data, a.amp))
    e = sub.add_parser("eval")
    e.add_argument("--ckpt", required=True)
    g = e.add_mutually_exclusive_group()
    g.add_argument("--a", action="store_true")
    g.add_argument("--b", action="store_const", const=5)
    e.set_defaults(func=lambda a: print("eval", a.ckpt, a.a, a.b))
    return p
sys.stderr = sys.stdout
p = build()
for argv in (["fit", "x", "y", "--no-amp"], ["-vv", "--lr", "0.1", "eval", "--ckpt=c", "--b"], ["f", "q"]):
    a = p.parse_args(argv); a.func(a); print(a.lr, a.verbose, a.opt, a.cmd)
p.print_help()
print(p.format_usage())
for bad in (["--lr", "x", "fit", "d"], ["eval"], ["--opt", "foo", "fit", "d"], [], ["eval", "--ckpt", "c", "--a", "--b"], ["fit", "d", "--zz"]):
    try: p.parse_args(bad)
    except SystemExit as e: print("exit", e.code)
a, rest = p.parse_known_args(["fit", "d", "--zz", "3"])
print(rest, vars(a)["data"])
print(argparse.Namespace(a=1, b="x"))
