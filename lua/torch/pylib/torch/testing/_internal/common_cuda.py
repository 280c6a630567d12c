# SPDX-License-Identifier: MIT
"""torch.testing._internal.common_cuda: there is no GPU."""
TEST_CUDA = TEST_MULTIGPU = TEST_CUDNN = TEST_MAGMA = False
TEST_CUDA_GRAPH = SM53OrLater = SM60OrLater = SM70OrLater = False
SM75OrLater = SM80OrLater = SM89OrLater = SM90OrLater = SM100OrLater = False
PLATFORM_SUPPORTS_FLASH_ATTENTION = PLATFORM_SUPPORTS_FUSED_ATTENTION = False
PLATFORM_SUPPORTS_MEM_EFF_ATTENTION = PLATFORM_SUPPORTS_FP8 = False
PLATFORM_SUPPORTS_CUDNN_ATTENTION = TEST_CUDNN_VERSION = False


def _get_torch_cuda_version():
    return (0, 0)
