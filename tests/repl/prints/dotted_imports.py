# SPDX-License-Identifier: MIT
# Modules that are imported by a dotted name are fields of their packages.
import torch
import torch.distributed.checkpoint.state_dict
import torch.distributed.fsdp
import torch.distributed.tensor.debug
import torch.distributed.tensor.experimental
import torch.distributed.tensor.parallel as parallel
import torch.nn.utils.parametrize as P

tensor = torch.distributed.tensor
print(tensor.debug.CommDebugMode.__name__, tensor.Shard(0))
print(torch.distributed.fsdp.OffloadPolicy.__name__)
print(callable(torch.distributed.checkpoint.state_dict.get_model_state_dict))
print(tensor.parallel.ColwiseParallel is parallel.ColwiseParallel)
print(callable(tensor.experimental.local_map))
print(torch.nn.utils.parametrize is P, P.is_parametrized(torch.nn.Linear(1, 1)))
print(torch.profiler.ProfilerActivity.CPU == torch.profiler.ProfilerActivity.CPU)
try:
    torch.distributed.pipelining.pipe_split
except AttributeError as e:
    print(type(e).__name__)
