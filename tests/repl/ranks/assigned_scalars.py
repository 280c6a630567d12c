# SPDX-License-Identifier: MIT
# Numbers and tensors of no dimensions written into rows, columns and parts of a
# sharded tensor: the latter fill, and there is no rule for that.
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

mesh = init_device_mesh("cpu", (2,))


def tell(name, write, value):
    x = distribute_tensor(torch.arange(8.).reshape(4, 2), mesh, [Shard(0)])
    try:
        write(x, value)
        said = f"{x.placements} {x.full_tensor().flatten().tolist()}"
    except Exception as e:
        said = f"{type(e).__name__} {str(e).splitlines()[0]}"
    if dist.get_rank() == 0:
        print(name, said)


def column(x, v): x[:, 1] = v
def row(x, v): x[3] = v
def all_of_it(x, v): x[...] = v
def one(x, v): x[1, 1] = v


for write in (column, row, all_of_it, one):
    tell(f"{write.__name__} number", write, 5.0)
    tell(f"{write.__name__} tensor", write, torch.tensor(5.0))
    tell(f"{write.__name__} of one", write, torch.tensor([5.0]))
x = torch.zeros(2, 3)
x[0] = torch.tensor(2)
x[1, 1] = torch.tensor(True)
if dist.get_rank() == 0:
    print(x.tolist())
dist.destroy_process_group()
