# SPDX-License-Identifier: MIT
# How pooling over three dims names an empty dim, and indices of another type.
import torch
import torch.nn.functional as F


def said(work):
    try:
        return work()
    except Exception as e:
        return str(e)


ones, back = torch.ones, torch.ops.aten
x, i = ones(2, 1, 0, 1, 2), ones(2, 1, 0, 1, 2).long()
print(said(lambda: F.max_pool3d(x, 1)))
print(said(lambda: F.avg_pool3d(x, 1)))
print(said(lambda: back.max_pool3d_with_indices_backward(
    x, x, [1] * 3, [1] * 3, [0] * 3, [1] * 3, False, i)))
print(said(lambda: back.avg_pool3d_backward(
    x, x, [1] * 3, [1] * 3, [0] * 3, False, True, None)))
print(said(lambda: F.max_unpool2d(ones(1, 1, 2, 2), ones(1, 1, 2, 2), 2)))
print(said(lambda: F.max_unpool3d(ones(1, 1, 2, 2, 2), ones(1, 1, 2, 2, 2), 2)))

# What both PyTorches print; they differ in
# output line 1
#   2.13  max_pool3d_with_indices_out_cpu_template(): Expected input's non-batch dimensions to have positive length, but input has a shape of [2, 1, 0, 1, 2] and non-batch dimension 0 has length zero!
#   2.15  max_pool3d_with_indices_out_cpu_template(): Expected input to have non-zero size for non-batch dimensions, but input has sizes [2, 1, 0, 1, 2] with dimension 2 being empty
# output line 2
#   2.13  avg_pool3d(): Expected input's non-batch dimensions to have positive length, but input has a shape of [2, 1, 0, 1, 2] and non-batch dimension 0 has length zero!
#   2.15  avg_pool3d(): Expected input to have non-zero size for non-batch dimensions, but input has sizes [2, 1, 0, 1, 2] with dimension 2 being empty
# output line 3
#   2.13  max_pool3d_with_indices_backward_out_cpu_template(): Expected input's non-batch dimensions to have positive length, but input has a shape of [2, 1, 0, 1, 2] and non-batch dimension 0 has length zero!
#   2.15  max_pool3d_with_indices_backward_out_cpu_template(): Expected input to have non-zero size for non-batch dimensions, but input has sizes [2, 1, 0, 1, 2] with dimension 2 being empty
# output line 4
#   2.13  avg_pool3d_backward(): Expected input's non-batch dimensions to have positive length, but input has a shape of [2, 1, 0, 1, 2] and non-batch dimension 0 has length zero!
#   2.15  avg_pool3d_backward(): Expected input to have non-zero size for non-batch dimensions, but input has sizes [2, 1, 0, 1, 2] with dimension 2 being empty
# output line 6
#   2.13  elements in indices should be type int64
#   2.15  elements in indices should be type int64 but got: Float
