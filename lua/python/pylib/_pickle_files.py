# SPDX-License-Identifier: MIT
"""_pickle_files: pickles as bytes: dump() writes protocol 4, load() reads what
Python writes (protocols 0 to 5) of plain data, of the library's boxes and of the
program's own classes.  What it does not know is refused by name."""
import _absent
import collections
import datetime
import decimal
import enum
import fractions
import importlib
import io
import pathlib
import struct
import sys
from pickle import PicklingError, UnpicklingError

_RENAMED = {"__builtin__": "builtins", "copy_reg": "copyreg",
            "UserDict": "collections"}


def _items_of_class(obj):
    """(callable, arguments, list items, dict items) of the library's types."""
    kind = type(obj)
    if kind is collections.OrderedDict:
        return kind, (), None, obj.items()
    if kind is collections.defaultdict:
        args = () if obj.default_factory is None else (obj.default_factory,)
        return kind, args, None, obj.items()
    if kind is collections.Counter:
        return kind, (dict(obj),), None, None
    if kind is collections.deque:
        return kind, ((),) if obj.maxlen is None else ((), obj.maxlen), \
            obj, None
    if kind is complex:
        return kind, (obj.real, obj.imag), None, None
    if kind is range:
        return kind, (obj.start, obj.stop, obj.step), None, None
    if kind is slice:
        return kind, (obj.start, obj.stop, obj.step), None, None
    if kind is datetime.date:
        return kind, (obj.year, obj.month, obj.day), None, None
    if kind is datetime.time:
        return kind, (obj.hour, obj.minute, obj.second,
                      obj.microsecond) + ((obj.tzinfo,) if obj.tzinfo
                                          else ()), None, None
    if kind is datetime.datetime:
        args = (obj.year, obj.month, obj.day, obj.hour, obj.minute, obj.second,
                obj.microsecond)
        return kind, args + ((obj.tzinfo,) if obj.tzinfo else ()), None, None
    if kind is datetime.timedelta:
        return kind, (obj.days, obj.seconds, obj.microseconds), None, None
    if kind is decimal.Decimal:
        return kind, (str(obj),), None, None
    if kind is fractions.Fraction:
        return kind, (obj.numerator, obj.denominator), None, None
    if isinstance(obj, pathlib.PurePath):
        return kind, (str(obj),), None, None
    if isinstance(obj, enum.Enum):
        return kind, (obj.value,), None, None
    return None


