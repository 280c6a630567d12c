# SPDX-License-Identifier: MIT
"""torch.testing._internal.common_distributed: test classes of several ranks.

PyTorch starts processes or threads for each test; here the ranks of the
program are there already, and each of them runs the test.
"""
import contextlib
import functools
import itertools
import os
import sys
import unittest
from collections import namedtuple
from datetime import timedelta

import torch
import torch.distributed as dist
import _dtrepl
from unittest.case import Idle
from torch.testing._internal.common_utils import (
    TestCase, TEST_CUDA, TEST_HPU, TEST_XPU, TEST_WITH_ROCM, TEST_WITH_TSAN,
    IS_SANDCASTLE)

DEFAULT_WORLD_SIZE = 4
TIMEOUT_DEFAULT = 300
HAS_ACCELERATOR = PLATFORM_SUPPORTS_SYMM_MEM = False
TestSkip = namedtuple("TestSkip", ["exit_code", "message"])

TEST_SKIPS = {
    "backend_unavailable": TestSkip(72, "Skipped because distributed backend "
                                        "is not available."),
    "small_worldsize": TestSkip(73, "Skipped due to small world size."),
    "odd_worldsize": TestSkip(87, "Skipped due to odd world size."),
    "no_cuda": TestSkip(74, "CUDA is not available."),
    "generic": TestSkip(86, "Test skipped at subprocess level, look at "
                            "subprocess log for skip reason"),
    "importerror": TestSkip(88, "Test skipped due to missing import"),
    "no_accelerator": TestSkip(89, "accelerator is not available."),
    "nccl": TestSkip(76, "c10d not compiled with NCCL support"),
    "skipIfRocm": TestSkip(78, "Test skipped for ROCm"),
}
for _n in range(1, 9):
    TEST_SKIPS["multi-gpu-%d" % _n] = TestSkip(
        74 + _n, "Need at least %d CUDA device%s" % (_n, "s" if _n > 1
                                                     else ""))
    TEST_SKIPS["multi-device-%d" % _n] = TestSkip(      # @2.15
        74 + _n, "Need at least %d accelerator device%s" % (
            _n, "s" if _n > 1 else ""))
    TEST_SKIPS["multi-hpu-%d" % _n] = TestSkip(
        74 + _n, "Need at least %d HPU devices" % _n)


def _wrapped(test, reason):
    """A test that is skipped when it is called."""
    @functools.wraps(test)
    def wrapper(*args, **kwargs):
        raise unittest.SkipTest(reason)
    return wrapper


def skip_if_no_gpu(func):
    return _wrapped(func, TEST_SKIPS["no_cuda"].message)


def skip_if_lt_x_gpu(x, *, allow_cpu=False):
    if allow_cpu:
        return lambda func: func
    # @2.15 words it of accelerators
    what = "CUDA" if torch.__version__ < "2.15" else "accelerator"
    return lambda func: _wrapped(func, "Need at least %d %s device%s" % (
        x, what, "" if x == 1 else "s"))


def nccl_skip_if_lt_x_gpu(backend, x):
    if backend != "nccl":
        return lambda func: func
    return skip_if_lt_x_gpu(x)


def at_least_x_gpu(x):
    return False


def _when(condition, reason):
    def decorate(func):
        @functools.wraps(func)
        def wrapper(self, *args, **kwargs):
            if condition(self):
                raise unittest.SkipTest(reason)
            return func(self, *args, **kwargs)
        return wrapper
    return decorate


def skip_if_small_worldsize(func):
    return _when(lambda self: self.world_size <= 2,
                 TEST_SKIPS["small_worldsize"].message)(func)


def skip_if_odd_worldsize(func):
    return _when(lambda self: self.world_size % 2 == 1,
                 TEST_SKIPS["odd_worldsize"].message)(func)


def requires_world_size(n):
    return _when(lambda self: self.world_size < n,
                 "Test requires world size of %d" % n)


