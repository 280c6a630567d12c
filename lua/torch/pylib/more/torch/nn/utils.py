# SPDX-License-Identifier: MIT
"""torch.nn.utils: the names that are Python."""
from torch.nn.utils.fusion import (fuse_conv_bn_eval, fuse_conv_bn_weights,
                                   fuse_linear_bn_eval, fuse_linear_bn_weights)
from torch.nn.utils.init import skip_init
from torch.nn.utils.norms import (clip_grad_norm, remove_spectral_norm,
                                  remove_weight_norm, spectral_norm,
                                  weight_norm)
import torch.nn.utils.prune as prune
