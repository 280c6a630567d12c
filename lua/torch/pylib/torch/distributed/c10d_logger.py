# SPDX-License-Identifier: MIT
"""torch.distributed.c10d_logger."""
import functools
import logging

import torch.distributed as dist

_c10d_logger = logging.getLogger("c10d-NullHandler-default")
_c10d_logger.setLevel(logging.DEBUG)
_c10d_logger.propagate = False
_c10d_logger.addHandler(logging.NullHandler())


def _get_msg_dict(func_name, *args, **kwargs):
    """What a call was and who made it; all values are texts."""
    told = {"func_name": func_name}
    if dist.is_initialized():
        of = kwargs.get("group") or kwargs.get("process_group")
        told.update(pg_name=dist._get_process_group_name(kwargs.get("pg")),
                    backend=dist.get_backend(of))
        for size, rank, group in (("world_size", "global_rank", None),
                                  ("group_size", "local_rank", of)):
            told[size] = dist.get_world_size(group)
            told[rank] = dist.get_rank(group)
    return {key: str(value) for key, value in told.items()}


def _exception_logger(func):
    @functools.wraps(func)
    def logged(*args, **kwargs):
        try:
            given = func(*args, **kwargs)
        except Exception as why:
            told = _get_msg_dict(func.__name__, *args, **kwargs)
            _c10d_logger.debug(dict(told, error=str(why)))
            raise
        return given
    return logged


def _time_logger(func):
    @functools.wraps(func)
    def timed(*args, **kwargs):
        return func(*args, **kwargs)
    return timed
