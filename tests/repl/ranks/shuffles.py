# SPDX-License-Identifier: MIT
# Shuffles of channels and pixels that are sharded: how each is decided inside
# of a call, where a reshape of its decomposition keeps its own rule, and that
# the numbers are those of one device.
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import distribute_tensor, Shard, Replicate
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
def t(name, f, x, pl, mesh):
    try: y = f(distribute_tensor(x, mesh, pl)); print(name, pl, y.placements, tuple(y.shape), torch.equal(y.full_tensor(), f(x)))
    except Exception as e: print(name, pl, type(e).__name__, str(e)[:90].replace("\n", " "))
F = torch.nn.functional
up = torch.arange(16. * 64).reshape(4, 16, 4, 4); down = torch.arange(4. * 4 * 64).reshape(4, 4, 8, 8)
for mesh, pls in ((mesh, [[Shard(i)] for i in range(4)] + [[Replicate()]]),):
    for pl in pls:
        t("up2", lambda x: F.pixel_shuffle(x, 2), up, pl, mesh)
        t("up4", lambda x: F.pixel_shuffle(x, 4), up, pl, mesh)
        t("down2", lambda x: F.pixel_unshuffle(x, 2), down, pl, mesh)
        t("down4", lambda x: F.pixel_unshuffle(x, 4), down, pl, mesh)
        t("chan2", lambda x: F.channel_shuffle(x, 2), up, pl, mesh)
