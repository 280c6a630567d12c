# SPDX-License-Identifier: MIT
"""torch.nn.modules.loss: the classes below which losses stand."""
from _functions import register_below
from torch.nn import BCELoss, BCEWithLogitsLoss, CTCLoss, \
    CosineEmbeddingLoss, CrossEntropyLoss, GaussianNLLLoss, \
    HingeEmbeddingLoss, HuberLoss, KLDivLoss, L1Loss, MSELoss, \
    MarginRankingLoss, Module, MultiLabelMarginLoss, \
    MultiLabelSoftMarginLoss, MultiMarginLoss, NLLLoss, PoissonNLLLoss, \
    SmoothL1Loss, SoftMarginLoss, TripletMarginLoss, \
    TripletMarginWithDistanceLoss


class _Loss(Module):
    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = _reduction_of(size_average, reduce)
        self.reduction = reduction


def _reduction_of(size_average, reduce):
    """What the two arguments of old mean."""
    average = size_average is None or size_average
    reduction = "none" if reduce is not None and not reduce else \
        "mean" if average else "sum"
    import warnings     # its filters begin when it is imported
    warnings.warn("size_average and reduce args will be deprecated, please "
                  f"use reduction='{reduction}' instead.")
    return reduction


class _WeightedLoss(_Loss):
    def __init__(self, weight=None, size_average=None, reduce=None,
                 reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


for _below in (BCELoss, CrossEntropyLoss, MultiLabelSoftMarginLoss,
               MultiMarginLoss, NLLLoss):
    register_below(_WeightedLoss, _below)
for _below in (_WeightedLoss, BCEWithLogitsLoss, CTCLoss, CosineEmbeddingLoss,
               GaussianNLLLoss, HingeEmbeddingLoss, HuberLoss, KLDivLoss,
               L1Loss, MSELoss, MarginRankingLoss, MultiLabelMarginLoss,
               PoissonNLLLoss, SmoothL1Loss, SoftMarginLoss, TripletMarginLoss,
               TripletMarginWithDistanceLoss):
    register_below(_Loss, _below)
