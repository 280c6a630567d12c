# SPDX-License-Identifier: MIT
# What a dtype says of itself, and what it has not.
import torch
for n in ("nothing", "is_complex", "__name__"):
    try: print(getattr(torch.float32, n))
    except Exception as e: print(type(e).__name__, e)
print(hasattr(torch.float32, "nothing"), hasattr(torch.strided, "x"), hasattr(torch.contiguous_format, "x"))
