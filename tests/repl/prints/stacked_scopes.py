# SPDX-License-Identifier: MIT
import contextlib
import torch
from functorch import grad
from torch.distributed.pipelining.schedules import get_schedule_class
from torch.distributed.tensor.parallel import loss_parallel

@contextlib.contextmanager
def scopes(*given):
    with contextlib.ExitStack() as stack:
        for one in given:
            stack.enter_context(one)
        yield

with scopes(loss_parallel(), torch.no_grad()):
    print("in", torch.is_grad_enabled())
try:
    with scopes({}):
        print("never")
except TypeError as e:
    print(e)
print(grad(lambda x: x * x)(torch.tensor(3.)))
for name in ("1f1b", "GPIPE", "PipelineScheduleMulti"):
    print([c.__name__ for c in get_schedule_class(name).__mro__[:2]])
try:
    get_schedule_class("nosuch")
except ValueError as e:
    print(e)
