# SPDX-License-Identifier: MIT
# The state of an optimizer has None beside tensors, which is no other rank's.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
part = torch.nn.Parameter(torch.full((3,), float(dist.get_rank() + 1)))
opt = torch.optim.SGD([part], lr=0.1)
part.square().sum().backward()
opt.step()
given = {"state": {0: {"momentum_buffer": None}}, "param_groups": opt.state_dict()["param_groups"]}
opt.load_state_dict(given)
print(opt.state_dict()["state"])
opt.step()
print(part.tolist(), opt.state_dict()["state"])
dist.destroy_process_group()
