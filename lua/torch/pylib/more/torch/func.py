# SPDX-License-Identifier: MIT
"""torch.func: what is made of its other functions."""
from torch.func import jacfwd, jacrev


def hessian(func, argnums=0):
    return jacfwd(jacrev(func, argnums), argnums)
