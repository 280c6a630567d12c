# SPDX-License-Identifier: MIT
# The order of the classes of torch.nn; the dictionary of a module's state.
import collections
import torch
import torch.nn as nn
from torch.nn.modules.pooling import _AdaptiveAvgPoolNd, _AvgPoolNd, _MaxPoolNd
from torch.nn.modules.padding import _ConstantPadNd
from torch.nn.modules.rnn import RNNBase, RNNCellBase

for c in (nn.Linear, nn.Conv2d, nn.ConvTranspose1d, nn.BatchNorm2d, nn.MSELoss,
          nn.CrossEntropyLoss, nn.LSTM, nn.GRUCell, nn.MaxPool1d, nn.Dropout,
          nn.ReLU, nn.ModuleDict, nn.Module, nn.ConstantPad2d):
    print([x.__name__ for x in c.__mro__], [b.__name__ for b in c.__bases__])
print(nn.MaxPool2d.__mro__[1], nn.LSTM.__mro__[1])
print(isinstance(nn.MaxPool2d(2), _MaxPoolNd), isinstance(nn.LSTM(2, 2), RNNBase),
      isinstance(nn.LSTMCell(2, 2), RNNCellBase), issubclass(nn.AvgPool2d, _AvgPoolNd),
      issubclass(nn.AdaptiveAvgPool1d, _AdaptiveAvgPoolNd),
      isinstance(nn.ZeroPad2d(1), _ConstantPadNd), isinstance(nn.AvgPool1d(2), _MaxPoolNd))

torch.manual_seed(0)
m = nn.Sequential(collections.OrderedDict([("a", nn.Linear(2, 2)), ("b", nn.BatchNorm1d(2))]))
state = m.state_dict()
print(type(state), isinstance(state, collections.OrderedDict), state._metadata)
print(state)
print(state.keys(), list(m.a.state_dict(prefix="p.")), m.a.state_dict(prefix="p.")._metadata)
print(m.load_state_dict(state), m.load_state_dict({}, strict=False))
del state["b.num_batches_tracked"]
print(m.load_state_dict(state, strict=False))
print(m.load_state_dict(dict(state)))
try:
    m.load_state_dict({"a.weight": torch.zeros(3, 3), "q": torch.ones(1)})
except RuntimeError as e:
    print(e)


# A module is gone over where its class says how, by items as well.
class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(1, 1), nn.ReLU()])

    def __getitem__(self, i):
        return self.parts[i]


print([type(m).__name__ for m in Stack()])
first, second = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
print(type(second).__name__)
try:
    list(nn.Linear(1, 1))
except TypeError as e:
    print(e)
