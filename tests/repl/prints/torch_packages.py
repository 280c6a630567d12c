# SPDX-License-Identifier: MIT
# Packages of torch that are there without an import of their own.
import torch
print(torch.distributions.Normal(0., 1.).mean, torch.autograd.functional.jacobian(lambda x: x * 2, torch.ones(2)))
print(hasattr(torch, "nope"), hasattr(torch.nn, "nope"), hasattr(torch.distributions, "Bernoulli"))
import os, math
print(hasattr(os, "nope"), hasattr(math, "nope"))
