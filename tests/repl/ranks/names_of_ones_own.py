# SPDX-License-Identifier: MIT
# State dicts and DDP of modules that name their parameters themselves.
import torch, torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.checkpoint.state_dict import get_model_state_dict, get_state_dict, StateDictOptions, set_model_state_dict
from torch.nn.parallel import DistributedDataParallel as DDP
dist.init_process_group("gloo")
torch.manual_seed(0)
m = FSDP(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 2)), device_id=torch.device("cpu"))
try:
    sd = get_model_state_dict(m, options=StateDictOptions(full_state_dict=True))
    if dist.get_rank() == 0: print({k: tuple(v.shape) for k, v in sd.items()})
except Exception as e:
    print(type(e).__name__, str(e)[:200])
class Own(torch.nn.Linear):
    def named_parameters(self, *a, **k):
        for n, p in super().named_parameters(*a, **k):
            yield "own_" + n, p
o = DDP(Own(2, 2))
o(torch.ones(1, 2)).sum().backward()
if dist.get_rank() == 0: print(o.module.weight.grad)
dist.destroy_process_group()
