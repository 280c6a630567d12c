# SPDX-License-Identifier: MIT
# eval and exec as values, compile(), ast.literal_eval.
import ast
for s in ("1", "-2.5", "[1, 'a', (2,), {3}, {'k': None}]", "1+2j", "-1-2j", "b'x'", "set()", "True", "...", "f(1)", "x", "1+2", "{**{}}", "[i for i in x]", "'a' 'b'", "(1", " 7", "-'a'", "not 1", "f'{1}'"):
    try: print(s, ast.literal_eval(s))
    except (ValueError, SyntaxError) as e: print(s, type(e).__name__, str(e).split(' object at')[0])
def run(f, *a): return f(*a)
x = 5
print(run(eval, 'x + 1'), [run(eval, t) for t in ('1', '2+2')], list(map(eval, ['3', 'x'])))
def scoped():
    y = 7
    return eval('y + x'), run(exec, 'z = 3'), 'z' in locals()
print(scoped()[:2])
c = compile('a = 1\nb = a + x', 'file.py', 'exec'); d = {'x': 10}; exec(c, d); print(d['b'], c.co_filename)
e = compile('x * 2', '<s>', 'eval'); print(eval(e), eval(e, {'x': 4}), exec(e))
for a in (('1+', 'f', 'eval'), ('x = 1', 'g.py', 'eval'), ('1', 'f', 'bad'), (3, 'f', 'exec'), (), ('1',), ('1', 'f'), ('1', 3, 'eval')):
    try: print(compile(*a))
    except (SyntaxError, ValueError, TypeError) as err: print(type(err).__name__, err)
try: exec(3)
except TypeError as err: print(err)
exec(b'print("bytes")')
import pathlib
print(compile('1', pathlib.Path('a/b.py'), 'eval').co_filename)
print(str(compile('1', b'c.py', 'eval')).split(' at ')[0], str(c).split(', ')[1:])
