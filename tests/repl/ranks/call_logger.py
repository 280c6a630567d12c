# SPDX-License-Identifier: MIT
# What c10d's logger is told of a call that raises, before a group is there and
# after; the error is the call's own.
import logging
import torch.distributed as dist
from torch.distributed import c10d_logger


class Kept(logging.Handler):
    def emit(self, record):
        told.append(dict(record.msg))


told = []
c10d_logger._c10d_logger.addHandler(Kept())


@c10d_logger._exception_logger
def call(**kwargs):
    raise ValueError("no")


def attempt(**kwargs):
    try:
        call(**kwargs)
    except Exception as e:
        print(type(e).__name__, e, sorted(told.pop().items()))


attempt()
dist.init_process_group("gloo")
attempt()
attempt(group=dist.new_group([0, 1]))
dist.destroy_process_group()
