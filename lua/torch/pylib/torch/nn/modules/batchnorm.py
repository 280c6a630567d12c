# SPDX-License-Identifier: MIT
"""torch.nn.modules.batchnorm: the classes below which batch norms stand."""
import torch
import torch.distributed as dist
from _functions import register_below
from torch.nn import Module, Parameter
from torch.nn import functional as F


class _NormBase(Module):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True,
                 track_running_stats=True, device=None, dtype=None,
                 *, bias=True):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        settings = {"device": device, "dtype": dtype}
        if affine:
            self.weight = Parameter(torch.ones(num_features, **settings))
        else:
            self.register_parameter("weight", None)
        if affine and bias:
            self.bias = Parameter(torch.zeros(num_features, **settings))
        else:
            self.register_parameter("bias", None)
        if track_running_stats:
            self.register_buffer("running_mean",
                                 torch.zeros(num_features, **settings))
            self.register_buffer("running_var",
                                 torch.ones(num_features, **settings))
            self.register_buffer("num_batches_tracked",
                                 torch.tensor(0, dtype=torch.long))
        else:
            self.register_buffer("running_mean", None)
            self.register_buffer("running_var", None)
            self.register_buffer("num_batches_tracked", None)

    def reset_running_stats(self):
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        self.reset_running_stats()
        if self.affine:
            torch.nn.init.ones_(self.weight)
            if self.bias is not None:
                torch.nn.init.zeros_(self.bias)

    def _check_input_dim(self, input):
        raise NotImplementedError

    def extra_repr(self):
        bias = {} if self.bias is not None or not self.affine \
            else {"bias": False}
        return BatchNorm1d(self.num_features, self.eps, self.momentum,
                           self.affine, self.track_running_stats,
                           **bias).extra_repr()


class _BatchNorm(_NormBase):
    def _statistics(self):
        """What is averaged over time: mean and variance or None, whether the
        batch's own are used, and the momentum; counts this batch."""
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / self.num_batches_tracked.item()
        own = self.training or self.running_mean is None
        if self.training and not self.track_running_stats:
            return None, None, own, momentum
        return self.running_mean, self.running_var, own, momentum

    def forward(self, input):
        self._check_input_dim(input)
        mean, var, own, momentum = self._statistics()
        return F.batch_norm(input, mean, var, self.weight, self.bias, own,
                            momentum, self.eps)


def _channels(t, like):
    """One number per channel, as the batch is laid out."""
    return t.reshape([1, -1] + [1] * (like.dim() - 2))


def _gather(mine, group):
    """The same vector of every rank, as rows."""
    n = dist.get_world_size(group)
    if dist.get_backend(group) == "gloo":
        rows = [torch.empty_like(mine) for _ in range(n)]
        dist.all_gather(rows, mine, group=group)
        return torch.stack(rows, dim=0)
    whole = torch.empty(n * mine.numel(), dtype=mine.dtype)
    dist.all_gather_into_tensor(whole, mine, group=group)
    return whole.reshape(n, -1)


class _SyncBatchNorm(torch.autograd.Function):
    """Mean and variance of each rank's batch are gathered, with its size, and
    make those of the whole; backward sums over the ranks what the gradient
    of the input needs of all of them.  Those of weight and bias stay local:
    who averages gradients does that."""

    @staticmethod
    def forward(ctx, x, weight, bias, running_mean, running_var, eps,
                momentum, group):
        dims = [0] + list(range(2, x.dim()))
        count = x.numel() // x.size(1)
        if count > 0:
            mean = x.mean(dims)
            var = x.var(dims, unbiased=False)
            invstd = torch.rsqrt(var + eps)
        else:
            mean, invstd = torch.zeros(x.size(1)), torch.zeros(x.size(1))
        rows = _gather(torch.cat([mean, invstd,
                                  torch.full((1,), float(count))]), group)
        rows = rows[rows[:, -1] > 0]            # a rank may have no batch
        means, invstds, counts = rows.split([x.size(1), x.size(1), 1], dim=1)
        total = counts.sum()
        mean = (means * counts).sum(0) / total
        var = ((1.0 / invstds ** 2 - eps + (means - mean) ** 2)
               * counts).sum(0) / total
        invstd = torch.rsqrt(var + eps)
        if running_mean is not None:
            running_mean.mul_(1 - momentum).add_(mean, alpha=momentum)
            running_var.mul_(1 - momentum).add_(
                var * (total / (total - 1)), alpha=momentum)
        ctx.save_for_backward(x, weight, mean, invstd, total)
        ctx.group = group
        out = (x - _channels(mean, x)) * _channels(invstd, x)
        if weight is not None:
            out = out * _channels(weight, x) + _channels(bias, x)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, weight, mean, invstd, total = ctx.saved_tensors
        dims = [0] + list(range(2, x.dim()))
        centred = x - _channels(mean, x)
        sum_dy, sum_dy_xmu = grad.sum(dims), (grad * centred).sum(dims)
        sums = torch.cat([sum_dy, sum_dy_xmu])
        dist.all_reduce(sums, group=ctx.group)
        of_dy, of_dy_xmu = sums.chunk(2)
        grad_x = (grad - _channels(of_dy / total, x)
                  - centred * _channels(invstd ** 2 * of_dy_xmu / total, x)) \
            * _channels(invstd, x)
        if weight is None:
            return grad_x, None, None, None, None, None, None, None
        return (grad_x * _channels(weight, x), sum_dy_xmu * invstd, sum_dy,
                None, None, None, None, None)


class SyncBatchNorm(_BatchNorm):
    """A batch norm whose statistics are those of all ranks."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True,
                 track_running_stats=True, process_group=None, device=None,
                 dtype=None):
        super().__init__(num_features, eps, momentum, affine,
                         track_running_stats, device=device, dtype=dtype)
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError("expected at least 2D input (got "
                             f"{input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should "
                             "be non-zero")

    def forward(self, input):
        self._check_input_dim(input)
        if not self.training or not dist.is_initialized() \
                or dist.get_world_size(self.process_group) == 1:
            return super().forward(input)
        mean, var, _, momentum = self._statistics()
        return _SyncBatchNorm.apply(input, self.weight, self.bias, mean, var,
                                    self.eps, momentum, self.process_group)

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """The module with every batch norm in it replaced; parameters and
        buffers stay the same tensors."""
        out = module
        if isinstance(module, (BatchNorm1d, BatchNorm2d, BatchNorm3d)):
            out = cls(module.num_features, module.eps, module.momentum,
                      module.affine, module.track_running_stats,
                      process_group)
            out.weight, out.bias = module.weight, module.bias
            out.running_mean = module.running_mean
            out.running_var = module.running_var
            out.num_batches_tracked = module.num_batches_tracked
            out.training = module.training
        for name, child in module.named_children():
            setattr(out, name, cls.convert_sync_batchnorm(child,
                                                          process_group))
        return out


# At the end: torch.nn takes SyncBatchNorm from here.
from torch.nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, \
    InstanceNorm1d, InstanceNorm2d, InstanceNorm3d  # noqa: E402

for _below in (BatchNorm1d, BatchNorm2d, BatchNorm3d):
    register_below(_BatchNorm, _below)
for _below in (_BatchNorm, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d):
    register_below(_NormBase, _below)
