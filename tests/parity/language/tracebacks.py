# SPDX-License-Identifier: MIT
# What an exception came through, as texts.  The marks below the part that
# failed, which CPython has and dtrepl has not, are left out.
import io
import logging
import traceback


def deep(n):
    if n:
        return_value = deep(n - 1)
    raise ValueError("deep")


def outer():
    deep(2)


def shows(text):
    lines = text.replace(__file__, "F").split("\n")
    print("\n".join(line for line in lines if not line.strip() or set(line.strip()) - set("^~")))


try:
    outer()
except ValueError as e:
    shows(traceback.format_exc())
    print([(f.name, f.lineno) for f in traceback.extract_tb(e.__traceback__)])
    print(traceback.format_exception_only(type(e), e), traceback.extract_tb(e.__traceback__, limit=-1)[0].line)


def inner():
    try:
        {}["k"]
    except KeyError as k:
        raise RuntimeError("wrapped") from k


try:
    inner()
except RuntimeError:
    shows(traceback.format_exc())
try:
    try:
        int("x")
    except ValueError:
        [][1]
except IndexError as e:
    shows("".join(traceback.format_exception(e)))


def gen():
    yield 1
    raise KeyError("in gen")


try:
    for x in gen():
        pass
except KeyError as e:
    e.add_note("a note")
    shows(traceback.format_exc())


def again():
    try:
        outer()
    except ValueError:
        raise


try:
    again()
except ValueError:
    shows(traceback.format_exc())


class AppError(Exception):
    pass


try:
    raise AppError
except AppError:
    shows(traceback.format_exc())
print(traceback.format_exc().strip(), [f.name for f in traceback.extract_stack()])


def recurse(n):
    if n == 0:
        raise ValueError("end")
    recurse(n - 1)


try:
    recurse(9)
except ValueError:
    shows(traceback.format_exc())
stream = io.StringIO()
logging.basicConfig(stream=stream, format="%(levelname)s %(message)s")
try:
    outer()
except ValueError:
    logging.exception("failed")
shows(stream.getvalue())
held = io.StringIO()
try:
    raise KeyError("printed")
except KeyError as e:
    traceback.print_exc(file=held)
    shows(held.getvalue())
    print(e.__traceback__.tb_lineno, traceback.format_exc(chain=False) == held.getvalue())
