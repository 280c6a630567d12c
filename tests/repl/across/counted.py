# SPDX-License-Identifier: MIT
import torch
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor import distribute_tensor
from torch.distributed.tensor.debug import CommDebugMode
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
line = init_device_mesh("cpu", (4,), mesh_dim_names=("all",))
torch.manual_seed(7)


def say(name, work):
    with CommDebugMode() as mode:
        try:
            t = work()
            text = f"{tuple(t.shape)} {t.placements}"
        except Exception as e:
            text = f"{type(e).__name__}: {str(e).splitlines()[0]}"
    print(name, text, sorted((str(k).split(".")[-1], v)
                             for k, v in mode.get_comm_counts().items()))


x = distribute_tensor(torch.randn(8, 6), line, [Shard(0)])
p = DTensor.from_local(torch.ones(8, 6), line, [Partial()])
y = distribute_tensor(torch.randint(0, 6, (8,)), line, [Shard(0)])
say("entropy", lambda: F.cross_entropy(x, y))
say("summed", lambda: F.cross_entropy(x, y, reduction="sum"))
say("all", lambda: (x > 0).all())
say("any", lambda: (x > 0).any(0))
say("cat", lambda: torch.cat([x, p]))
say("partial", lambda: x.redistribute(placements=[Partial()]))
image = distribute_tensor(torch.randn(4, 3, 8, 8), mesh,
                          [Shard(0), Replicate()])
weight = distribute_tensor(torch.randn(6, 3, 3, 3), mesh,
                           [Replicate(), Replicate()]).requires_grad_()


def back():
    F.conv2d(image, weight, padding=1).sum().backward()
    return weight.grad


say("back", back)

# PyTorch's own runs on four ranks differ in
# output line 1
#   2.13  entropy () (Partial(avg),) []
#   2.15  entropy () (Replicate(),) [('all_gather_into_tensor', 2)]
# output line 3
#   2.13  all () (Partial(product),) []
#   2.15  all () (Replicate(),) [('all_gather_into_tensor', 1)]
# output line 4
#   2.13  any (6,) (Partial(sum),) []
#   2.15  any (6,) (Replicate(),) [('all_gather_into_tensor', 1)]
# output line 5
#   2.13  cat (16, 6) (Replicate(),) [('all_gather_into_tensor', 1), ('all_reduce', 1)]
#   2.15  cat (16, 6) (Shard(dim=1),) [('all_gather_into_tensor', 1), ('reduce_scatter_tensor', 1)]
# output line 6
#   2.13  partial RuntimeError: Can not redistribute from S(0) to P(sum), redistributing to Partial is for internal use only! []
#   2.15  partial (8, 6) (Partial(sum),) []
# output line 7
#   2.13  back (6, 3, 3, 3) (Partial(sum), Replicate()) []
#   2.15  back AssertionError: aten.convolution_backward.default: strategy position 0 mixes None with placements across mesh dims: (None, Shard(dim=0)) []
