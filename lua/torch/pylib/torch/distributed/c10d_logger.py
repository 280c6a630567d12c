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
    if not dist.is_initialized():
        return {"func_name": f"{func_name}"}
    group = kwargs.get("group") or kwargs.get("process_group")
    return {"func_name": f"{func_name}",
            "pg_name": f"{dist._get_process_group_name(kwargs.get('pg'))}",
            "backend": f"{dist.get_backend(group)}",
            "world_size": f"{dist.get_world_size()}",
            "group_size": f"{dist.get_world_size(group)}",
            "global_rank": f"{dist.get_rank()}",
            "local_rank": f"{dist.get_rank(group)}"}


def _exception_logger(func):
    @functools.wraps(func)
    def logged(*args, **kwargs):
        try:
            return func(*args, **kwargs)
        except Exception as error:
            said = _get_msg_dict(func.__name__, *args, **kwargs)
            _c10d_logger.debug({**said, "error": f"{error}"})
            raise
    return logged


def _time_logger(func):
    @functools.wraps(func)
    def timed(*args, **kwargs):
        return func(*args, **kwargs)
    return timed
