# SPDX-License-Identifier: MIT
# How many arguments methods of texts, bytes and boxes take.
try:
    print("a".upper(), "a-b".split("-"), b"ab".upper(), b"a b".split(), bytearray(b"a").upper(), b"abc".find(b"b"), b"abc".find(98))
except BaseException as _e: print('EXC', 1, type(_e).__name__, _e)
try:
    print("a".lower(1))
except BaseException as _e: print('EXC', 2, type(_e).__name__, _e)
try:
    print("a".find())
except BaseException as _e: print('EXC', 3, type(_e).__name__, _e)
try:
    print("a".replace("a"))
except BaseException as _e: print('EXC', 4, type(_e).__name__, _e)
try:
    print("a".split("a",1,2))
except BaseException as _e: print('EXC', 5, type(_e).__name__, _e)
try:
    print("a".join())
except BaseException as _e: print('EXC', 6, type(_e).__name__, _e)
try:
    print("a b".split(maxsplit=1))
except BaseException as _e: print('EXC', 7, type(_e).__name__, _e)
try:
    print("a".lower(x=1))
except BaseException as _e: print('EXC', 8, type(_e).__name__, _e)
try:
    print(b"a".lower(1), 1)
except BaseException as _e: print('EXC', 9, type(_e).__name__, _e)
try:
    print(b"a".hex(":"), b"abc".hex("-",2), b"abc".hex(sep="_"))
except BaseException as _e: print('EXC', 10, type(_e).__name__, _e)
try:
    print(b"abc".translate(None, b"b"), bytes.maketrans(b"a",b"b")[97])
except BaseException as _e: print('EXC', 11, type(_e).__name__, _e)
try:
    print([1].index(), 1)
except BaseException as _e: print('EXC', 12, type(_e).__name__, _e)
try:
    print([1].append(), 1)
except BaseException as _e: print('EXC', 13, type(_e).__name__, _e)
try:
    print({}.get(), 1)
except BaseException as _e: print('EXC', 14, type(_e).__name__, _e)
try:
    print([].pop(1,2))
except BaseException as _e: print('EXC', 15, type(_e).__name__, _e)
try:
    import types
except BaseException as _e: print('EXC', 16, type(_e).__name__, _e)
try:
    print(type(int|str), types.UnionType, isinstance(int|None, types.UnionType), types.GenericAlias(list,(int,)), type(list[int]))
except BaseException as _e: print('EXC', 17, type(_e).__name__, _e)
try:
    print("ab".startswith(("a",)), "x".center(5,"*"), "x".zfill(3), "%s" % "a", "a{}".format(1), "{a}".format_map({"a":1}))
except BaseException as _e: print('EXC', 18, type(_e).__name__, _e)