def require_n_gpus_for_nccl_backend(n, backend):
    return _when(lambda self: backend == "nccl",
                 "Need at least %d CUDA devices" % n)


def requires_gloo():
    return lambda target: target


def _without(name):
    def requires(*args, **kwargs):
        return unittest.skip("c10d was not compiled with the " + name
                             + " backend")
    return requires


requires_nccl = _without("NCCL")
requires_ucc = _without("UCC")
requires_mpi = _without("MPI")
requires_nccl_version = _without("NCCL")


def requires_accelerator_dist_backend(backends=None):
    return unittest.skip("c10d was not compiled with a backend of an "
                         "accelerator")


def create_tcp_store(addr="localhost", world_size=1, is_master=True,
                     timeout=timedelta(minutes=5), wait_for_workers=True,
                     jit_class=False, use_libuv=True):
    # a process of its own would find a free port of its own
    port = 29600 + int(os.environ.get("RANK", 0))
    return dist.TCPStore(addr, port, world_size, is_master, timeout=timeout,
                         wait_for_workers=wait_for_workers,
                         use_libuv=use_libuv)


def requires_multicast_support():
    return unittest.skip("multicast support is not available")


def skip_if_rocm_multiprocess(func):
    return func


def skip_if_rocm_arch_multiprocess(arch):
    return lambda func: func


def skip_if_win32():
    return lambda func: func


def skip_if_import_transformers(*args, **kwargs):
    return unittest.skip("transformers is not installed")


def get_timeout(test_id):
    return TIMEOUT_DEFAULT


def run_subtests(cls_inst, subtest_config, test_fn, *test_args, **test_kwargs):
    """test_fn with every combination of the values, one after another."""
    names = list(subtest_config.keys())
    for values in itertools.product(*[subtest_config[n] for n in names]):
        chosen = dict(zip(names, values))
        with cls_inst.subTest(**chosen):
            test_fn(*test_args, **test_kwargs, **chosen)
            dist.barrier()


def _take_part(case, wanted, what="class"):
    """The first `wanted` ranks are the world from now on; others rest."""
    there = _dtrepl.world_size()
    if wanted > there:
        case.skipTest("the %s wants %d ranks, there are %d: run with -n %d"
                      % (what, wanted, there, wanted))
    if wanted < there:
        case._ranks = wanted
        if _dtrepl.rank() >= wanted:
            raise Idle()
        _dtrepl.world(wanted, 0, False)


class _Ranks(TestCase):
    """A test of several ranks: they are those of the program."""

    _ranked = True

    @property
    def rank(self):
        return self.__dict__.get("_rank", _dtrepl.rank())

    @rank.setter
    def rank(self, value):
        self._rank = value

    @property
    def world_size(self):
        return _dtrepl.world_size()

    @property
    def device_type(self):
        return "cpu"

    @property
    def is_master(self):
        return self.rank == 0

    @property
    def file_name(self):
        return "init_" + self._testMethodName

    def setUp(self):
        super().setUp()
        _take_part(self, int(self.world_size))
        _dtrepl.group(False)            # processes of the test's own
        self.addCleanup(_dtrepl.group, False)   # which end with it

    def _spawn_processes(self):
        pass

    def _spawn_threads(self):
        _dtrepl.group(True)             # threads begin with one
        self.perThreadSetUp()

    def perThreadSetUp(self):
        pass

    def perThreadTearDown(self):
        pass

    def tearDown(self):
        super().tearDown()

    def _current_test_name(self):
        return self._testMethodName

    def join_or_run(self, fn):
        return fn

    def assertEqualOnRank(self, x, y, msg=None, *, rank=0):
        if self.rank == rank:
            self.assertEqual(x, y, msg)

    def assertNotEqualOnRank(self, x, y, msg=None, *, rank=0):
        if self.rank == rank:
            self.assertNotEqual(x, y)


