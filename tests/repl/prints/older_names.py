# SPDX-License-Identifier: MIT
# Names of older programs: Variable, DataParallel, custom_fwd, sequential
# checkpoints, where checkpoint functions live, errors of backends.
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.amp import custom_bwd, custom_fwd
from torch.autograd import Variable
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import async_save, save
from torch.utils.checkpoint import checkpoint_sequential, noop_context_fn

x = torch.ones(2)
v = Variable(x)
print(v is x, isinstance(x, Variable), isinstance(2.0, Variable), type(v), v.requires_grad)
w = Variable(x, requires_grad=True)
print(w.requires_grad, x.requires_grad, w.is_leaf)
w.data.add_(1)
print(x, Variable(w * 2).requires_grad, Variable(data=x, requires_grad=True).requires_grad)
try:
    Variable([1.0])
except TypeError as e:
    print(e)

torch.manual_seed(0)
m = nn.DataParallel(nn.Linear(2, 2))
print(m, list(m.state_dict()), m.device_ids, m.module.weight.shape, m(x).shape)
print(isinstance(m, torch.nn.parallel.DataParallel), type(m))


class Scale(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x, k):
        ctx.k = k
        print("forward", x.dtype, torch.is_autocast_enabled("cpu"))
        return x * k

    @staticmethod
    @custom_bwd(device_type="cpu")
    def backward(ctx, g):
        print("backward", g.dtype, torch.is_autocast_enabled("cpu"))
        return g * ctx.k, None


class Product(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type="cpu")
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    @custom_bwd(device_type="cpu")
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        print("backward", torch.is_autocast_enabled("cpu"), (g @ b.t()).dtype)
        return (g @ b.t()).float(), (a.t() @ g).float()


y = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
with torch.autocast("cpu", dtype=torch.bfloat16):
    out = Scale.apply(y, 3.0)
out.sum().backward()
print(out.dtype, y.grad)
a = torch.ones(2, 2, requires_grad=True)
with torch.autocast("cpu", dtype=torch.bfloat16):
    p = Product.apply(a, torch.eye(2))
p.float().sum().backward()
print(p.dtype, a.grad)
Product.apply(a, torch.eye(2)).sum().backward()

layers = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(5)])
z = torch.ones(3, 4, requires_grad=True)
plain = layers(z)
plain.sum().backward()
before = [z.grad.clone(), layers[0][0].weight.grad.clone()]
z.grad = None
layers.zero_grad()
calls = []
layers[0].register_forward_hook(lambda *_: calls.append(0))
layers[4].register_forward_hook(lambda *_: calls.append(4))
again = checkpoint_sequential(layers, 2, z, use_reentrant=False)
again.sum().backward()
print(torch.equal(plain, again), torch.equal(z.grad, before[0]),
      torch.equal(layers[0][0].weight.grad, before[1]), calls)
with noop_context_fn()[0]:
    print(len(noop_context_fn()))

try:
    raise dist.DistBackendError("no peer")
except dist.DistError as e:
    print(type(e), e, isinstance(e, RuntimeError), issubclass(dist.QueueEmptyError, dist.DistStoreError))
print(FileSystemReader is torch.distributed.checkpoint.FileSystemReader,
      FileSystemWriter is torch.distributed.checkpoint.FileSystemWriter,
      save is torch.distributed.checkpoint.save, load is torch.distributed.checkpoint.load,
      async_save is torch.distributed.checkpoint.async_save)
