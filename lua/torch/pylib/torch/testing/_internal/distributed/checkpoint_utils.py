# SPDX-License-Identifier: MIT
"""torch.testing._internal.distributed.checkpoint_utils."""
import functools
import tempfile

import torch.distributed as dist


def with_temp_dir(func=None):
    """self.temp_dir is one folder for all ranks while the test runs."""
    @functools.wraps(func)
    def wrapper(self, *args, **kwargs):
        folder = tempfile.TemporaryDirectory()
        given = [folder.name]
        if dist.get_world_size() > 1:
            dist.broadcast_object_list(given, src=0)
        self.temp_dir = given[0]
        try:
            return func(self, *args, **kwargs)
        finally:
            dist.barrier()
            folder.cleanup()
    return wrapper
