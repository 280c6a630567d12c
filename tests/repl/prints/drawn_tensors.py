# SPDX-License-Identifier: MIT
# torch.testing.make_tensor: types, bounds, layouts, refusals.
import torch
from torch.testing import make_tensor, assert_allclose
import warnings
warnings.simplefilter("ignore")
torch.manual_seed(0)
def t(*a, **k):
    try:
        r = make_tensor(*a, **k); print(r, r.stride(), r.requires_grad, r.is_contiguous())
    except Exception as e: print(type(e).__name__, e)
for d in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool, torch.complex64, torch.complex128):
    t((2, 3), dtype=d, device="cpu")
    t(2, 2, dtype=d, device="cpu", low=0, high=1 if d == torch.bool else 5)
    t([4], dtype=d, device="cpu", exclude_zero=True, low=0, high=2)
t((), dtype=torch.float32, device="cpu")
t(dtype=torch.float32, device="cpu")
t(0, dtype=torch.float32, device="cpu")
t((2, 3), dtype=torch.float32, device="cpu", noncontiguous=True)
t((1,), dtype=torch.float32, device="cpu", noncontiguous=True)
t((2, 2, 2, 2), dtype=torch.float32, device="cpu", memory_format=torch.channels_last)
t((2, 2), dtype=torch.float32, device="cpu", memory_format=torch.contiguous_format, noncontiguous=True)
t((2,), dtype=torch.float32, device="cpu", low=3, high=3)
t((2,), dtype=torch.float32, device="cpu", low=4, high=3)
t((2,), dtype=torch.int64, device="cpu", low=3, high=3)
t((2,), dtype=torch.int64, device="cpu", low=1.5, high=3.5)
t((2,), dtype=torch.int64, device="cpu", requires_grad=True)
t((2,), dtype=torch.float32, device="cpu", requires_grad=True)
t((2,), dtype=torch.uint8, device="cpu", low=-5, high=-1)
t((2,), dtype=torch.uint8, device="cpu", low=-5, high=3)
t((2,), dtype=torch.float32, device="cpu", low=float("nan"))
t((2,), dtype=torch.float32, device="cpu", low=-float("inf"), high=float("inf"))
t((2,), dtype=torch.float32, device="cpu", low=float("inf"), high=float("inf"))
t((2,), dtype=torch.int64, device="cpu", low=float("-inf"), high=float("inf"))
t((2,), dtype=torch.bool, device="cpu", low=0, high=3)
t((2,), dtype=torch.float16, device="cpu", low=-1e6, high=1e6)
t((2,), dtype=torch.float32)
t((2,), device="cpu")
t((2,), dtype=torch.float8_e4m3fn, device="cpu")
