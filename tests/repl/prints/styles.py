# SPDX-License-Identifier: MIT
# Parallel styles: their fields, and classes of a program's own below them.
import torch
import torch.nn as nn
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel, ParallelStyle, PrepareModuleInput, PrepareModuleOutput,
    RowwiseParallel, SequenceParallel, parallelize_module)

dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
mesh = init_device_mesh("cpu", (1,), mesh_dim_names=("tp",))

c = ColwiseParallel()
print(c.input_layouts, c.output_layouts, c.desired_input_layouts, c.use_local_output, c.src_data_rank)
print(type(c), isinstance(c, ColwiseParallel), isinstance(c, ParallelStyle), isinstance(c, RowwiseParallel))
print(SequenceParallel().sequence_sharding, SequenceParallel())
p = PrepareModuleInput(input_layouts=(Shard(0), None), desired_input_layouts=(Replicate(), None))
print(p.input_layouts, p.desired_input_layouts, p.input_kwarg_layouts, p.with_kwargs)
o = PrepareModuleOutput(output_layouts=Shard(0), desired_output_layouts=Replicate())
print(o.output_layouts, o)
c.use_local_output = False
c.output_layouts = (Replicate(),)
print(c)
for bad in (lambda: ParallelStyle(), lambda: ColwiseParallel(Shard(0)), lambda: PrepareModuleOutput()):
    try:
        bad()
    except TypeError as e:
        print("TypeError", str(e).split("(")[0].split("class")[0])


class Told(ColwiseParallel):
    def __init__(self, word, **kw):
        super().__init__(**kw)
        self.word = word

    @staticmethod
    def _prepare_input_fn(input_layouts, desired_input_layouts, mod, inputs, device_mesh):
        print("in", input_layouts, desired_input_layouts, type(mod).__name__, len(inputs), device_mesh)
        return ColwiseParallel._prepare_input_fn(input_layouts, desired_input_layouts, mod, inputs, device_mesh)

    def _partition_linear_fn(self, name, module, device_mesh):
        print("partition", repr(name), self.word, self.src_data_rank)
        super()._partition_linear_fn(name, module, device_mesh)

    @staticmethod
    def _prepare_output_fn(output_layouts, use_local_output, mod, outputs, device_mesh):
        print("out", output_layouts, use_local_output, outputs.placements)
        return outputs.redistribute(placements=output_layouts)


class Sharded(ParallelStyle):
    """Every parameter by its first dimension."""
    def _place(self, name, module, device_mesh):
        for n, q in list(module.named_parameters(recurse=False)):
            module.register_parameter(n, nn.Parameter(distribute_tensor(q, device_mesh, [Shard(0)])))

    def _apply(self, module, device_mesh):
        print("apply", self.src_data_rank)
        return distribute_module(module, device_mesh, self._place,
                                 lambda m, inputs, mesh: (DTensor.from_local(inputs[0], mesh, [Replicate()]),),
                                 lambda m, out, mesh: out.full_tensor())


class First(PrepareModuleInput):
    def _prepare_input_fn(self, inputs, device_mesh):
        print("first", len(inputs), self.input_layouts)
        return super()._prepare_input_fn(inputs, device_mesh)


class Twice(SequenceParallel):
    def _replicate_module_fn(self, name, module, device_mesh):
        print("replicate", type(module).__name__)
        super()._replicate_module_fn(name, module, device_mesh)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.Linear(6, 2))
ref = net(torch.ones(3, 4)).detach()
parallelize_module(net, mesh, {"0": Told("hello"), "1": Twice(sequence_dim=0, use_local_output=True), "2": Sharded()})
parallelize_module(net, mesh, First(input_layouts=Replicate(), desired_input_layouts=Replicate()))
print(Told("x"), Twice())
h = net[0](torch.ones(3, 4))
print(type(h).__name__, h.placements)
out = net[2](net[1](h.to_local()))
print(torch.equal(out, ref), [(n, q.placements) for n, q in net.named_parameters()])
try:
    print(net(torch.ones(3, 4)).shape)
except Exception as e:
    print(type(e).__name__)
dist.destroy_process_group()
