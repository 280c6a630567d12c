# SPDX-License-Identifier: MIT
# What the nodes of overloads are called: sum of some dims is SumBackward1.
import torch
x = torch.ones(2, 3, requires_grad=True)
print(x.mean(1), x.mean(), x.sum(1), x.sum(), x.mean(1).grad_fn.name())
w = torch.ones(1, 2, 3, 3) * x.sum()
for y in (w.mean(dim=1), w.mean(1), w.mean((1, 2)), w.std(1), w.var(), w.max(1)[0], w.norm(), w.view(-1), w.squeeze(), w.squeeze(0), w.transpose(0, 1)[0], w.pow(2), w ** w, w / 2, w + 1, w.div(w), w.expand(2, 2, 3, 3)[0, 0], w.prod(), w.prod(1), w.split(1, 1)[0], w.unbind(1)[0], w.cumsum(1), w.where(w > 0, 0), w.clamp(min=0), w.index_select(1, torch.tensor([0])), w[:, [0]], w.softmax(1), w.amax(1), w.logsumexp(1), w.float(), w.double(), w.clone(), w.contiguous().abs(), w.repeat(1, 1, 1, 1), w.masked_fill(w > 3, 0), w.max(), w.min(1)[0], w.sort(1)[0], w.topk(1, 1)[0], w.gather(1, torch.zeros(1, 1, 1, 1, dtype=torch.long)), w.nan_to_num(), w.permute(0, 1, 3, 2), torch.cat([w, w]), torch.stack([w]), torch.einsum("abcd->d", w), torch.nn.functional.pad(w, (1, 1)), w.median(), w.median(1)[0], w.std(), w.var(1), w.squeeze((0,)), torch.lerp(w, w, .5), torch.lerp(w, w, w), torch.where(w > 0, w, w), w.norm(dim=1), w.norm(p=1), w.flatten(), w.unflatten(1, (1, 2)), w.reshape(2, 9), w[0], w[..., 0], w[None], w.chunk(2, 1)[1], w.fmod(2), w % 2, 2 ** w, 1 - w, 1 / w, w.sum((1, 2)), w.diagonal(), w.tril(), w.scatter_add(1, torch.zeros(1, 1, 1, 1, dtype=torch.long), w[:, :1, :1, :1]), w.sigmoid().log(), w.round(), w.sign(), w.to(torch.float16)):
    print(y.grad_fn.name())
for f in (lambda y: y.pow_(2), lambda y: y.pow_(x), lambda y: y.fill_(1), lambda y: y.fill_(torch.tensor(2.)), lambda y: y.fmod_(x), lambda y: y.remainder_(2)):
    print(f(x * 1).grad_fn.name())
