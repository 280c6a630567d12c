# SPDX-License-Identifier: MIT
# Calls that need the default group, before it begins, while it is there and
# after it has ended; os.environ takes texts; paths of the working folder.
import os, pathlib, torch, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
for f in ["dist.get_rank()",
          "dist.get_world_size()",
          "dist.all_reduce(torch.ones(2))",
          "dist.barrier()",
          "dist.broadcast(torch.ones(2), 0)",
          "dist.new_group([0])",
          "dist.all_gather([torch.ones(2)], torch.ones(2))",
          "dist.is_initialized()",
          "dist.get_backend()",
          "dist.destroy_process_group()",
          "dist.all_gather_object([None], 1)",
          "dist.send(torch.ones(2), 0)",
          "dist.group.WORLD",
          "dist.reduce_scatter_tensor(torch.ones(2), torch.ones(2))",
          "dist.get_process_group_ranks(None)",
          "dist.distributed_c10d._get_default_group()",
          "torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2,2))"]:
    try:
        print(f, eval(f))
    except Exception as e:
        print(f, type(e).__name__, str(e))
try:
    os.environ["X"] = 1
except TypeError as e: print(e)
print(os.path.expanduser("~/x") != "~/x", os.path.isabs(os.path.abspath("a")))
with torch.autocast("cpu", dtype=torch.bfloat16) as a: print(type(a).__name__)
dist.init_process_group("gloo")
print(dist.get_rank(), dist.get_world_size())
try: dist.init_process_group("gloo")
except Exception as e: print(type(e).__name__, e)
dist.destroy_process_group()
for f in ["dist.get_rank()", "dist.all_reduce(torch.ones(2))", "dist.barrier()", "dist.is_initialized()"]:
    try:
        print(f, eval(f))
    except Exception as e:
        print(f, type(e).__name__, str(e))
here = os.path.dirname(os.path.abspath(__file__))
print(os.path.expanduser("~/x") == os.environ["HOME"] + "/x", os.path.expanduser("a~"), os.path.abspath("/a/../b"), os.path.abspath("a/./b") == os.getcwd() + "/a/b")
print(pathlib.Path(__file__).resolve().parent.name != "", pathlib.Path("x").absolute().is_absolute(), pathlib.Path.cwd().name != "")
print(os.path.relpath(os.path.abspath("a/b")), os.path.realpath("a") == os.path.abspath("a"))
mesh = init_device_mesh("cpu", (1,))
print(dist.is_initialized(), dist.get_world_size())
dist.destroy_process_group()
m = torch.nn.Linear(2, 2)
torch.distributed.fsdp.fully_shard(m)
print(dist.is_initialized(), dist.get_rank())

# A group is neither pickled nor copied, nor what holds it; a mesh is.
import copy
import pickle
from torch.distributed.device_mesh import init_device_mesh
mesh = init_device_mesh("cpu", (1,), mesh_dim_names=("dp",))
holder = torch.nn.Linear(2, 2)
holder.group = mesh.get_group()
for act in (lambda: pickle.dumps(mesh.get_group()), lambda: copy.copy(mesh.get_group()),
            lambda: copy.deepcopy(holder),
            lambda: dist.all_gather_object([None], mesh.get_group())):
    try:
        act()
        print("done")
    except TypeError as e:
        print(e)
holder.group = mesh
print(copy.deepcopy(holder).group == mesh, len(pickle.dumps(mesh)) > 0)
none = dist.GroupMember.NON_GROUP_MEMBER
print(dist.get_rank(none), dist.get_world_size(none))
