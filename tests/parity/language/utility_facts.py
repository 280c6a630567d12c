# SPDX-License-Identifier: MIT
# %d and %f of objects, names of enums in messages, uuid, urandom, paths renamed.
class I:
    def __index__(self): return 7
class N:
    def __int__(self): return 9
class F:
    def __float__(self): return 2.5
from fractions import Fraction
from decimal import Decimal
import enum
class L(enum.IntEnum): A = 3
class P(enum.Enum): B = 3
print("%d %i %5d" % (I(), N(), I()), "%.2f %e" % (F(), F()), "%d" % Fraction(7, 2), "%d %.1f" % (Decimal("3.9"), Decimal("3.25")), "%d %s" % (L.A, True), "%d" % 10**30)
for f in (lambda: "%d" % F(), lambda: "%d" % "3", lambda: "%d" % None, lambda: "%f" % "a", lambda: "%x" % N(), lambda: L.A < P.B, lambda: P.B < L.A, lambda: L.A < "a", lambda: True < "a", lambda: 3 < P.B):
    try: print(f())
    except TypeError as e: print(e)
import os, uuid
print(len(os.urandom(5)), uuid.uuid4() != uuid.uuid4(), uuid.uuid4().version, uuid.uuid5(uuid.NAMESPACE_DNS, "x.org"), uuid.UUID(int=5), uuid.uuid3(uuid.NAMESPACE_URL, "a"), repr(uuid.UUID("{12345678-1234-5678-1234-567812345678}")), uuid.UUID(int=5).hex, uuid.UUID(int=9) > uuid.UUID(int=5), hash(uuid.UUID(int=5)) == hash(5), uuid.UUID(bytes=b"\x01" * 16).fields, uuid.uuid1().version)
for f in (lambda: uuid.UUID("x"), lambda: uuid.UUID(), lambda: setattr(uuid.UUID(int=1), "int", 3)):
    try: print(f())
    except (TypeError, ValueError) as e: print(type(e).__name__, e)
import tempfile, pathlib
d = pathlib.Path(tempfile.mkdtemp()); (d / "a.txt").write_text("x"); q = (d / "a.txt").rename(d / "b.tar.gz"); print(q.suffixes, q.exists(), q.replace(str(d / "c")).name)


class Ordinal:
    def __index__(self):
        return 7


print("%f %.2e %g" % (Ordinal(), Ordinal(), Ordinal()))
