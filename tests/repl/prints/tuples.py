# SPDX-License-Identifier: MIT
# Results that are several tensors are tuples; names of arguments of torch.split.
import torch
x = torch.arange(24.).view(2, 3, 4)
for n, a in dict(chunk=(2,), split=(1,), unbind=(), tensor_split=(2,), hsplit=(3,), vsplit=(2,), dsplit=(2,),
                 split_with_sizes=([1, 1],), unsafe_chunk=(2,), unsafe_split=(1,)).items():
    print(n, type(getattr(x, n)(*a)).__name__, type(getattr(torch, n)(x, *a)).__name__)
print(type(x.nonzero(as_tuple=True)).__name__, type(torch.where(x > 3)).__name__, type(torch.gradient(x)).__name__)
print(x.nonzero(as_tuple=True)[1][:4], torch.nonzero(x > 20), torch.nonzero(x, as_tuple=False).shape)
print(torch.split(tensor=x, split_size_or_sections=[1, 2], dim=1), x.split(split_size=3, dim=-1)[1].shape)
print(torch.chunk(input=x, chunks=2, dim=2)[0].shape)
for bad in (lambda: torch.nonzero(3), lambda: torch.split([1], 2)):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__, str(e).split("\n")[0])
print(type(torch.float32), isinstance(torch.float32, torch.dtype), isinstance(3, torch.dtype), torch.dtype)
s = torch.Size([2, 3])
print(s + torch.Size([4]), s + (5,), (5,) + s, s[1:], s * 2, isinstance(s, torch.Size), isinstance((1,), torch.Size), type(x.shape) is torch.Size)
