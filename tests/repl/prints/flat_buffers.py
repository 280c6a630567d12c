# SPDX-License-Identifier: MIT
# Several tensors as one flat buffer and back, older names of collectives; and
# what PyTorch 2.13 printed.
import os
import torch
import torch.distributed as dist
from torch._utils import (_flatten_dense_tensors, _take_tensors,
                          _unflatten_dense_tensors)

os.environ.setdefault("MASTER_ADDR", "localhost")
os.environ.setdefault("MASTER_PORT", "29534")
dist.init_process_group("gloo", rank=0, world_size=1)
ts = [torch.arange(4.).view(2, 2).t(), torch.ones(3), torch.zeros(0, 2)]
flat = _flatten_dense_tensors(ts)
back = _unflatten_dense_tensors(flat, ts)
print(flat, [tuple(t.shape) for t in back], type(back).__name__)
back[1].zero_()
print(flat)
mixed = [torch.ones(4), torch.ones(2, dtype=torch.int64), torch.ones(4),
         torch.ones(9)]
print([[tuple(t.shape) for t in c] for c in _take_tensors(mixed, 32)])
out = torch.zeros(2)
dist._all_gather_base(out, torch.ones(2))
print(out)
dist._reduce_scatter_base(out, torch.full((2,), 3.0))
print(out, dist.default_pg_timeout, dist.get_debug_level())
