# SPDX-License-Identifier: MIT
"""torch.nn.modules.dropout: the class above the dropouts."""
from _functions import register_below
from torch.nn import AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, \
    FeatureAlphaDropout, Module


class _DropoutNd(Module):
    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError("dropout probability has to be between 0 and 1, "
                             f"but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


for _below in (AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d,
               FeatureAlphaDropout):
    register_below(_DropoutNd, _below)
