# SPDX-License-Identifier: MIT
# _register_state_dict_hook and _register_load_state_dict_pre_hook.
import torch.nn as nn


class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 1, bias=False)
        self._register_state_dict_hook(Wrapped._plain)
        self._register_load_state_dict_pre_hook(self._inner)

    def _plain(self, state, prefix, local_metadata):
        state[prefix + "weight"] = state.pop(prefix + "inner.weight")
        return state

    def _inner(self, state, prefix, local_metadata, strict, missing, unexpected, errors):
        print("load", [k for k in state if k.startswith(prefix)], repr(prefix), strict, missing, unexpected, errors)
        state[prefix + "inner.weight"] = state.pop(prefix + "weight")


m = nn.Sequential(Wrapped(), nn.Linear(1, 1))
print(list(m.state_dict()))
print(m.load_state_dict(m.state_dict()))
seen = []
first = m._register_load_state_dict_pre_hook(
    lambda module, state, prefix, *rest: seen.append((module is m, prefix, len(rest))),
    with_module=True)
second = m._register_state_dict_hook(lambda *given: seen.append(len(given)))
m.load_state_dict(m.state_dict())
first.remove()
second.remove()
m.load_state_dict(m.state_dict())
print(seen)
