# SPDX-License-Identifier: MIT
# What a dtype says of itself, and what it has not.
import torch
for d in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.uint8,torch.int16, torch.int32, torch.int64, torch.bool, torch.complex32, torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2):
    for n in ("abbr", "to_complex", "to_real"):
        try:
            v = getattr(d, n)
            print(d, n, v() if callable(v) else v)
        except Exception as e: print(d, n, type(e).__name__, str(e).split("\n")[0])
try: torch.float32.nothing
except Exception as e: print(type(e).__name__, e)
for n in ("nothing", "is_complex", "__name__"):
    try: print(getattr(torch.float32, n))
    except Exception as e: print(type(e).__name__, e)
print(hasattr(torch.float32, "nothing"), hasattr(torch.strided, "x"), hasattr(torch.contiguous_format, "x"))
for d in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64, torch.complex128, torch.complex32, torch.int8, torch.uint8, torch.int64):
    for f in (torch.finfo, torch.iinfo):
        try: i = f(d); print(i, i.bits, i.dtype, i.max, i.min, *( (i.eps, i.tiny, i.smallest_normal, i.resolution) if f is torch.finfo else ()))
        except Exception as e: print(type(e).__name__, e)
for f in (lambda: torch.float32.to_complex(3), lambda: torch.float32.to_real(1, 2), lambda: torch.float32.to_real(a=1)):
    try: f()
    except TypeError as e: print(e)
