# SPDX-License-Identifier: MIT
"""torch.utils: the names that are Python."""
import _nodes


def swap_tensors(t1, t2):
    """Each tensor becomes what the other was."""
    _nodes.swap(t1, t2)
