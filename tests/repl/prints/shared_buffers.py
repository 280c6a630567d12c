# SPDX-License-Identifier: MIT
# An nn.Buffer is registered by each module and name that it is assigned to; never over
# a parameter or another attribute.
import torch, torch.nn as nn
class Holds(nn.Module):
    def __init__(self, b):
        super().__init__()
        self.b = b
b = nn.Buffer(torch.ones(2))
x, y = Holds(b), Holds(b)
print(list(x.state_dict()), list(y.state_dict()))
del x.b
x.c = b
print(list(x.state_dict()), isinstance(b, nn.Buffer))
passing = nn.Buffer(torch.ones(2), persistent=False)
z = Holds(passing)
z.d = passing
print(list(z.state_dict()), [k for k, _ in z.named_buffers(remove_duplicate=False)])
m = Holds(nn.Parameter(torch.ones(1)))
m.register_parameter("no_parameter", None)
m.register_buffer("no_buffer", None)
m.plain = 3
for name in ("b", "no_parameter", "no_buffer", "plain"):
    try: setattr(m, name, b); print("set", name)
    except Exception as e: print(type(e).__name__, e)
print(list(m.state_dict()), m.plain)
m.no_buffer = torch.zeros(2)
print(list(m.state_dict()), m.no_buffer)
