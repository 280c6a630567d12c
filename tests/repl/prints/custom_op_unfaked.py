# SPDX-License-Identifier: MIT
# An operator by @custom_op runs on plain tensors as it is; on DTensors it is asked for
# its fake first, and with one for its sharding rule.
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.experimental import register_sharding

mesh = init_device_mesh("cpu", (1,))


@torch.library.custom_op("own::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:
    return x / 2


@torch.library.custom_op("own::parts", mutates_args=())
def parts(x: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    return x * k, x + k


# One that writes into its argument and gives nothing back needs no fake.
@torch.library.custom_op("own::add_one_", mutates_args=("x",))
def add_one_(x: torch.Tensor) -> None:
    x.add_(1)


def told(f, *args):
    try:
        return f(*args)
    except Exception as e:
        return type(e).__name__ + ": " + str(e).split("\n")[0]


x = torch.arange(4.0)
d = distribute_tensor(x, mesh, [Shard(0)])
print(halve(x), torch.ops.own.halve(x))
print(parts(x, 3))
print(told(halve, d))
print(told(torch.ops.own.halve, d))
print(told(parts, d, 3))
print(told(add_one_, d))
print(add_one_(x), x)


@halve.register_fake
def _(x):
    return torch.empty_like(x)


print(told(halve, d))


@register_sharding(torch.ops.own.halve.default)
def rule(x):
    return [([Shard(0)], [Shard(0)]), ([Replicate()], [Replicate()])]


print(halve(d))
