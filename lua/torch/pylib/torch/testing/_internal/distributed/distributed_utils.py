# SPDX-License-Identifier: MIT
"""torch.testing._internal.distributed.distributed_utils."""
import contextlib
import functools

import torch.distributed as dist


@contextlib.contextmanager
def with_dist(rank=0, world_size=2):
    """The body in a pretended world."""
    dist.init_process_group(backend="fake", rank=rank, world_size=world_size)
    try:
        yield
    finally:
        dist.destroy_process_group()


def with_fake_comms(func=None, rank=0, world_size=2):
    """A test in a pretended world."""
    if func is None:
        return lambda f: with_fake_comms(f, rank, world_size)

    @functools.wraps(func)
    def wrapper(self, *args, **kwargs):
        with with_dist(rank, world_size):
            func(self, *args, **kwargs)
    return wrapper
