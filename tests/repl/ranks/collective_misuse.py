# SPDX-License-Identifier: MIT
# Tensors of several types, sizes that do not fit, bitwise sums of floats.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
Z = torch.zeros
LONG, DOUBLE = torch.int64, torch.float64


def attempt(name, f, only=None):
    if only is not None and rank != only:
        return
    try:
        f()
    except Exception as e:
        print(rank, name, type(e).__name__, str(e))
    else:
        print(rank, name, "passes")


attempt("all_gather short", lambda: dist.all_gather([Z(2)], Z(2)))
attempt("all_gather size", lambda: dist.all_gather([Z(3)] * world, Z(2)))
attempt("all_gather shape", lambda: dist.all_gather([Z(2, 2)] * world, Z(4)))
attempt("all_gather wider", lambda: dist.all_gather([Z(3, 2)] * world, Z(2)))
attempt("all_gather type", lambda: dist.all_gather([Z(2, dtype=DOUBLE)] * world, Z(2)))
attempt("all_gather fits", lambda: dist.all_gather([Z(2) for _ in range(world)], Z(2)))
for n in (1, 2, 3, 5, 6, 7):
    attempt(f"into {n}", lambda: dist.all_gather_into_tensor(Z(n), Z(2)))
for dtype in (DOUBLE, LONG, torch.bfloat16, torch.uint8, torch.bool):
    attempt(f"into {dtype}", lambda: dist.all_gather_into_tensor(Z(4, dtype=dtype), Z(2)))
attempt("reduce_scatter short", lambda: dist.reduce_scatter(Z(2), [Z(2)]))
attempt("reduce_scatter type", lambda: dist.reduce_scatter(Z(2), [Z(2, dtype=LONG)] * 2))
attempt("gather type", lambda: dist.gather(Z(2), [Z(2, dtype=LONG)] * world), 0)
attempt("gather size", lambda: dist.gather(Z(2), [Z(3)] * world), 0)
attempt("scatter type", lambda: dist.scatter(Z(2), [Z(2, dtype=LONG)] * world), 0)
attempt("scatter size", lambda: dist.scatter(Z(2), [Z(3)] * world), 0)
attempt("all_to_all", lambda: dist.all_to_all([Z(1)] * world, [Z(1, dtype=LONG)] * world))
attempt("all_to_all_single", lambda: dist.all_to_all_single(Z(world, dtype=LONG), Z(world)))
for word in ("BAND", "BOR", "BXOR"):
    attempt(word, lambda: dist.all_reduce(Z(1), getattr(dist.ReduceOp, word)))
attempt("BAND of integers", lambda: dist.all_reduce(Z(1, dtype=LONG), dist.ReduceOp.BAND))
dist.barrier()
dist.destroy_process_group()