class _Pickler:
    def __init__(self, write):
        self.out, self.write, self.memo = bytearray(), write, {}

    def dump(self, obj):
        self.save(obj)
        self.out += b"."
        if len(self.out) >= 4:
            self.out[:0] = b"\x95" + struct.pack("<Q", len(self.out))
        self.write(b"\x80\x04" + bytes(self.out))

    def memoize(self, obj):
        self.memo[id(obj)] = len(self.memo), obj
        self.out += b"\x94"

    depth = 0

    def save(self, obj):
        if self.depth > 400:
            raise RecursionError("maximum recursion depth exceeded while "
                                 "pickling an object")
        self.depth += 1
        self._save(obj)
        self.depth -= 1

    def _save(self, obj):
        if obj is None:
            self.out += b"N"
        elif obj is ... or obj is NotImplemented:
            self.save("builtins")
            self.save(repr(obj))
            self.out += b"\x93"
            self.memoize(obj)
        elif obj is True or obj is False:
            self.out += b"\x88" if obj else b"\x89"
        elif id(obj) in self.memo and not isinstance(obj, (int, float)):
            at = self.memo[id(obj)][0]
            self.out += b"h" + bytes([at]) if at < 256 \
                else b"j" + struct.pack("<I", at)
        else:
            f = _SAVE.get(type(obj))
            if f is not None:
                f(self, obj)
            elif isinstance(obj, type) or callable(obj) and hasattr(
                    obj, "__qualname__"):
                self.save_global(obj)
            else:
                self.save_object(obj)

    def save_int(self, v):
        if 0 <= v < 256:
            self.out += b"K" + bytes([v])
        elif 0 <= v < 65536:
            self.out += b"M" + struct.pack("<H", v)
        elif -1 << 31 <= v < 1 << 31:
            self.out += b"J" + struct.pack("<i", v)
        else:
            data = v.to_bytes((v.bit_length() >> 3) + 1, "little", signed=True)
            if v < 0 and len(data) > 1 and data[-1] == 255 \
                    and data[-2] & 0x80:
                data = data[:-1]
            self.out += b"\x8a" + bytes([len(data)]) + data \
                if len(data) < 256 else b"\x8b" + struct.pack(
                    "<i", len(data)) + data

    def save_float(self, v):
        self.out += b"G" + struct.pack(">d", v)

    def sized(self, data, codes):
        short, middle, long = codes
        n = len(data)
        self.out += short + bytes([n]) if n < 256 else \
            middle + struct.pack("<I", n) if n < 1 << 32 else \
            long + struct.pack("<Q", n)
        self.out += data

    def save_str(self, v):
        self.sized(v.encode("utf-8", "surrogatepass"), (b"\x8c", b"X", b"\x8d"))
        self.memoize(v)

    def save_bytes(self, v):
        self.sized(v, (b"C", b"B", b"\x8e"))
        self.memoize(v)

    def save_bytearray(self, v):
        self.save_call(bytearray, (bytes(v),))
        self.memoize(v)

    def save_tuple(self, v):
        if not v:
            self.out += b")"
            return
        if len(v) > 3:
            self.out += b"("
        for x in v:
            self.save(x)
        if id(v) in self.memo:          # it holds itself
            self.out += b"0" * len(v) if len(v) <= 3 else b"1"
            self.save(v)
            return
        self.out += (b"t", b"\x85", b"\x86", b"\x87")[
            len(v) if len(v) <= 3 else 0]
        self.memoize(v)

    def batches(self, items, one, several, save):
        items = list(items)
        for at in range(0, len(items), 1000):
            part = items[at:at + 1000]
            if len(part) == 1:
                save(part[0])
                self.out += one
            else:
                self.out += b"("
                for x in part:
                    save(x)
                self.out += several

    def save_pair(self, pair):
        self.save(pair[0])
        self.save(pair[1])

    def save_list(self, v):
        self.out += b"]"
        self.memoize(v)
        self.batches(v, b"a", b"e", self.save)

    def save_dict(self, v):
        self.out += b"}"
        self.memoize(v)
        self.batches(v.items(), b"s", b"u", self.save_pair)

    def save_set(self, v):
        self.out += b"\x8f"
        self.memoize(v)
        for x in [list(v)] if v else []:
            self.out += b"("
            for item in x:
                self.save(item)
            self.out += b"\x90"

    def save_frozenset(self, v):
        self.out += b"("
        for x in v:
            self.save(x)
        self.out += b"\x91"
        self.memoize(v)

    def save_global(self, obj):
        name = getattr(obj, "__qualname__", None) or obj.__name__
        module = getattr(obj, "__module__", None) or "builtins"
        try:
            found = _find(module, name)
        except (ImportError, AttributeError):
            found = None
        if found is not obj and found != obj:
            if "<locals>" in name:
                raise AttributeError(f"Can't pickle local object {name!r}")
            raise PicklingError(f"Can't pickle {obj!r}: attribute lookup "
                                f"{name} on {module} failed")
        self.save(module)
        self.save(name)
        self.out += b"\x93"
        self.memoize(obj)

    def save_call(self, f, args):
        self.save(f)
        self.save(tuple(args))
        self.out += b"R"

    def save_object(self, obj):
        known = _items_of_class(obj)
        if known is not None:
            f, args, items, pairs = known
            self.save_call(f, args)
            self.finish(obj, items, pairs, None)
            return
        kind, state = type(obj), None
        if not hasattr(obj, "__reduce_ex__") and not isinstance(
                obj, (BaseException, tuple, set)):
            raise TypeError(f"cannot pickle {kind.__name__!r} object")
        own = [k for k in kind.__mro__ if k.__module__ != "builtins"
               and ("__reduce__" in k.__dict__ or "__reduce_ex__" in k.__dict__)]
        if isinstance(obj, BaseException):
            self.save_call(kind, obj.args)
            self.finish(obj, None, None, obj.__dict__ or None)
        elif own or not isinstance(obj, (tuple, list, dict, set, str, bytes,
                                         int, float)):
            self.save_reduced(obj, obj.__reduce_ex__(4))
        else:
            base = next(t for t in (tuple, list, dict, set, str, bytes, int,
                                    float) if isinstance(obj, t))
            args = (kind,)
            if base in (str, bytes, int, float):
                args = kind, base(obj)
            elif base is tuple:
                args = (kind, *obj) if hasattr(kind, "_fields") \
                    else (kind, tuple(obj))
            elif base is set:
                raise _absent.error("pickle.dump of a subclass of set is not "
                                    "part of dtrepl")
            state = getattr(obj, "__dict__", None) or None
            self.save_new(args)
            self.finish(obj, obj if base is list else None,
                        obj.items() if base is dict else None, state)

    def save_new(self, args):
        self.save(args[0])
        self.save(tuple(args[1:]))
        self.out += b"\x81"

    def save_reduced(self, obj, reduced):
        if isinstance(reduced, str):
            return self.save_global(obj)
        f, args, state, items, pairs = (tuple(reduced) + (None,) * 3)[:5]
        if getattr(f, "__name__", "") == "__newobj__":
            self.save_new(args)
            if isinstance(state, dict) and not hasattr(obj, "__dict__") \
                    and not hasattr(obj, "__getstate__"):
                state = None, state             # of slots
        elif getattr(f, "__name__", "") == "__newobj_ex__":
            for part in args:
                self.save(part)
            self.out += b"\x92"
        else:
            self.save_call(f, args)
        self.finish(obj, items, pairs, state)

    def finish(self, obj, items, pairs, state):
        self.memoize(obj)
        if items is not None:
            self.batches(items, b"a", b"e", self.save)
        if pairs is not None:
            self.batches(pairs, b"s", b"u", self.save_pair)
        if state is not None:
            self.save(state)
            self.out += b"b"


