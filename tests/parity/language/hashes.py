"""hashlib: digests of every length around a block, copies, refusals."""
import hashlib
acc = []
for n in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512"):
    for k in (0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 1000):
        acc.append(hashlib.new(n, bytes(range(256)) * 4 if k == 1000 else b"x" * k).hexdigest()[:12])
    h = getattr(hashlib, n)()
    h.update(b"ab"); c = h.copy(); h.update(b"c")
    print(n, h.hexdigest(), c.hexdigest()[:8], h.name, h.digest_size, h.block_size)
print(" ".join(acc))
try: hashlib.new("nosuch")
except ValueError as e: print(e)
try: hashlib.md5("text")
except TypeError as e: print(e)
