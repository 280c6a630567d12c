# SPDX-License-Identifier: MIT
# Pipelines of two stages and of four on two ranks: losses, outputs, gradients.
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.pipelining import (PipelineStage, Schedule1F1B, ScheduleGPipe,
                                          ScheduleInterleaved1F1B, ScheduleLoopedBFS)
from torch.distributed.pipelining.microbatch import TensorChunkSpec

dist.init_process_group("gloo")
rank = dist.get_rank()


class Part(nn.Module):
    def __init__(self, width, drop):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.drop = nn.Dropout(drop)

    def forward(self, x, scale=None):
        x = torch.tanh(self.drop(self.lin(x)))
        return x if scale is None else x * scale


class Two(nn.Module):
    """Hands on two tensors, of which one needs no gradient."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x, mask=None):
        if mask is None:
            mask = (x > 0).float()
            return self.lin(x), mask
        return self.lin(x) * mask


def parts(n, drop=0.0):
    torch.manual_seed(5)
    return [Part(4, drop) for _ in range(n)]


def data():
    torch.manual_seed(7)
    return torch.randn(8, 4), torch.randn(8, 4)


def show(name, *values):
    for v in values:
        if isinstance(v, torch.Tensor):
            v = [round(x, 3) for x in v.detach().flatten()[:4].tolist()] + list(v.shape)
        print(f"rank {rank} {name}: {v}")


device = torch.device("cpu")
loss_fn = nn.MSELoss()
for S in ScheduleGPipe, Schedule1F1B:
    m = parts(2)[rank]
    stage = PipelineStage(m, rank, 2, device)
    schedule = S(stage, 4, loss_fn=loss_fn)
    x, y = data()
    for step in range(2):
        losses = []
        if rank == 0:
            out = schedule.step(x)
        else:
            out = schedule.step(target=y, losses=losses)
        show(S.__name__, out, m.lin.weight.grad)
        if rank == 1:
            show("losses", torch.stack(losses), losses[0].requires_grad,
                 out.requires_grad, out.grad_fn)
    if rank == 0:
        show("eval", schedule.eval(x))
    else:
        losses = []
        out = schedule.eval(target=y, losses=losses)
        show("eval", out, len(losses), out.requires_grad)
    show("stage", stage.is_first, stage.is_last, stage.stage_index, stage.num_stages)

# dropout, sums that are not scaled, keyword arguments, another dim for the input
m = parts(2, 0.5)[rank]
stage = PipelineStage(m, rank, 2, device, group=dist.new_group())
schedule = ScheduleGPipe(stage, 2, loss_fn=nn.MSELoss(reduction="sum"), scale_grads=False,
                         args_chunk_spec=(TensorChunkSpec(0),))
x, y = data()
torch.manual_seed(11 + rank)
if rank == 0:
    schedule.step(x, scale=2.0)
else:
    out = schedule.step(target=y, scale=torch.arange(8.0).view(8, 1))
    show("dropout", out)
show("dropout", m.lin.weight.grad, m.lin.bias.grad)

torch.manual_seed(3)
both = [Two(), Two()]
stage = PipelineStage(both[rank], rank, 2, device)
schedule = Schedule1F1B(stage, 4, loss_fn=loss_fn)
x, y = data()
out = schedule.step(x) if rank == 0 else schedule.step(target=y)
show("two", out, both[rank].lin.weight.grad)

for S in ScheduleInterleaved1F1B, ScheduleLoopedBFS:
    mine = [p for i, p in enumerate(parts(4, 0.25)) if i % 2 == rank]
    stages = [PipelineStage(p, i * 2 + rank, 4, device) for i, p in enumerate(mine)]
    schedule = S(stages, 4, loss_fn=loss_fn)
    x, y = data()
    torch.manual_seed(20 + rank)
    losses = []
    for step in range(2):
        if rank == 0:
            out = schedule.step(x)
        else:
            out = schedule.step(target=y, losses=losses)
            show("losses", torch.stack(losses))
        show(S.__name__, out, *[p.lin.weight.grad for p in mine])

def attempt(f):
    try:
        f()
    except Exception as e:
        print(f"rank {rank} {type(e).__name__} {e}")

m = parts(1)[0]
stage = PipelineStage(m, rank, 2, device)
attempt(lambda: PipelineStage(m, 2, 2, device))
attempt(lambda: Schedule1F1B(stage, 1, loss_fn=loss_fn))
attempt(lambda: ScheduleGPipe(stage, 4, loss_fn=loss_fn).step(torch.ones(2, 4)))
attempt(lambda: ScheduleGPipe(stage, 2, loss_fn=loss_fn).step(arg_mbs=[(x,)]))
attempt(lambda: ScheduleInterleaved1F1B([stage, stage], 5, loss_fn=loss_fn))
with torch.no_grad():
    attempt(lambda: ScheduleGPipe(stage, 2, loss_fn=loss_fn).step(x))
print(TensorChunkSpec(1), TensorChunkSpec.from_tuple((0, 1)), TensorChunkSpec.from_dict({"a": 2}))
dist.destroy_process_group()