class MultiProcessTestCase(_Ranks):
    MAIN_PROCESS_RANK = -1
    TEST_ERROR_EXIT_CODE = 10

    def __init__(self, method_name="runTest", methodName="runTest"):
        super().__init__(methodName if methodName != "runTest"
                         else method_name)

    @property
    def destroy_pg_upon_exit(self):
        return True


class MultiThreadedTestCase(_Ranks):
    MAIN_THREAD_RANK = -1

    def __init__(self, method_name="runTest", methodName="runTest"):
        super().__init__(methodName if methodName != "runTest"
                         else method_name)

    def tearDown(self):
        self.perThreadTearDown()
        super().tearDown()


class DistributedTestBase(MultiProcessTestCase):
    def setUp(self):
        super().setUp()
        self._spawn_processes()

    def backend(self, device):
        return "gloo"

    def create_pg(self, device, world_size=None):
        dist.init_process_group(backend=self.backend(device),
                                world_size=self.world_size, rank=self.rank)
        return dist.distributed_c10d._get_default_group()

    def rank_to_device(self, device):
        return {i: [i] for i in range(self.world_size)}


class MultiProcContinuousTest(_Ranks):
    """Tests that share one start of their ranks."""

    MAIN_PROCESS_RANK = -1
    world_size = -2
    rank = -1
    rdvz_file = None
    timeout = timedelta(seconds=120)

    @classmethod
    def backend_str(cls):
        return None

    @classmethod
    def opts(cls, high_priority_stream=False):
        return None

    @classmethod
    def device_type(cls):
        return "cpu"

    @classmethod
    def _init_pg(cls, rank, world_size, rdvz_file):
        dist.init_process_group(backend=cls.backend_str() or "gloo",
                                world_size=world_size, rank=rank)
        cls.pg = dist.distributed_c10d._get_default_group()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        wanted, there = cls.world_size, _dtrepl.world_size()
        if isinstance(wanted, int) and wanted > 0 and wanted != there:
            raise unittest.SkipTest("the class wants %d ranks, there are %d: "
                                    "run with -n %d" % (wanted, there, wanted))
        cls.rank, cls.world_size = _dtrepl.rank(), there
        cls._init_pg(cls.rank, there, None)

    @classmethod
    def run_rank(cls, rank, world_size, rdvz_file=None):
        unittest.main()

    def setUp(self):
        TestCase.setUp(self)


def spawn_threads_and_init_comms(func=None, timeout=TIMEOUT_DEFAULT,
                                 world_size=DEFAULT_WORLD_SIZE):
    if func is None:
        return lambda f: spawn_threads_and_init_comms(f, timeout, world_size)

    @functools.wraps(func)
    def wrapper(self, *args, **kwargs):
        try:
            _take_part(self, world_size, "test")
            _dtrepl.group(True)
        except Idle:
            return None
        try:
            return func(self, *args, **kwargs)
        finally:
            _dtrepl.group(False)        # the threads' group ends with them
    return wrapper


def init_multigpu_helper(world_size, backend):
    return {i: [i] for i in range(world_size)}


def create_device(interface=None, lazy_init=False):
    return None


class SaveForwardInputsModule(torch.nn.Module):
    """A linear layer that writes down what it was given."""

    def __init__(self, forward_inputs, cast_forward_inputs):
        super().__init__()
        self.l = torch.nn.Linear(100, 100)
        self.forward_inputs = forward_inputs
        self.cast_forward_inputs = cast_forward_inputs

    def forward(self, x):
        self.forward_inputs[self] = x
        return self.l(x.to(self.l.weight.dtype) if self.cast_forward_inputs
                      else x)


class SaveForwardInputsModel(torch.nn.Module):
    def __init__(self, forward_inputs, cast_forward_inputs):
        super().__init__()
        self.c1 = SaveForwardInputsModule(forward_inputs, cast_forward_inputs)
        self.c2 = SaveForwardInputsModule(forward_inputs, cast_forward_inputs)
        self.forward_inputs = forward_inputs

    def forward(self, x):
        self.forward_inputs[self] = x
        return self.c2(self.c1(x))
