# SPDX-License-Identifier: MIT
"""torch.distributed._composable.checkpoint_activation: a module whose forward
is run again in backward, without a module around it."""
import torch.utils.checkpoint
from torch.distributed._composable.contract import _State, contract


class _CheckpointState(_State):
    enable_hook = False
    _ac_generator = None        # nothing is under way between two forwards


@contract(_CheckpointState)
def checkpoint(module, **kwargs):
    if kwargs.pop("use_reentrant", False):
        raise NotImplementedError(
            "use_reentrant=True is not supported in composable checkpoint. "
            "Please use torch.utils.checkpoint.checkpoint instead.")
    known = ("preserve_rng_state", "context_fn", "determinism_check", "debug",
             "early_stop")
    given = {name: kwargs.pop(name) for name in known if name in kwargs}
    given.pop("debug", None)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    checkpoint.state(module).enable_hook = True
    forward = module.forward

    def again(*args, **kwargs):
        return torch.utils.checkpoint.checkpoint(
            lambda: forward(*args, **kwargs), use_reentrant=False, **given)

    module.forward = again
    return module
