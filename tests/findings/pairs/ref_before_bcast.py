# DT1126 self.emb.weight at: ref = copy.deepcopy(policy).requires_grad_(False)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist


class TinyLM(nn.Module):
    def __init__(self, vocab=16, dim=12):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.Linear(dim, dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.head(torch.tanh(self.rnn(self.emb(ids))))


def sync_from_rank0(module):
    with torch.no_grad():
        for p in module.parameters():
            dist.broadcast(p, 0)


def sequence_logp(model, ids):
    logp = F.log_softmax(model(ids[:, :-1]), -1)
    return logp.gather(2, ids[:, 1:].unsqueeze(-1)).squeeze(-1).sum(1)


def dpo_loss(policy, ref, chosen, rejected, beta=0.5):
    with torch.no_grad():
        base = sequence_logp(ref, chosen) - sequence_logp(ref, rejected)
    margin = sequence_logp(policy, chosen) - sequence_logp(policy, rejected)
    return -F.logsigmoid(beta * (margin - base)).mean()


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(7 * rank + 3)
    policy = TinyLM()
    ref = copy.deepcopy(policy).requires_grad_(False)  # wrong
    sync_from_rank0(policy)
    #right ref = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.AdamW(policy.parameters(), lr=5e-3)
    for step in range(3):
        chosen = torch.randint(0, 16, (4, 6))
        rejected = torch.randint(0, 16, (4, 6))
        loss = dpo_loss(policy, ref, chosen, rejected)
        opt.zero_grad()
        loss.backward()
        flat = torch.cat([p.grad.flatten() for p in policy.parameters()])
        dist.all_reduce(flat)
        flat /= world
        start = 0
        for p in policy.parameters():
            p.grad.copy_(flat[start:start + p.numel()].view_as(p))
            start += p.numel()
        opt.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if rank == 0:
            print("step", step, "dpo loss %.5f" % (mean / world).item())


main()
