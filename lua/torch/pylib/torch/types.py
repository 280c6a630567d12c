# SPDX-License-Identifier: MIT
"""torch.types: names for annotations."""
import os
from typing import Any, List, Optional, Sequence, Tuple, Union

import torch
from torch import Size, SymBool, SymFloat, SymInt, Tensor

_int, _float, _bool, _str = int, float, bool, str
_complex, _bytes = complex, bytes
_dtype, _device, _layout = torch.dtype, torch.device, torch.layout
_size = Union[torch.Size, List[int], Tuple[int, ...]]
_TensorOrTensors = Union[Tensor, Sequence[Tensor]]
Number = Union[int, float, bool]
Device = Union[torch.device, str, int, None]
FileLike = Union[str, os.PathLike, Any]
