# SPDX-License-Identifier: MIT
# Streams: characters, encodings, what is not readable; classes below StringIO.
import io, tempfile, os
s = io.StringIO("héllo\nwörld\n"); print(s.read(2), s.tell(), s.readline(), s.tell(), s.read(1), s.seek(1), s.read(3), s.seek(0, 2), s.write("ñx"), s.getvalue(), s.readline(3), s.seek(0), s.readline(3), s.readlines(1))
s.seek(2); print(s.truncate(), repr(s.getvalue()))
print(io.StringIO(initial_value="a\r\nb", newline=None).read(), io.StringIO("a\r\nb").readlines(), io.BytesIO(initial_bytes=b"ab").read1(1))
d = tempfile.mkdtemp(); p = os.path.join(d, "x")
with open(p, "w", encoding="latin-1") as f: print(f.write("é\n"), f.encoding, f.errors, f.mode)
print(open(p, "rb").read())
for kw in ({}, {"encoding": "latin-1"}, {"errors": "replace"}, {"encoding": "utf-16"}, {"encoding": "nope"}, {"encoding": "ascii"}):
    try:
        with open(p, **kw) as f: print(repr(f.read()))
    except (UnicodeError, LookupError) as e: print(type(e).__name__, e)
with open(p, "w", newline="\r\n") as f: f.write("a\nb\n"); 
print(open(p, "rb").read(), open(p).read(), open(p, newline="").read())
for m, op in (("r", lambda f: f.write("x")), ("w", lambda f: f.read()), ("rb", lambda f: f.write(b"x")), ("wb", lambda f: f.read()), ("a", lambda f: f.read()), ("r", lambda f: f.seek(-1, 2))):
    with open(p, m) as f:
        try: op(f)
        except io.UnsupportedOperation as e: print(m, type(e), e, isinstance(e, OSError), isinstance(e, ValueError))
with open(p, "w") as f: f.write("1")
with open(p, "a") as f: print(f.tell(), f.write("é2"))
with open(p) as f: print(f.read(2), list(f), f.readlines(), f.closed)
with open(p, "w+", encoding="utf-16") as f: f.write("hi"); f.seek(0); print(f.read())
print(open(p, "rb").read(), "é".encode("utf-16"), "𝄞".encode("utf-16-be"), "a".encode("utf-32-le"), "€".encode("cp1252"), b"\x80\x81".decode("cp1252", "replace"), b"\xef\xbb\xbfa".decode("utf-8-sig"), "a".encode("utf_8_sig"), b"a\0b".decode("utf-16-le", "ignore"), "☃".encode("cp1252", "xmlcharrefreplace"))
for f in (lambda: "☃".encode("cp1252"), lambda: b"\x81".decode("cp1252"), lambda: b"a".decode("utf-16"), lambda: "\ud800".encode("utf-16")):
    try: print(f())
    except UnicodeError as e: print(e)
import codecs
print(codecs.encode("hello", "rot13"), codecs.decode("6869", "hex") if False else codecs.decode(b"6869", "hex"), codecs.lookup("utf8").name, codecs.BOM_UTF8, codecs.getincrementaldecoder("utf-8")().decode(b"\xc3"), [x for x in codecs.iterdecode([b"\xc3", b"\xa9a"], "utf-8")], codecs.getencoder("latin-1")("é"))
class Own(io.StringIO): pass
print(isinstance(Own(), io.IOBase), isinstance(Own(), io.TextIOBase), issubclass(Own, io.IOBase), issubclass(int, io.IOBase))
b = io.BytesIO(b"abc"); print(isinstance(b, io.IOBase), isinstance(b, io.BufferedIOBase), isinstance(io.StringIO(), io.TextIOBase), isinstance(b, io.RawIOBase))
class Up(io.RawIOBase):
    def __init__(self, d): self.d = d
    def readable(self): return True
    def readinto(self, b): n = min(len(b), len(self.d)); b[:n] = self.d[:n]; self.d = self.d[n:]; return n
print(Up(b"l1\nl2").readlines(), Up(b"xyz").read(2))
w = io.TextIOWrapper(io.BytesIO("é\r\nb".encode()), encoding="utf-8"); print(list(w))
o = io.BytesIO(); t = io.TextIOWrapper(o, encoding="utf-8", newline=""); t.write("ñ\n"); t.flush(); print(o.getvalue())
print(type(io.StringIO), isinstance(io.StringIO(), io.StringIO), type(io.StringIO()), io.StringIO)
class Tee(io.StringIO):
    def __init__(self, other): super().__init__(); self.other = other
    def write(self, s): self.other.append(s); return super().write(s)
l = []
t = Tee(l); print("x", 1, file=t); print(l, t.getvalue())
