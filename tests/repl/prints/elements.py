# SPDX-License-Identifier: MIT
# torch.tensor of complex numbers and of tensors; what rms_norm refuses.
import torch
import torch.nn.functional as F


def tell(f):
    try:
        print(f())
    except (TypeError, ValueError, RuntimeError) as e:
        print(type(e).__name__, e)


tell(lambda: torch.tensor([1 + 2j, 3 - 1j]))
tell(lambda: torch.tensor([[1j], [2.0]]))
tell(lambda: torch.tensor([True, 1j]))
tell(lambda: torch.as_tensor([1j, 2]))
tell(lambda: torch.tensor([1 + 2j], dtype=torch.float32))
tell(lambda: torch.tensor([torch.tensor(1.5), torch.tensor(2)]))
tell(lambda: torch.tensor([[torch.tensor(1)], [torch.tensor([2])]]))
tell(lambda: torch.tensor([torch.tensor(1.5, dtype=torch.float64), 2]))
tell(lambda: torch.tensor([torch.tensor(3, dtype=torch.int32)]).dtype)
tell(lambda: torch.tensor([torch.tensor(True), torch.tensor(False)]))
tell(lambda: torch.tensor([torch.tensor(1.5)], dtype=torch.int64))
tell(lambda: torch.tensor([torch.ones(2), torch.ones(2)]))
tell(lambda: torch.tensor([[torch.tensor(1.0), 2.0], [3.0]]))

tell(lambda: F.rms_norm(torch.ones(3), []))
tell(lambda: F.rms_norm(torch.ones(3), [4]))
tell(lambda: F.rms_norm(torch.ones(2, 3, 4), [2, 4]))
tell(lambda: F.rms_norm(torch.ones(2, 3), [2, 3, 4]))
tell(lambda: F.rms_norm(torch.ones(2, 3), (3,), torch.ones(2)))
tell(lambda: F.rms_norm(torch.ones(2, 3), (2, 3), torch.ones(3)))
tell(lambda: torch.rms_norm(torch.ones(2, 3), [4]))
tell(lambda: F.rms_norm(torch.ones(2, 3), 3))
tell(lambda: torch.nn.RMSNorm(4)(torch.ones(2, 3)))
tell(lambda: F.rms_norm(torch.ones(2, 3), [3], eps=0.0))
