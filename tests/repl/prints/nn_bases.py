# SPDX-License-Identifier: MIT
# The classes between nn.Module and the layers: isinstance, issubclass, own
# classes below them; names of torch.nn.modules; buffers registered as None; and
# what PyTorch 2.15 printed.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.modules import Conv2d as FromModules
from torch.nn.modules.batchnorm import _BatchNorm, _NormBase
from torch.nn.modules.conv import Conv2d, _ConvNd, _ConvTransposeNd
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.modules.instancenorm import _InstanceNorm
from torch.nn.modules.linear import Linear
from torch.nn.modules.loss import _Loss, _WeightedLoss

bases = (_BatchNorm, _NormBase, _ConvNd, _ConvTransposeNd, _Loss,
         _WeightedLoss, _DropoutNd, _InstanceNorm)
for m in (nn.Conv2d(1, 1, 1), nn.ConvTranspose1d(1, 1, 1), nn.MSELoss(),
          nn.CrossEntropyLoss(), nn.CTCLoss(), nn.Dropout(), nn.Linear(1, 1),
          nn.InstanceNorm1d(2), nn.BatchNorm3d(2), nn.SyncBatchNorm(2),
          nn.LayerNorm(2), nn.GroupNorm(1, 2)):
    held = [isinstance(m, b) for b in bases]
    print(type(m).__name__, held,
          held == [issubclass(type(m), b) for b in bases])
print(isinstance(nn.BatchNorm2d(1), nn.modules.batchnorm._BatchNorm),
      FromModules is nn.Conv2d, Conv2d is nn.Conv2d, Linear is nn.Linear,
      nn.modules.linear.Linear is nn.Linear, nn.modules.utils._pair(3))


class OwnConv(nn.Conv2d):
    pass


print(isinstance(OwnConv(1, 1, 1), _ConvNd), issubclass(OwnConv, _ConvNd),
      isinstance(_DropoutNd(0.2), nn.Dropout))


class OwnLoss(_WeightedLoss):
    def forward(self, a, b):
        return F.mse_loss(a, b, reduction=self.reduction) * self.weight


loss = OwnLoss(torch.tensor([2.0]), reduction="sum")
print(loss(torch.ones(2), torch.zeros(2)), loss, list(loss.state_dict()))


class OwnNorm(_BatchNorm):
    def _check_input_dim(self, input):
        if input.dim() != 2:
            raise ValueError(f"expected 2D input (got {input.dim()}D input)")


torch.manual_seed(0)
x = torch.randn(4, 3)
for settings in ({}, {"momentum": None, "affine": False},
                 {"track_running_stats": False}):
    own, theirs = OwnNorm(3, **settings), nn.BatchNorm1d(3, **settings)
    for batch in (x, x + 1):
        print(torch.equal(own(batch), theirs(batch)), end=" ")
    own.eval(), theirs.eval()
    print(torch.equal(own(x), theirs(x)), list(own.state_dict()),
          own.running_mean is None)
try:
    OwnNorm(3)(x[0])
except ValueError as e:
    print(e)
try:
    _BatchNorm(3)(x)
except NotImplementedError:
    print("refused")

print(type(nn.Module), type(nn.Module).__name__, isinstance(nn.Module, type),
      type(nn.Linear).__name__)
m = nn.Linear(1, 1)
m.register_buffer("b", None)
print(m.b, list(m.state_dict()), hasattr(m, "b"))
m.b = torch.ones(1)
print(list(m.state_dict()))

sync = nn.SyncBatchNorm(2)
sync(torch.arange(8.0).reshape(4, 2))
print(sync.running_mean, sync.num_batches_tracked)
sync.reset_running_stats()
print(sync.running_mean, sync.num_batches_tracked)
