# SPDX-License-Identifier: MIT
# torch.frombuffer, and NumPy arrays written as bytes and read again.
import torch, array, warnings
warnings.simplefilter("ignore")
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
b = b"\x00\x00\x80?\x00\x00\x00@"
t(lambda: torch.frombuffer(b, dtype=torch.float32)); t(lambda: torch.frombuffer(bytearray(b), dtype=torch.int16, offset=2, count=2)); t(lambda: torch.frombuffer(b, dtype=torch.float32, offset=1)); t(lambda: torch.frombuffer(b, dtype=torch.int64, count=2)); t(lambda: torch.frombuffer(b"", dtype=torch.uint8)); t(lambda: torch.frombuffer(b, dtype=torch.uint8, offset=9)); t(lambda: torch.frombuffer(array.array("f", [1, 2]), dtype=torch.float32)); t(lambda: torch.frombuffer(memoryview(b), dtype=torch.float32, requires_grad=True)); t(lambda: torch.frombuffer(3, dtype=torch.uint8))
import numpy as np, os
a = np.array([1, 40000, 65535], dtype=np.uint16); print(a.tobytes(), np.array([4000000000, 1], dtype=np.uint32).tobytes()); a.tofile("read_buffers.bin"); print(np.fromfile("read_buffers.bin", dtype=np.uint16), np.memmap("read_buffers.bin", dtype=np.uint16, mode="r")[1:3]); os.remove("read_buffers.bin")
np.arange(3, dtype=np.float32).tofile("read_buffers.bin"); print(np.fromfile("read_buffers.bin", dtype=np.float32)); os.remove("read_buffers.bin")