_SAVE = {int: _Pickler.save_int, float: _Pickler.save_float,
         str: _Pickler.save_str, bytes: _Pickler.save_bytes,
         bytearray: _Pickler.save_bytearray, tuple: _Pickler.save_tuple,
         list: _Pickler.save_list, dict: _Pickler.save_dict,
         set: _Pickler.save_set, frozenset: _Pickler.save_frozenset}


def _find(module, name):
    module = _RENAMED.get(module, module)
    found = sys.modules.get(module) or importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def dump(obj, file):
    _Pickler(file.write).dump(obj)


class _Mark:
    pass


class Unpickler:
    def __init__(self, file, *, fix_imports=True, encoding="ASCII",
                 errors="strict", buffers=None):
        self._read, self._line = file.read, file.readline
        self._encoding, self._errors = encoding, errors

    def persistent_load(self, pid):
        raise UnpicklingError("unsupported persistent id encountered")

    def find_class(self, module, name):
        if module.split(".")[0] in ("numpy", "torch", "pandas", "scipy"):
            raise _absent.error(f"pickle.load of {module}.{name} is not part "
                                "of dtrepl; torch.load has files of tensors")
        if (module, name) == ("_codecs", "encode"):
            return lambda text, encoding="utf-8": text.encode(encoding)
        if (_RENAMED.get(module, module), name) == ("copyreg",
                                                    "_reconstructor"):
            return lambda kind, base, state: kind.__new__(kind) \
                if base is object else kind(state)
        return _find(module, name)

    def _take(self, n):
        data = self._read(n)
        if len(data) < n:
            raise EOFError("Ran out of input") if not data and n == 1 \
                else UnpicklingError("pickle data was truncated")
        return data

    def _number(self, form):
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _text_line(self):
        return self._line()[:-1].decode("ascii")

    def load(self):
        self.stack, self.memo = [], {}
        while True:
            code = self._take(1)
            if code == b".":
                return self.stack.pop()
            f = _LOAD.get(code)
            if f is None:
                raise UnpicklingError(f"invalid load key, {code!r}."
                                      .replace("key, b", "key, "))
            f(self)

    def push(self, v):
        self.stack.append(v)

    def marked(self):
        at = len(self.stack) - 1
        while self.stack[at] is not _Mark:
            at -= 1
        items = self.stack[at + 1:]
        del self.stack[at:]
        return items

    def tuple_of(self, n):
        items = tuple(self.stack[-n:])
        del self.stack[-n:]
        self.push(items)

    def call(self):
        args = self.stack.pop()
        self.push(self.stack.pop()(*args))

    def new(self):
        args = self.stack.pop()
        kind = self.stack.pop()
        self.push(kind.__new__(kind, *args))

    def new_ex(self):
        names, args = self.stack.pop(), self.stack.pop()
        kind = self.stack.pop()
        self.push(kind.__new__(kind, *args, **names))

    def instance(self):
        module = self._text_line()
        kind, args = self.find_class(module, self._text_line()), self.marked()
        self.push(kind(*args) if args else kind.__new__(kind))

    def escaped_text(self):
        import re
        text = self._line()[:-1].decode("latin-1")
        self.push(re.sub(r"\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})",
                         lambda m: chr(int(m[1] or m[2], 16)), text))

    def build(self):
        state, v = self.stack.pop(), self.stack[-1]
        if hasattr(v, "__setstate__"):
            v.__setstate__(state)
            return
        slots = None
        if isinstance(state, tuple) and len(state) == 2:
            state, slots = state
        for part in (state, slots):
            for name, x in (part or {}).items():
                object.__setattr__(v, name, x) if part is slots \
                    else v.__dict__.__setitem__(name, x)

    def extend(self):
        items = self.marked()
        box = self.stack[-1]
        for x in items:
            box.append(x)

    def set_items(self):
        items = self.marked()
        box = self.stack[-1]
        for i in range(0, len(items), 2):
            box[items[i]] = items[i + 1]

    def set_item(self):
        v, k = self.stack.pop(), self.stack.pop()
        self.stack[-1][k] = v

    def pop(self):
        self.stack.pop()

    def text(self, n):
        self.push(self._take(n).decode("utf-8", "surrogatepass"))

    def old_text(self, n):
        data = self._take(n)
        self.push(data if self._encoding == "bytes"
                  else data.decode(self._encoding, self._errors))

    def long(self, n):
        self.push(int.from_bytes(self._take(n), "little", signed=True))

    def int_line(self):
        line = self._text_line()
        self.push({"00": False, "01": True}.get(line) if line in ("00", "01")
                  else int(line))

    def old_string(self):
        import ast
        self.push(ast.literal_eval(self._text_line()))

    def add_items(self):
        items = self.marked()
        self.stack[-1].update(items)

    def class_line(self):
        module = self._text_line()
        self.push(self.find_class(module, self._text_line()))

    def class_pushed(self):
        name, module = self.stack.pop(), self.stack.pop()
        self.push(self.find_class(module, name))

    def pairs(self):
        items = self.marked()
        self.push({items[i]: items[i + 1] for i in range(0, len(items), 2)})


