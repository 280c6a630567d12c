# SPDX-License-Identifier: MIT
# What reads along a dimension, of tensors that do not lie in rows: turned, every
# second element, expanded, one element, none.
import warnings

import torch
import torch.nn.functional as F

warnings.simplefilter("ignore")
base = torch.arange(24.0).view(2, 3, 4).remainder(7)
layouts = {"rows": base, "turned": base.transpose(0, 2), "second": base[..., ::2], "expanded": base[:1].expand(2, 3, 4),
           "one": base[:1, :1, :1], "none": base[:, :0], "inner": base.permute(1, 0, 2)}
calls = {"softmax": F.softmax, "log_softmax": F.log_softmax, "cumsum": torch.cumsum, "cumprod": torch.cumprod,
         "sum": torch.sum, "amax": torch.amax, "argmax": torch.argmax, "var": torch.var, "logsumexp": torch.logsumexp,
         "sort": torch.sort, "prod": torch.prod, "median": torch.median, "norm": lambda x, d: torch.linalg.vector_norm(x, 2, d),
         "flip": lambda x, d: x.flip(d), "roll": lambda x, d: x.roll(1, d), "diff": lambda x, d: x.diff(dim=d),
         "layer": lambda x, d: F.layer_norm(x.transpose(d, 2), (x.shape[d],)), "cummax": torch.cummax,
         "select": lambda x, d: x.index_select(d, torch.tensor([0, 0])), "gather": lambda x, d: x.gather(d, torch.zeros_like(x).long()),
         "glu": lambda x, d: F.glu(torch.cat([x, x], d), d), "normalize": lambda x, d: F.normalize(x, dim=d)}
for name, f in calls.items():
    for label, x in layouts.items():
        if name in ("flip", "roll", "select") and x.numel() < 2 or name == "median" and label == "expanded":
            continue                # as they lie; what PyTorch writes over
        for d in range(3):
            for t in (torch.float32, torch.float64):
                y = x.to(t)
                y = y if y.stride() == x.stride() else torch.empty_strided(x.shape, x.stride(), dtype=t).copy_(x) if label != "expanded" else y
                try:
                    z = y.detach().requires_grad_() if name not in ("argmax",) else y
                    r = f(z, d)
                    r = r[0] if isinstance(r, tuple) else r
                    out = [r.stride(), round(float((r.double() * torch.arange(r.numel()).view(r.shape)).sum()), 3)]
                    if r.requires_grad and label != "expanded":
                        (r * torch.arange(r.numel()).view(r.shape)).sum().backward()
                        out.append(round(float((z.grad.double() * torch.arange(z.numel()).view(z.shape)).nan_to_num().sum()), 2))
                    print(name, label, d, str(t)[6:], *out)
                except Exception as e:
                    print(name, label, d, str(t)[6:], type(e).__name__, str(e).split("\n")[0][:80])
