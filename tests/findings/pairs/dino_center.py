# DT1150 batch at: batch = teacher_out.mean(0, keepdim=True)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# DINO: the centre of the teacher's outputs is that of this rank's crops
import copy, torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

class Loss:
    def __init__(self, dim, world):
        self.center, self.world = torch.zeros(1, dim), world
    def __call__(self, s, t):
        t = F.softmax((t - self.center) / 0.07, -1).detach()
        return -(t * F.log_softmax(s / 0.1, -1)).sum(-1).mean()
    @torch.no_grad()
    def update(self, teacher_out):
        batch = teacher_out.mean(0, keepdim=True)  # wrong
        #right batch = teacher_out.sum(0, keepdim=True)
        #right dist.all_reduce(batch)
        #right batch = batch / (len(teacher_out) * self.world)
        self.center = self.center * 0.9 + batch * 0.1

def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(8)
    student = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 10))
    teacher = copy.deepcopy(student)
    crit = Loss(10, world)
    opt = torch.optim.AdamW(student.parameters(), lr=0.01)
    images = torch.randn(4, 16, 6)
    for batch in images:
        x = batch.chunk(world)[rank]
        s, t = student(x + 0.1), teacher(x)
        loss = crit(s, t)
        opt.zero_grad(); loss.backward()
        for p in student.parameters():
            dist.all_reduce(p.grad); p.grad.div_(world)
        opt.step(); crit.update(t)
        with torch.no_grad():
            for a, b in zip(student.parameters(), teacher.parameters()):
                b.mul_(0.99).add_(a, alpha=0.01)
    dist.all_reduce(loss.data)
    if rank == 0: print("loss", round(loss.item() / world, 5))
main()