_LOAD = {
    b"\x80": lambda u: u._take(1), b"\x95": lambda u: u._take(8),
    b"N": lambda u: u.push(None), b"\x88": lambda u: u.push(True),
    b"\x89": lambda u: u.push(False), b"(": lambda u: u.push(_Mark),
    b"K": lambda u: u.push(u._number("B")),
    b"M": lambda u: u.push(u._number("<H")),
    b"J": lambda u: u.push(u._number("<i")),
    b"G": lambda u: u.push(u._number(">d")),
    b"F": lambda u: u.push(float(u._text_line())),
    b"I": lambda u: u.int_line(),
    b"L": lambda u: u.push(int(u._text_line().rstrip("L"))),
    b"\x8a": lambda u: u.long(u._number("B")),
    b"\x8b": lambda u: u.long(u._number("<i")),
    b"\x8c": lambda u: u.text(u._number("B")),
    b"X": lambda u: u.text(u._number("<I")),
    b"\x8d": lambda u: u.text(u._number("<Q")),
    b"V": lambda u: u.escaped_text(), b"i": lambda u: u.instance(),
    b"U": lambda u: u.old_text(u._number("B")),
    b"T": lambda u: u.old_text(u._number("<i")),
    b"S": lambda u: u.old_string(),
    b"C": lambda u: u.push(u._take(u._number("B"))),
    b"B": lambda u: u.push(u._take(u._number("<I"))),
    b"\x8e": lambda u: u.push(u._take(u._number("<Q"))),
    b"\x96": lambda u: u.push(bytearray(u._take(u._number("<Q")))),
    b")": lambda u: u.push(()), b"]": lambda u: u.push([]),
    b"}": lambda u: u.push({}), b"\x8f": lambda u: u.push(set()),
    b"t": lambda u: u.push(tuple(u.marked())),
    b"l": lambda u: u.push(u.marked()), b"d": lambda u: u.pairs(),
    b"\x85": lambda u: u.tuple_of(1), b"\x86": lambda u: u.tuple_of(2),
    b"\x87": lambda u: u.tuple_of(3),
    b"a": lambda u: u.stack[-2].append(u.stack.pop()),
    b"e": lambda u: u.extend(), b"s": lambda u: u.set_item(),
    b"u": lambda u: u.set_items(), b"\x90": lambda u: u.add_items(),
    b"\x91": lambda u: u.push(frozenset(u.marked())),
    b"0": lambda u: u.pop(), b"1": lambda u: u.marked(),
    b"2": lambda u: u.push(u.stack[-1]),
    b"R": lambda u: u.call(), b"\x81": lambda u: u.new(),
    b"\x92": lambda u: u.new_ex(), b"b": lambda u: u.build(),
    b"c": lambda u: u.class_line(), b"\x93": lambda u: u.class_pushed(),
    b"h": lambda u: u.push(u.memo[u._number("B")]),
    b"j": lambda u: u.push(u.memo[u._number("<I")]),
    b"g": lambda u: u.push(u.memo[int(u._text_line())]),
    b"q": lambda u: u.memo.__setitem__(u._number("B"), u.stack[-1]),
    b"r": lambda u: u.memo.__setitem__(u._number("<I"), u.stack[-1]),
    b"p": lambda u: u.memo.__setitem__(int(u._text_line()), u.stack[-1]),
    b"\x94": lambda u: u.memo.__setitem__(len(u.memo), u.stack[-1]),
    b"P": lambda u: u.push(u.persistent_load(u._text_line())),
    b"Q": lambda u: u.push(u.persistent_load(u.stack.pop())),
}


def load(file):
    return Unpickler(file).load()


def loads(data):
    return Unpickler(io.BytesIO(data)).load()


def dumps(obj):
    out = []
    _Pickler(out.append).dump(obj)
    return out[0]
