# SPDX-License-Identifier: MIT
"""torch.testing._internal.inductor_utils: there is no GPU and no compiler."""
HAS_CPU = HAS_GPU = HAS_CUDA = HAS_XPU = HAS_MPS = HAS_TRITON = False
HAS_MULTIGPU = HAS_CUDA_AND_TRITON = False
GPU_TYPE = "cuda"
