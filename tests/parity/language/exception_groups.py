# SPDX-License-Identifier: MIT
# Exceptions that hold several, and what except* makes of them.
import traceback, sys
eg = ExceptionGroup('top', [ValueError('v'), TypeError('t'), ExceptionGroup('in', [KeyError('k'), ValueError('v2')])])
print(repr(eg), str(eg), eg.message, len(eg.exceptions))
try:
    raise eg
except* ValueError as e:
    print('V', repr(e), [type(x).__name__ for x in e.exceptions])
except* (TypeError, KeyError) as e:
    print('TK', repr(e))
try:
    try:
        raise eg
    except* ValueError:
        pass
except ExceptionGroup as e:
    print('rest', repr(e))
m, r = eg.split(ValueError); print(repr(m), repr(r))
print(repr(eg.subgroup(lambda e: isinstance(e, KeyError))))
print(eg.subgroup(OSError))
try:
    raise ValueError('bare')
except* ValueError as e:
    print(repr(e))
try: ExceptionGroup('x', [])
except ValueError as e: print(e)
try: ExceptionGroup('x', [1])
except ValueError as e: print(e)
try: ExceptionGroup('x', 3)
except TypeError as e: print(e)
try: ExceptionGroup('x', [KeyboardInterrupt()])
except TypeError as e: print(e)
print(repr(BaseExceptionGroup('b', [KeyboardInterrupt()])), type(BaseExceptionGroup('b', [ValueError()])).__name__)
class MyG(ExceptionGroup):
    def derive(self, excs): return MyG(self.message, excs)
g = MyG('my', [ValueError(1), OSError(2)])
print(repr(g.split(OSError)))
try:
    try: raise KeyError('a')
    except* KeyError as e:
        raise RuntimeError('new')
except BaseException as e:
    print(type(e).__name__, repr(e), repr(e.exceptions) if hasattr(e, 'exceptions') else '', repr(e.__context__))
e = ValueError('n'); e.add_note('note 1'); e.add_note('note 2'); print(e.__notes__)
print(''.join(traceback.format_exception_only(type(e), e)))
try:
    raise eg from KeyError('cause')
except ExceptionGroup as x:
    print(repr(x.__cause__), x.__suppress_context__)
def f():
    try:
        raise ExceptionGroup('r', [ValueError()])
    except* ValueError:
        print('caught')
    else: print('else')
    finally: print('finally')
f()
try:
    try: 1/0
    except ZeroDivisionError as z: raise ValueError('x') from None
except ValueError as e: print(e.__cause__, repr(e.__context__), e.__suppress_context__)
