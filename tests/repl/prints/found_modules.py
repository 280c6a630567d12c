# SPDX-License-Identifier: MIT
# importlib.util.find_spec, and tensors grouped by dtype as optimizers do.
import importlib.util
from importlib.util import find_spec

import torch
from torch.utils._foreach_utils import _group_tensors_by_device_and_dtype

print(find_spec("no_such_module"), find_spec("torch") is not None,
      importlib.util.find_spec("json").name)
try:
    find_spec("no_such_module.part")
except ModuleNotFoundError as e:
    print(e)
a, b, c = torch.ones(1), torch.ones(2, dtype=torch.float64), torch.ones(3)
groups = _group_tensors_by_device_and_dtype([[a, b, c], [c, b, a]],
                                            with_indices=True)
for (device, dtype), (lists, places) in sorted(groups.items(), key=str):
    print(device, dtype, lists, places)
