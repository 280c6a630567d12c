# SPDX-License-Identifier: MIT
import base64, binascii, copy, hashlib, string, struct, textwrap
print(base64.b32encode(b"ab"), base64.b32encode(b"hello"), base64.b32encode(b""))
print(binascii.hexlify(b"ab"), binascii.unhexlify("6162"), binascii.crc32(b"hello"))
try: binascii.unhexlify("abc")
except binascii.Error as e: print(e)
h = hashlib.sha256(); h.update(b"a"); h.update(bytearray(b"b"))
print(h.hexdigest(), h.digest()[:4], h.name, h.digest_size)
try: hashlib.sha256("a")
except TypeError as e: print(e)
class N:
    def __init__(s): s.me = s; s.l = [s]
    def __deepcopy__(s, memo):
        r = N.__new__(N); memo[id(s)] = r
        r.me = copy.deepcopy(s.me, memo); r.l = 1
        return r
n = copy.deepcopy(N()); print(n.me is n, n.l)
print((3).__class__ is int, [].__class__ is list, bool.__mro__, isinstance(id(n), int), id(n) == id(n.me))
