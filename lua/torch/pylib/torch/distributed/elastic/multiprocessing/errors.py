# SPDX-License-Identifier: MIT
"""torch.distributed.elastic.multiprocessing.errors: what notes a worker's
error in a file for the launcher; here the launcher sees it as it is."""
import functools


class ChildFailedError(Exception):
    """What a launcher of PyTorch raises for its workers."""

    def __init__(self, name, failures):
        self.name, self.failures = name, failures
        super().__init__(f"{name} FAILED")


class ErrorHandler:
    def initialize(self):
        pass

    def record_exception(self, e):
        pass


def get_error_handler():
    return ErrorHandler()


def record(fn, error_handler=None):
    """fn, whose error goes on to the launcher; one that leaves with a status
    other than 0 leaves so."""
    handler = error_handler or get_error_handler()

    @functools.wraps(fn)
    def wrap(*args, **kwargs):
        handler.initialize()
        try:
            return fn(*args, **kwargs)
        except ChildFailedError:
            raise
        except Exception as e:
            handler.record_exception(e)
            raise

    return wrap
