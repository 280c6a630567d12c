# SPDX-License-Identifier: MIT
# tb_next and tb_lineno from where an error was caught; format_map of any mapping.
import sys
def inner(x):
    return 1 / x
def middle(x):
    y = inner(x)
    return y
def catch():
    try:
        middle(0)
    except ZeroDivisionError as e:
        return e
e = catch()
tb, out = e.__traceback__, []
while tb is not None:
    out.append((tb.tb_lineno, tb.tb_frame.f_code.co_name))
    tb = tb.tb_next
print(out)
try:
    middle(0)
except ZeroDivisionError:
    kind, value, tb = sys.exc_info()
    print(kind.__name__, tb.tb_lineno, tb.tb_next.tb_next.tb_lineno, tb.tb_next.tb_next.tb_next)
try:
    raise ValueError("v")
except ValueError as e:
    print(e.__traceback__.tb_lineno, e.__traceback__.tb_next)
class Missing(dict):
    def __missing__(self, k):
        return f"<{k}>"
class Any:
    def __getitem__(self, k):
        return k.upper()
print("{a} {b}".format_map(Missing(a=False)), "{x} {y!r}".format_map(Any()), "{k}".format_map({"k": None}))
try:
    "{a}".format_map({})
except KeyError as e:
    print(repr(e))
