# SPDX-License-Identifier: MIT
# Views of parts of a bytearray: what is written on one side is seen on the other.
def put(view, at, value):
    view[at] = value


b = bytearray(b"abcdef")
m = memoryview(b)
part, every, back, fixed = m[1:4], m[::2], m[::-1], m.toreadonly()
b[1] = 120
m[2] = 121
print(part.tobytes(), every.tobytes(), back.tobytes(), fixed.tobytes(), fixed[1:3].tolist())
part[0], every[2], back[0] = 65, 66, 67
part[1:3] = b"QR"
back[1:5:2] = b"st"
part[1:][0] = 90
print(b, part.tolist(), bytes(every[1:]), list(back))
print(part.readonly, fixed.readonly, fixed[1:].readonly, every.strides, back.strides, part.strides,
      every.contiguous, part.contiguous, every.shape, every.nbytes, part.obj is b, memoryview(every).strides)
for wrong in (lambda: put(fixed, 0, 1), lambda: put(fixed[1:], 0, 1),
              lambda: put(part, slice(0, 2), b"abc"), lambda: put(part, 3, 1),
              lambda: part[3], lambda: put(part, 0, 256), lambda: put(every, 0, "a")):
    try:
        print(wrong())
    except (TypeError, ValueError, IndexError) as e:
        print(type(e).__name__, e)
print(part == b[1:4], every == memoryview(b)[::2], bytearray(part), b"-".join([part, m]), b.find(part))
empty = m[4:2]
print(len(empty), empty.tobytes(), bool(empty), int(memoryview(b"x12")[1:]), b"<" + part)
