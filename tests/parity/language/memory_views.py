# SPDX-License-Identifier: MIT
# memoryview of bytes, and what int() and float() warn of.
try:
    m=memoryview(b"abcdef")
except BaseException as _e: print('EXC', 1, type(_e).__name__, _e)
try:
    print(len(m), m[0], m[-1], m[1:3].tobytes(), bytes(m), m.tolist(), list(m[::2]), m.hex(), m.nbytes, m.readonly, m==b"abcdef", isinstance(m, memoryview), isinstance(m, bytes), type(m), 97 in m, int(memoryview(b"12")), float(memoryview(b"1.5")), b"-".join([m, memoryview(b"z")]), m.format, m.shape, m.itemsize, m.ndim, bool(memoryview(b"")))
except BaseException as _e: print('EXC', 1, type(_e).__name__, _e)
try:
    b=bytearray(b"hello")
except BaseException as _e: print('EXC', 2, type(_e).__name__, _e)
try:
    v=memoryview(b)
except BaseException as _e: print('EXC', 2, type(_e).__name__, _e)
try:
    v[0]=72
except BaseException as _e: print('EXC', 2, type(_e).__name__, _e)
try:
    v[1:3]=b"EL"
except BaseException as _e: print('EXC', 2, type(_e).__name__, _e)
try:
    print(b, v.tobytes(), v.readonly, bytearray(v), b"x"+bytes(v[1:]))
except BaseException as _e: print('EXC', 2, type(_e).__name__, _e)
try:
    try: m[0]=1
    except TypeError as e: print(e)
except BaseException as _e: print('EXC', 3, type(_e).__name__, _e)
try:
    try: m[9]
    except IndexError as e: print(e)
except BaseException as _e: print('EXC', 5, type(_e).__name__, _e)
try:
    try: memoryview("a")
    except TypeError as e: print(e)
except BaseException as _e: print('EXC', 7, type(_e).__name__, _e)
try:
    try: v[0:2]=b"abc"
    except ValueError as e: print(e)
except BaseException as _e: print('EXC', 9, type(_e).__name__, _e)
try:
    with memoryview(b"ab") as w: print(w[0])
except BaseException as _e: print('EXC', 11, type(_e).__name__, _e)
try:
    try: w[0]
    except ValueError as e: print(e)
except BaseException as _e: print('EXC', 12, type(_e).__name__, _e)
try:
    print(b"abc".startswith(memoryview(b"ab")), b"abc".find(memoryview(b"c")), b"abc".split(memoryview(b"b")), memoryview(memoryview(b"q")).tobytes(), int.from_bytes(memoryview(b"\x01\x02"),"big"))
except BaseException as _e: print('EXC', 14, type(_e).__name__, _e)
try:
    import warnings
except BaseException as _e: print('EXC', 15, type(_e).__name__, _e)
try:
    warnings.simplefilter("always")
except BaseException as _e: print('EXC', 16, type(_e).__name__, _e)
try:
    class A:
        def __int__(self): return True
except BaseException as _e: print('EXC', 17, type(_e).__name__, _e)
try:
    class T:
        def __trunc__(self): return 5
except BaseException as _e: print('EXC', 19, type(_e).__name__, _e)
try:
    class F(float): pass
except BaseException as _e: print('EXC', 21, type(_e).__name__, _e)
try:
    class B:
        def __float__(self): return F(2.5)
except BaseException as _e: print('EXC', 22, type(_e).__name__, _e)
try:
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        print(int(A()), int(T()), float(B()))
        print([(x.category.__name__, str(x.message)) for x in w])
except BaseException as _e: print('EXC', 24, type(_e).__name__, _e)
