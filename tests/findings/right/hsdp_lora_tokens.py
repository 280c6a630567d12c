# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
"""HSDP with LoRA adapters, accumulation over ragged batches normalized by all tokens, warmup, full state dict."""
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, set_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

DIM, HEADS, VOCAB, SEQ, ACC = 16, 4, 24, 10, 3


class LoRALinear(nn.Module):
    def __init__(self, n_in, n_out, r=2, alpha=4.0, dropout=0.05):
        super().__init__()
        self.base = nn.Linear(n_in, n_out, bias=False)
        self.base.weight.requires_grad_(False)
        self.lora_a = nn.Linear(n_in, r, bias=False)
        self.lora_b = nn.Linear(r, n_out, bias=False)
        nn.init.kaiming_uniform_(self.lora_a.weight, a=math.sqrt(5))
        nn.init.zeros_(self.lora_b.weight)
        self.drop, self.scaling = nn.Dropout(dropout), alpha / r

    def forward(self, x):
        return self.base(x) + self.lora_b(self.lora_a(self.drop(x))) * self.scaling


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.q, self.k, self.v, self.o = (LoRALinear(DIM, DIM) for _ in range(4))
        self.up, self.down = LoRALinear(DIM, 3 * DIM), LoRALinear(3 * DIM, DIM)

    def forward(self, x):
        b, t, _ = x.shape
        h = self.n1(x)
        q, k, v = (f(h).view(b, t, HEADS, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, DIM)
        x = x + self.o(o)
        return x + self.down(F.gelu(self.up(self.n2(x))))


class LM(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, DIM), nn.Embedding(SEQ, DIM)
        self.blocks = nn.ModuleList(Block() for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(DIM), nn.Linear(DIM, VOCAB, bias=False)
        for m in (self.tok, self.pos, self.head):
            m.weight.requires_grad_(False)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.size(1), device=ids.device))
        for b in self.blocks:
            x = b(x)
        return self.head(self.norm(x))


class Data:
    def __init__(self, rank, seed=0):
        self.gen = torch.Generator().manual_seed(1000 * seed + rank)

    def batch(self, n=2):
        ids = torch.randint(0, VOCAB, (n, SEQ + 1), generator=self.gen)
        lengths = torch.randint(4, SEQ + 1, (n,), generator=self.gen)
        labels = ids[:, 1:].clone()
        labels[torch.arange(SEQ)[None] >= lengths[:, None]] = -100
        return ids[:, :-1], labels


def shard(model, mesh):
    policy = MixedPrecisionPolicy(param_dtype=torch.float32, reduce_dtype=torch.float32)
    for b in model.blocks:
        fully_shard(b, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)


def step(model, opt, sched, data, world):
    batches = [data.batch() for _ in range(ACC)]
    count = sum((labels != -100).sum() for _, labels in batches)
    dist.all_reduce(count)
    opt.zero_grad(set_to_none=True)
    total = torch.zeros(())
    for i, (ids, labels) in enumerate(batches):
        model.set_requires_gradient_sync(i == ACC - 1)
        logits = model(ids)
        nll = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum")
        (nll * world / count).backward()
        total += nll.detach()
    norm = torch.nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
    opt.step()
    sched.step()
    dist.all_reduce(total)
    return (total / count).item(), norm.full_tensor().item()


def main():
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard"))
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = LM()
    shard(model, mesh)
    trainable = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(trainable, lr=5e-3, foreach=False)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 2))
    data = Data(rank, seed=1)
    torch.manual_seed(77 + rank)
    for i in range(3):
        loss, norm = step(model, opt, sched, data, world)
    full = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    torch.manual_seed(0)
    again = LM()
    shard(again, mesh)
    set_model_state_dict(again, full, options=StateDictOptions(full_state_dict=True, broadcast_from_rank0=True))
    again.eval(), model.eval()
    ids, _ = Data(0, seed=5).batch()
    with torch.no_grad():
        same = torch.equal(again(ids), model(ids))
    if rank == 0:
        print("loss %.5f norm %.5f same %s adapters %d" % (loss, norm, same, sum("lora" in k for k in full)))


main()
dist.destroy_process_group()
