# SPDX-License-Identifier: MIT
import torch
import torch.distributed as dist
from torch.distributed._local_tensor import LocalTensor, LocalTensorMode, local_tensor_mode, rank_map
from torch.distributed.tensor import DTensor, init_device_mesh, distribute_tensor, Shard, Replicate, Partial
dist.init_process_group("fake", rank=0, world_size=4)
with LocalTensorMode(4) as lm:
    mesh = init_device_mesh("cpu", (4,))
    x = distribute_tensor(torch.arange(8.0), mesh, [Shard(0)])
    l = x.to_local()
    print(isinstance(l, LocalTensor), isinstance(x, LocalTensor), local_tensor_mode() is not None)
    p = DTensor.from_local(lm.rank_map(lambda r: torch.full((2,), float(r))), mesh, [Partial()])
    print(p.full_tensor().reconcile())
    try:
        l.reconcile()
    except AssertionError as e:
        print("no:", e)
    y = x.sum()
    print(y.placements, y.full_tensor().reconcile())
