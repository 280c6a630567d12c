# SPDX-License-Identifier: MIT
"""torch.autograd: the names that are Python."""
from torch.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from torch.autograd.gradcheck import gradcheck, gradgradcheck
import torch.autograd.graph as graph
