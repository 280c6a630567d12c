# SPDX-License-Identifier: MIT
# Tracebacks of groups, of notes and of syntax errors; the whole path of a file.
# (What stands below a line, ^^^^, is left out.)
import os
import traceback


def told(e):
    text = "".join(traceback.format_exception(e)).replace(__file__, "FILE")
    for line in text.split("\n"):
        if line.strip(" |~^") or not line.strip(" |"):
            print(line)


def workers():
    errors = []
    for i in range(4):
        try:
            if i % 2:
                raise ValueError(f"v{i}")
            if i == 2:
                raise OSError(2, "No such file", "x.pt")
        except Exception as e:
            e.add_note(f"worker {i}\nof 4")
            errors.append(e)
    inner = ExceptionGroup("inner", [KeyError("k"), TypeError("t")])
    try:
        raise inner from errors[0]
    except ExceptionGroup as e:
        errors.append(e)
    raise ExceptionGroup("workers failed", errors)


try:
    workers()
except* KeyError as group:
    told(group)
except* Exception as group:
    told(group)
told(ExceptionGroup("many", [ValueError(i) for i in range(17)]))
try:
    try:
        workers()
    except ExceptionGroup as e:
        raise RuntimeError("around") from e
except RuntimeError as e:
    told(e)
    x = traceback.TracebackException.from_exception(e)
    print(x.exc_type, str(x), len(x.stack), x.__cause__.exc_type, x.__cause__.exceptions[0].stack[0].name)
    print([f.name for f in traceback.StackSummary.extract(traceback.walk_tb(e.__traceback__))])
for text in ("x = = 1", "f(1"):
    try:
        compile(text, "cfg.py", "exec")
    except SyntaxError as e:
        print("".join(traceback.format_exception_only(e)))
print(os.path.isabs(__file__), traceback.extract_stack()[0].filename == __file__)
