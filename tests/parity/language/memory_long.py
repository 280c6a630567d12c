# memoryview of more bytes than a call takes arguments; slices of slices.
b = bytearray(2_000_000)
m = memoryview(b)
m[5] = 7
print(b[5], len(m[::2]))
s = m[10:20]
s[0] = 3
print(b[10], bytes(s)[:2])
print(len(m.tolist()))
w = m[20:40][::-3]
w[0] = 9
w[1:3] = b"ab"
print(bytes(m[18:42]), w.tolist(), 98 in w, 4 in w, 9 in m, len(m[:0].tolist()))
