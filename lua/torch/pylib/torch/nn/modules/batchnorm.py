# SPDX-License-Identifier: MIT
"""torch.nn.modules.batchnorm: the classes below which batch norms stand."""
import torch
from _functions import register_below
from torch.nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, \
    InstanceNorm2d, InstanceNorm3d, Module, Parameter, SyncBatchNorm
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
    def forward(self, input):
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / self.num_batches_tracked.item()
        tracked = not self.training or self.track_running_stats
        own = self.training or self.running_mean is None
        return F.batch_norm(input, self.running_mean if tracked else None,
                            self.running_var if tracked else None, self.weight,
                            self.bias, own, momentum, self.eps)


for _below in (BatchNorm1d, BatchNorm2d, BatchNorm3d, SyncBatchNorm):
    register_below(_BatchNorm, _below)
for _below in (_BatchNorm, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d):
    register_below(_NormBase, _below)
