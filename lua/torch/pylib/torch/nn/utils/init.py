# SPDX-License-Identifier: MIT
"""torch.nn.utils.init: modules whose parameters nobody has filled."""
import torch


def skip_init(module_cls, *args, **kwargs):
    if not issubclass(module_cls, torch.nn.Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    device = kwargs.pop("device", "cpu")
    try:
        made = module_cls(*args, device="meta", **kwargs)
    except TypeError as e:
        if "'device'" not in str(e):
            raise
        raise RuntimeError("Module must support a 'device' arg to skip "
                           "initialization") from None
    return made.to_empty(device=device)
