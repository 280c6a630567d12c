# SPDX-License-Identifier: MIT
"""functorch: what became torch.func, under its older name."""
from torch.func import (functional_call, grad, grad_and_value, jacfwd, jacrev, jvp,
                        vjp, vmap)
