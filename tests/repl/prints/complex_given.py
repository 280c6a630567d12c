# SPDX-License-Identifier: MIT
# Complex numbers given to operators, factories, indices; what does not fit.
import torch
for a in ({}, {"dtype": torch.complex128}, {"dtype": torch.float32}, {"dtype": torch.int64}, {"dtype": torch.bool}, {"dtype": torch.complex64}):
    for v in (0.1j, 0.1+0j):
        for f in (lambda: torch.full((2,), v, **a), lambda: torch.full_like(torch.zeros(2), v, **a), lambda: torch.zeros(2, **a).fill_(v), lambda: torch.zeros(2, **a).add_(v), lambda: torch.zeros(2, **a).masked_fill_(torch.tensor([True, False]), v), lambda: torch.where(torch.tensor([True, False]), torch.zeros(2, **a), v), lambda: torch.zeros(2, **a).new_full((1,), v), lambda: torch.add(torch.zeros(2, **a), 1, alpha=v), lambda: torch.zeros(2, **a).index_fill_(0, torch.tensor([0]), v), lambda: torch.nn.init.constant_(torch.zeros(2, **a), v), lambda: torch.tensor(v, **a), lambda: torch.tensor([v, 1], **a)):
            try:
                r = f(); print(r.dtype, r.tolist())
            except Exception as e: print(type(e).__name__, str(e)[:110])
i = torch.tensor([0])
for d in (torch.float32, torch.int64, torch.bool, torch.complex64):
    for v in (1j, 1+0j, torch.tensor(1j), torch.tensor(2.5), 2.5):
        for f in (lambda: torch.zeros(2, dtype=d).index_fill_(0, i, v), lambda: torch.zeros(2, dtype=d).index_fill(0, i, v)):
            try: print(f())
            except Exception as e: print(type(e).__name__, str(e)[:120])
for v in (1j, 1+0j, 1e300, 300, -1):
    for d in (torch.float32, torch.int64, torch.bool, torch.uint8, torch.float16):
        try: print(torch.full((1,), v, dtype=d))
        except Exception as e: print(type(e).__name__, str(e)[:120])
for n in (0, 1, 2):
  for d in (torch.float16, torch.bfloat16, torch.float32, torch.uint8, torch.int64, torch.int32):
    for v in (1j, 1e300, 300, -1, -300):
        for f in (lambda: torch.full((n,), v, dtype=d), lambda: torch.zeros(n, dtype=d).fill_(v), lambda: torch.zeros(n, dtype=d).new_full((n,), v), lambda: torch.full_like(torch.zeros(n), v, dtype=d)):
            try: print(n, d, v, f().tolist())
            except Exception as e: print(n, d, v, type(e).__name__, str(e)[:120])
z = torch.zeros(2, dtype=torch.complex128); z[z==0] = complex(1e-3,1e-3); print(z)
z = torch.zeros(3, dtype=torch.complex128); z[0] = 0.1+0.1j; z[1:] = 0.2j; z[torch.tensor([2])] = 1/3+0j; print(z, z[2].item())
z = torch.zeros(2, dtype=torch.complex64); z[0] = 0.1+0.1j; z[z == 0] = 2j; print(z)
