# SPDX-License-Identifier: MIT
# Which parameters a norm has, and views of complex tensors with gaps.
import torch
import torch.nn as nn

for affine in (True, False):
    for bias in (True, False):
        g = nn.GroupNorm(2, 4, affine=affine, bias=bias)
        print(g, [n for n, _ in g.named_parameters()])
        m = nn.LayerNorm(4, elementwise_affine=affine, bias=bias)
        print(m, [(n, tuple(p.shape)) for n, p in m.named_parameters()], m.weight is None, m.bias is None, list(m.state_dict()))
    for m in (nn.BatchNorm1d(4, affine=affine), nn.RMSNorm(4, elementwise_affine=affine),
              nn.InstanceNorm1d(4, affine=affine), nn.BatchNorm1d(4, affine=affine, track_running_stats=False)):
        print(m, [n for n, _ in m.named_parameters()], [n for n, _ in m.named_buffers()])
for shape in ((3, 4, 2), (2, 2), (2,), (1, 3, 2, 2)):
    x = torch.arange(float(torch.Size(shape).numel())).view(shape)
    for y in (x, x[::2], x.transpose(0, -2) if x.ndim > 1 else x, x[:1]):
        try:
            z = torch.view_as_complex(y)
            print(tuple(z.shape), z.stride(), z.flatten().tolist()[:3], torch.view_as_real(z).stride())
        except Exception as e:
            print(type(e).__name__, str(e).split("\n")[0])
