# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
import spmd_types as spmd
from spmd_types import R, I, V, P, S
from spmd_types.checker import typecheck
from torch.distributed.device_mesh import init_device_mesh

mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
dp, tp = mesh.get_group("dp"), mesh.get_group("tp")
part, cut = dist.get_rank(tp), dist.get_world_size(tp)
torch.manual_seed(0)
DIM, HEADS, HIDDEN, VOCAB, SEQ = 8, 4, 16, 12, 6


def parameter(shape, tp_type, dim=None):
    with spmd.no_typecheck():
        w = torch.randn(*shape) * 0.2
        w = w if dim is None else w.chunk(cut, dim)[part].clone()
        p = nn.Parameter(w)
    return spmd.assert_type(p, {"dp": R, "tp": tp_type})


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv = (parameter((DIM, DIM), V, 0) for _ in range(3))
        self.wo = parameter((DIM, DIM), V, 1)

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        q, k, v = (F.linear(x, w).view(b, t, HEADS // cut, -1).transpose(1, 2)
                   for w in (self.wq, self.wk, self.wv))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = F.linear(y.transpose(1, 2).reshape(b, t, -1), self.wo)
#6:        y = spmd.all_reduce(y, tp, dst=R)
        return spmd.all_reduce(y, tp, dst=R)


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w3 = parameter((HIDDEN, DIM), V, 0), parameter((HIDDEN, DIM), V, 0)
        self.w2 = parameter((DIM, HIDDEN), V, 1)

    def forward(self, x):
        h = F.silu(F.linear(x, self.w1)) * F.linear(x, self.w3)
        y = F.linear(h, self.w2)
        return spmd.all_reduce(y, tp, dst=R)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = parameter((DIM,), R), parameter((DIM,), R)  # not 4
#4:        self.n1, self.n2 = parameter((DIM,), R), parameter((DIM,), I)
        self.attention, self.mlp = Attention(), FeedForward()

    def forward(self, x, cos, sin):
        x = x + self.attention(F.rms_norm(x, (DIM,), self.n1), cos, sin)
        return x + self.mlp(F.rms_norm(x, (DIM,), self.n2))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = parameter((VOCAB, DIM), R)
        self.layers = nn.ModuleList([Block() for _ in range(2)])
        self.norm = parameter((DIM,), R)
        self.head = parameter((VOCAB, DIM), V, 0)

    def forward(self, ids, cos, sin):
        x = F.embedding(ids, self.tok)
        for layer in self.layers:
            x = layer(x, cos, sin)
        x = F.rms_norm(x, (DIM,), self.norm)
        logits = F.linear(x, self.head)
        return spmd.all_gather(logits, tp, src=S(-1), dst=I)  # not 2
#2:        return spmd.all_gather(logits, tp, src=S(-1), dst=R)


def train():
    model = Llama()
    with spmd.no_typecheck():
        ids = torch.randint(0, VOCAB, (4, SEQ)).chunk(2)[dist.get_rank(dp)]
        angle = torch.outer(torch.arange(SEQ), torch.tensor([1.0]))
        cos, sin = angle.cos(), angle.sin()
    spmd.assert_type(ids, {"dp": V, "tp": R})
#3:    spmd.assert_type(ids, {"dp": R})
    spmd.assert_type([cos, sin], {"dp": R, "tp": R})  # not 5
#5:    spmd.assert_type([cos], {"dp": R, "tp": R})
    for step in range(2):
        logits = model(ids, cos, sin)
        target = spmd.reinterpret_no_grad(ids.roll(-1, 1), tp, dst=I)
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
        loss = spmd.all_reduce(loss, dp, dst=I)  # not 1
        loss.backward()
    return loss.item()


with spmd.set_current_mesh(mesh), typecheck():
    result = train()
print("result %.5f" % result)
