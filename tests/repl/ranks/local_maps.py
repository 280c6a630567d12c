# SPDX-License-Identifier: MIT
# local_map: a tuple of placements has an entry for each result, a list is one
import torch, torch.distributed as dist
from torch.distributed.tensor import *
from torch.distributed.tensor.experimental import local_map
from torch.distributed.device_mesh import init_device_mesh
dist.init_process_group("gloo")
mesh=init_device_mesh("cpu",(2,))
x=distribute_tensor(torch.arange(4.),mesh,[Shard(0)])
def show(f):
    try:
        r=f()
        print([t.placements if isinstance(t,DTensor) else t for t in (r if isinstance(r,tuple) else (r,))])
    except Exception as e: print(type(e).__name__, str(e)[:150])
show(lambda: local_map(lambda a:(a+1,a.sum()),out_placements=([Shard(0)],[Partial()]),in_placements=([Shard(0)],),device_mesh=mesh)(x))
show(lambda: local_map(lambda a:(a+1,a.sum()),out_placements=(Shard(0),Partial()),in_placements=([Shard(0)],),device_mesh=mesh)(x))
show(lambda: local_map(lambda a:a+1,out_placements=(Shard(0),),in_placements=([Shard(0)],),device_mesh=mesh)(x))
show(lambda: local_map(lambda a:a+1,out_placements=[Shard(0)],in_placements=(Shard(0),),device_mesh=mesh)(x))
show(lambda: local_map(lambda a:a+1,out_placements=([Shard(0)],),in_placements=((Shard(0),),),device_mesh=mesh)(x))
show(lambda: local_map(lambda a:(a+1,a),out_placements=[Shard(0)],in_placements=([Shard(0)],),device_mesh=mesh)(x))
show(lambda: local_map(lambda a:(a+1,3),out_placements=((Shard(0),),None),in_placements=([Shard(0)],),device_mesh=mesh)(x))
show(lambda: local_map(lambda a:(a+1,3),out_placements=([Shard(0)],[Shard(0)]),in_placements=([Shard(0)],),device_mesh=mesh)(x))
show(lambda: local_map(lambda a:(a+1,a),out_placements=([Shard(0)],),in_placements=([Shard(0)],),device_mesh=mesh)(x))
show(lambda: local_map(lambda a:a+1,out_placements=None,in_placements=([Shard(0)],),device_mesh=mesh)(x))
show(lambda: local_map(lambda a:a+1,out_placements=([Shard(0)],[Replicate()]),in_placements=([Shard(0)],),device_mesh=mesh)(x))
show(lambda: local_map(lambda a,b:a+b,out_placements=[Shard(0)],in_placements=([Shard(0)],),device_mesh=mesh)(x,x))
show(lambda: local_map(lambda a,b:a+b,out_placements=[Shard(0)],in_placements=([Shard(0)],None),device_mesh=mesh)(x,x))
show(lambda: local_map(lambda a:a,out_placements=[Shard(0)],in_placements=None,device_mesh=mesh)(x))
show(lambda: local_map(lambda a:a,out_placements=[Shard(0)])(x))
show(lambda: local_map(lambda a:a,out_placements=[Shard(0)])(torch.ones(2)))
