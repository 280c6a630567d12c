# SPDX-License-Identifier: MIT
"""torch.testing._internal.distributed.checkpoint_utils."""
import functools
import tempfile

import _dtrepl


def with_temp_dir(func=None):
    """self.temp_dir is one folder for all ranks while the test runs."""
    @functools.wraps(func)
    def wrapper(self, *args, **kwargs):
        folder = tempfile.TemporaryDirectory()
        several = _dtrepl.world_size() > 1
        self.temp_dir = (_dtrepl.gather(folder.name)[0] if several
                         else folder.name)
        try:
            return func(self, *args, **kwargs)
        finally:
            if several:
                _dtrepl.gather(None)
            folder.cleanup()
    return wrapper
