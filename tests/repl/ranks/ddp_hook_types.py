# SPDX-License-Identifier: MIT
# The types that a hook of DDP names, and what is asked of backends.
import torch, torch.nn as nn, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
dist.init_process_group("gloo")
print(dist.GradBucket.__module__, dist.GradBucket.__name__)
try: dist.GradBucket()
except Exception as e: print(type(e).__name__, e)
def hook(state, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    print(isinstance(bucket, dist.GradBucket), isinstance(3, dist.GradBucket), bucket.index(), bucket.is_last())
    t = bucket.buffer().div_(dist.get_world_size())
    return dist.all_reduce(t, async_op=True).get_future().then(lambda f: f.value()[0])
torch.manual_seed(0)
m = DDP(nn.Linear(2, 1))
m.register_comm_hook(None, hook)
m(torch.ones(1, 2) * (dist.get_rank() + 1)).sum().backward()
print(m.module.weight.grad.tolist())
dist.set_debug_level(dist.DebugLevel.INFO)
print(dist.get_debug_level(), dist.is_backend_available("gloo"), dist.is_backend_available("none"), dist.is_backend_available("GLOO"), dist.supports_complex(dist.ReduceOp.SUM), dist.supports_complex(dist.ReduceOp.MAX))
print(int(dist.get_debug_level()), dist.is_backend_available("fake"), dist.is_backend_available("xccl"))
for bad in (1, "INFO"):
    try: dist.set_debug_level(bad)
    except TypeError as e: print(e)
dist.destroy_process_group()
