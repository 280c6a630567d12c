# SPDX-License-Identifier: MIT
# torch.accelerator without one, memory formats of tensors and modules.
import torch
def r(n,f):
    try: print(n, repr(f()))
    except Exception as e: print(n, type(e).__name__, str(e).split("\n")[0])
a=torch.accelerator
r("is_available",lambda:a.is_available())
r("count",lambda:a.device_count())
r("cur",lambda:a.current_accelerator())
r("cur",lambda:a.current_accelerator(check_available=True))
r("idx",lambda:a.current_device_index())
r("set",lambda:a.set_device_index(0))
r("sync",lambda:a.synchronize())
r("empty",lambda:a.empty_cache())
r("mem",lambda:a.memory_allocated())
r("stream",lambda:a.current_stream())
r("fmt",lambda:(torch.contiguous_format,torch.channels_last,torch.preserve_format,torch.channels_last_3d))
r("isc",lambda:torch.ones(2, 2).is_contiguous(memory_format=torch.contiguous_format))
r("to",lambda:torch.ones(1, 2, 2, 2).to(memory_format=torch.channels_last).stride())
r("cont",lambda:torch.ones(1, 2, 3, 2).contiguous(memory_format=torch.channels_last).stride())
r("clone",lambda:torch.ones(2, 3).t().clone(memory_format=torch.contiguous_format).stride())
r("clone",lambda:torch.ones(2, 3).t().clone(memory_format=torch.preserve_format).stride())
r("el",lambda:torch.empty_like(torch.ones(1,2,3,2),memory_format=torch.channels_last).stride())
r("zl",lambda:torch.zeros_like(torch.ones(1,2,3,2),memory_format=torch.channels_last).stride())
r("isc",lambda:torch.ones(1,2, 2,2).is_contiguous(memory_format=torch.channels_last))
import torch.distributed as dist
r("gb",lambda:dist.get_default_backend_for_device("cpu"))
r("gb",lambda:dist.get_default_backend_for_device(torch.device("cpu")))
import torch
x=torch.arange(12.).reshape(1,2,3,2)
y=x.to(memory_format=torch.channels_last)
print(y.stride(), y.is_contiguous(), y.is_contiguous(memory_format=torch.channels_last), torch.equal(x,y))
print(y.to(memory_format=torch.channels_last) is y, y.to(memory_format=torch.contiguous_format).stride(), y.to(torch.float64).stride(), x.to(memory_format=torch.contiguous_format) is x, x.to(memory_format=torch.preserve_format) is x)
print(x.to(torch.float64, memory_format=torch.channels_last).stride(), y.contiguous().stride())
z=torch.ones(2,1,3,3); print(z.is_contiguous(memory_format=torch.channels_last), z.to(memory_format=torch.channels_last) is z, z.to(memory_format=torch.channels_last).stride())
t=torch.ones(2,3).t(); print(t.to(memory_format=torch.contiguous_format) is t)
for f in (lambda: x.is_contiguous(memory_format=torch.preserve_format), lambda: torch.ones(2,2).to(memory_format=torch.channels_last)):
    try: print(f())
    except Exception as e: print(type(e).__name__, str(e).split("\n")[0])
import torch.nn as nn
m=nn.Conv2d(2,4,3).to(memory_format=torch.channels_last); print(m.weight.stride())
