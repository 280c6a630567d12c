# SPDX-License-Identifier: MIT
# Attention under context_parallel, also where F's function was called before.
import contextlib

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.tensor import init_device_mesh
from torch.distributed.tensor.experimental import context_parallel
from torch.distributed.tensor.experimental._attention import context_parallel_unshard
from torch.nn.attention import sdpa_kernel, SDPBackend
dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("cp",)); rank=dist.get_rank()
torch.manual_seed(0)
q,k,v=[torch.randn(1,2,8,4) for _ in range(3)]
for causal in (False,True):
    want=F.scaled_dot_product_attention(q,k,v,is_causal=causal)
    for label, be in (("any", None), ("flash", SDPBackend.FLASH_ATTENTION), ("math", SDPBackend.MATH)):
        a,b,c=q.clone(),k.clone(),v.clone()
        try:
            with (sdpa_kernel(be) if be else contextlib.nullcontext()):
                with context_parallel(mesh,buffers=[a,b,c],buffer_seq_dims=[2,2,2]):
                    y=F.scaled_dot_product_attention(a,b,c,is_causal=causal)
                    (o,)=context_parallel_unshard(mesh,[y],[2])
            print(rank, causal, label, (o-want).abs().max().item()<1e-5, tuple(y.shape))
        except Exception as e: print(rank, causal, label, type(e).__name__,str(e).split("\n")[0][:150])
