# SPDX-License-Identifier: MIT
"""torch.nn.modules: the files that hold more than classes of torch.nn."""
import torch.nn.modules.batchnorm as batchnorm
import torch.nn.modules.conv as conv
import torch.nn.modules.dropout as dropout
import torch.nn.modules.instancenorm as instancenorm
import torch.nn.modules.loss as loss
import torch.nn.modules.padding as padding
import torch.nn.modules.pooling as pooling
import torch.nn.modules.rnn as rnn
import torch.nn.modules.utils as utils
