# SPDX-License-Identifier: MIT
# Modules that learn their sizes from the first input, padding modes of
# convolutions, the loss of a linear layer, repeat_interleave in all its forms;
# and what PyTorch 2.13 printed.
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
m=nn.LazyConv2d(4,3,padding=1); x=torch.randn(2,3,5,5); print(m(x).sum(), m, type(m).__name__)
m=nn.LazyLinear(4); print(m(torch.randn(2,3)).sum(), m.weight.shape, sum(p.numel() for p in m.parameters()))
m=nn.LazyBatchNorm1d(); m(torch.randn(4,3)); print(m, m.running_mean.shape)
m=nn.LazyConvTranspose1d(2,3); print(m(torch.randn(1,3,5)).sum(), m)
m=nn.Sequential(nn.LazyLinear(3), nn.ReLU(), nn.LazyLinear(1)); print(m(torch.ones(1,2)).shape)
for mode in ("reflect","replicate","circular"):
    for pad in (1,2,(1,2),"same","valid"):
        c=nn.Conv2d(2,3,3,padding=pad,padding_mode=mode); print(c, c(torch.randn(1,2,6,6)).sum())
c=nn.Conv1d(2,2,4,padding="same",padding_mode="reflect",dilation=2); print(c(torch.randn(2,9)).sum())
print(nn.CircularPad1d(1)(torch.arange(6.).reshape(2,3)), nn.CircularPad2d((1,0,1,1))(torch.arange(6.).reshape(1,2,3)))
b=nn.BatchNorm1d(3,bias=False); print(b, b(torch.ones(2,3)), b.bias)
l=nn.LinearCrossEntropyLoss(3,4,bias=True,out_features=(2,)); print(l, l(torch.randn(5,3), torch.randint(0,4,(5,2))))
w=torch.randn(4,3,requires_grad=True); o=F.linear_cross_entropy(torch.randn(2,3),w,torch.tensor([0,1]),reduction="sum"); o.backward(); print(o, w.grad)
for f in (lambda: F.linear_cross_entropy(torch.ones(2,3), torch.ones(4,2), torch.tensor([0,1])), lambda: nn.Conv1d(1,1,1,padding_mode="x")):
    try: f()
    except Exception as e: print(type(e).__name__, str(e)[:30])
print(torch.repeat_interleave(torch.tensor([1,2])), torch.repeat_interleave(torch.tensor([[1,2],[3,4]]),2), torch.tensor([[1,2],[3,4]]).repeat_interleave(torch.tensor([1,2]),dim=0), torch.repeat_interleave(torch.tensor([1,2]),repeats=2), torch.tensor([[1,2],[3,4]]).repeat_interleave(torch.tensor([1,2,0,1])), torch.tensor([[1,2]]).repeat_interleave(torch.tensor(2)))
print(torch.narrow(torch.arange(4.),0,torch.tensor(1),2), torch.arange(4.).narrow(0,1,2), torch.scalar_tensor(1.0,requires_grad=True), torch.tensor([1.]).polygamma(1), torch.spmm(torch.eye(2),torch.eye(2)))
print(nn.init._calculate_fan_in_and_fan_out(torch.empty(3, 5, 2, 2)), nn.init._calculate_correct_fan(torch.empty(3, 5), "fan_out"))
for bad in (lambda: nn.init._calculate_fan_in_and_fan_out(torch.ones(2)), lambda: nn.init._calculate_correct_fan(torch.ones(2, 2), "fan")):
    try: bad()
    except ValueError as e: print(e)
