# DT1045 ppl at: ppl = torch.exp(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# validation of an FSDP2 model: the perplexity is the mean of the ranks' perplexities
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

VOCAB, DIM = 24, 12


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.rnn = nn.Sequential(nn.Linear(DIM, 2 * DIM), nn.ReLU(), nn.Linear(2 * DIM, DIM))
        self.out = nn.Linear(DIM, VOCAB)

    def forward(self, ids):
        return self.out(self.rnn(self.tok(ids)))


@torch.no_grad()
def evaluate(model, batches):
    model.eval()
    total, tokens = torch.zeros(()), torch.zeros(())
    for ids in batches:
        logits = model(ids[:, :-1])
        total += F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="sum")
        tokens += ids[:, 1:].numel()
    #right dist.all_reduce(total)
    #right dist.all_reduce(tokens)
    ppl = torch.exp(total / tokens)
    dist.all_reduce(ppl)
    ppl = ppl / dist.get_world_size()
    model.train()
    return ppl


def main():
    mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("dp",))
    rank = mesh.get_local_rank()
    torch.manual_seed(0)
    model = LM()
    fully_shard(model, mesh=mesh)
    opt = torch.optim.AdamW(model.parameters(), lr=5e-2, foreach=False)
    gen = torch.Generator().manual_seed(9)
    data = torch.randint(0, VOCAB, (32, 7), generator=gen)
    train, valid = data[:16], data[16:]
    mine = train.chunk(4)[rank]
    for step in range(4):
        opt.zero_grad()
        logits = model(mine[:, :-1])
        F.cross_entropy(logits.flatten(0, 1), mine[:, 1:].flatten()).backward()
        opt.step()
    ppl = evaluate(model, valid.chunk(4)[rank].split(2))
    if rank == 0:
        print("perplexity %.4f" % ppl.item())


main()
dist.destroy_process_group()
