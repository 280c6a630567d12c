# SPDX-License-Identifier: MIT
# A recomputation that saves fewer or more tensors than the first forward did is
# an error, whatever the determinism check; one that ends early is none.
import torch
from torch.utils.checkpoint import CheckpointError, checkpoint


class Changes:
    def __init__(self, first, second):
        self.calls, self.forwards = 0, (first, second)

    def __call__(self, x):
        self.calls += 1
        return self.forwards[self.calls > 1](x)


two = lambda x: torch.tanh(x).exp().sum()
one = lambda x: torch.tanh(x).sum()
three = lambda x: torch.tanh(x).exp().sin().sum()
nested = lambda x: checkpoint(two, x, use_reentrant=False).exp()
for first, second, options in (
        (two, one, {}), (one, two, {}), (one, three, dict(early_stop=False)), (two, one, dict(determinism_check="none")),
        (three, one, {}), (two, one, dict(early_stop=False)), (two, two, dict(early_stop=False)), (nested, nested, {}),
        (nested, nested, dict(early_stop=False))):
    x = torch.ones(3, requires_grad=True)
    try:
        checkpoint(Changes(first, second), x, use_reentrant=False, **options).backward()
        print(x.grad)
    except CheckpointError as e:
        print(type(e).__name__, isinstance(e, RuntimeError), str(e).split("\n")[0])
