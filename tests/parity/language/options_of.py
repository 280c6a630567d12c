# SPDX-License-Identifier: MIT
# argparse: actions of the program, the rest of a line, the version; logging:
# records, adapters and what handlers are shown as.
import argparse
import logging
import sys


class Pairs(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        held = getattr(namespace, self.dest) or {}
        for v in values:
            key, equals, value = v.partition("=")
            if not equals:
                parser.error(f"{option_string}: {v} is no pair")
            held[key] = value
        setattr(namespace, self.dest, held)


class Scaled(argparse.Action):
    def __init__(self, option_strings, dest, factor=1, **kw):
        super().__init__(option_strings, dest, **kw)
        self.factor = factor

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, values * self.factor)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        print("error:", message)
        raise SystemExit(2)


p = Parser(prog="run")
p.add_argument("--version", action="version", version="%(prog)s 1.0")
p.add_argument("--set", action=Pairs, nargs="+", metavar="K=V", help="pairs")
p.add_argument("--lr", action=Scaled, type=float, factor=10, default=0.5)
p.add_argument("script")
p.add_argument("rest", nargs=argparse.REMAINDER)
p.print_help()
print(p.parse_args(["--set", "a=1", "b=2", "--lr", "2", "x.py", "-v", "--y"]))
print(p.parse_args(["x.py"]))
for bad in (["--set", "a", "--", "x"], ["--lr", "x", "s"], ["--version"]):
    try:
        p.parse_args(bad)
    except SystemExit as e:
        print(e.code)

logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message)s")
root = logging.getLogger()
print(root, root.handlers, logging.NullHandler(), logging.INFO)


class Ranked(logging.LoggerAdapter):
    def process(self, msg, kw):
        return f"[{self.extra['rank']}] {msg}", kw


Ranked(root, {"rank": 3}).warning("hello %d", 4)
r = logging.LogRecord("n", logging.INFO, "a/p.py", 3, "m %d", (1,), None, "f")
print(r, r.getMessage(), r.filename, r.module, r.funcName, r.lineno)
print(logging.makeLogRecord({"msg": "x", "name": "y"}).getMessage())
try:
    root.warning("x", extra={"message": 1})
except KeyError as e:
    print(e)
# A command's own place does not widen the column of what helps.
short = argparse.ArgumentParser(prog="t", add_help=False); commands = short.add_subparsers(dest="c", metavar="CMD")
commands.add_parser("train", help="run"); commands.add_parser("e", help="rate"); short.print_help()
