# SPDX-License-Identifier: MIT
"""torch.nn.modules.rnn: the class above the cells; RNNBase is the engine's."""
from _functions import register_below
from torch.nn import GRU, LSTM, RNN, GRUCell, LSTMCell, Module, RNNBase, \
    RNNCell


class RNNCellBase(Module):
    pass


for _below in (RNNCell, LSTMCell, GRUCell):
    register_below(RNNCellBase, _below)
