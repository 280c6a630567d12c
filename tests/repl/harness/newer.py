# SPDX-License-Identifier: MIT
# What tests of later releases of PyTorch ask of private names.
import unittest

import torch
from torch.distributed.c10d_logger import (
    _exception_logger, _get_msg_dict, _time_logger)
from torch.distributed.checkpoint.state_dict import get_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor._dtensor_spec import DTensorSpec
from torch.distributed.tensor._op_schema import OpSchema, RuntimeSchemaInfo
from torch.distributed.tensor.placement_types import _StridedShard
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_distributed import (
    create_tcp_store, require_n_gpus_for_nccl_backend)
from torch.testing._internal.common_utils import (
    decorateIf, instantiate_parametrized_tests, parametrize, run_tests, TestCase)
from torch.testing._internal.distributed._tensor.common_dtensor import (
    DTensorTestBase, with_comms)
from torch.testing._internal.distributed.common_state_dict import (
    FusionEmbedding, FusionEmbeddingWithHook, VerifyStateDictMixin)


class Schemas(TestCase):
    def made(self, number, static, word, info=None):
        spec = DTensorSpec(mesh=None, placements=(), tensor_meta=None)
        return OpSchema(op=None, args_schema=(spec, number, static),
                        kwargs_schema={"other": number, "word": word},
                        schema_info=info)

    def test_arguments_that_count(self):
        self.assertEqual(self.made(1, 2, 3), self.made(4, 5, 6))
        for info, unequal in (
                (RuntimeSchemaInfo(static_argnum=2), [(1, 5, 3)]),
                (RuntimeSchemaInfo(static_kwargkey=["word"]), [(1, 2, 6)]),
                (RuntimeSchemaInfo(2, ["word"]), [(1, 5, 3), (1, 2, 6)])):
            self.assertEqual(self.made(1, 2, 3, info), self.made(4, 2, 3, info))
            self.assertNotEqual(self.made(1, 2, 3, info), self.made(1, 2, 3)
                                if info.static_kwargkey else 0)
            for other in unequal:
                self.assertNotEqual(self.made(1, 2, 3, info),
                                    self.made(*other, info))

    def test_lists_of_layouts(self):
        spec = DTensorSpec(mesh=None, placements=(), tensor_meta=None)
        one = OpSchema(None, (spec, [spec]), {})
        two = OpSchema(None, (spec, [spec, spec]), {})
        self.assertNotEqual(one, two)
        self.assertNotEqual(hash(one), hash(two))


class Parts(TestCase):
    def test_one_part(self):
        for placement in (Shard(0), Shard(1), _StridedShard(0, split_factor=2)):
            for size, n in ((16, 4), (17, 4), (3, 4), (1, 4), (8, 1), (8, 16)):
                t = torch.arange(size * 4)
                t = t.reshape(size, 4) if placement.dim == 0 else t.reshape(4, size)
                for padding in (False, True):
                    parts, _ = placement._split_tensor(t, n, with_padding=padding)
                    for i in range(n):
                        self.assertEqual(parts[i], placement._select_split_tensor(
                            t, n, i, with_padding=padding))
        with self.assertRaises(AttributeError):
            Replicate()._select_split_tensor(t, 1, 0)


class Bases(DTensorTestBase):
    world_size = 2

    @with_comms
    def test_without_device(self):
        self.assertEqual(init_device_mesh(self.device_type, (2,)).size(), 2)

    @with_comms
    def test_with_device(self, device):
        self.assertEqual(device, "cpu")


class Marked(TestCase):
    @decorateIf(unittest.expectedFailure, lambda given: given["n"] == 2)
    @parametrize("n", [1, 2])
    def test_some_fail(self, n):
        self.assertEqual(n, 1)

    @require_n_gpus_for_nccl_backend(1, "gloo")
    def test_store(self):
        store = create_tcp_store(use_libuv=False)
        self.assertFalse(store.libuvBackend)
        self.assertEqual(store.add("key", 1), 1)

    def test_calls_that_raise(self):
        @_exception_logger
        @_time_logger
        def failing(n):
            raise ValueError(n)

        with self.assertLogs("c10d-NullHandler-default", "DEBUG") as said:
            with self.assertRaises(ValueError):
                failing(3)
        self.assertEqual(_get_msg_dict("failing"), {"func_name": "failing"})
        self.assertEqual(len(said.records), 1)


class States(VerifyStateDictMixin, TestCase):
    def test_model_and_optimizer(self):
        torch.manual_seed(0)
        model = FusionEmbeddingWithHook(4, 2, 3)
        optim = torch.optim.Adam(model.parameters(), lr=0.1)
        sum(p.sum() for p in model.parameters()).backward()
        optim.step()
        self.assertEqual(list(model.state_dict()),
                         ["fusion_embedding.weight", "weight"])
        model.load_state_dict(model.state_dict())
        model = FusionEmbedding(4, 2, 3)
        optim = torch.optim.Adam(model.parameters(), lr=0.1)
        sum(p.sum() for p in model.parameters()).backward()
        optim.step()
        model_state, optim_state = get_state_dict(model, optimizers=optim)
        self._verify_msd(model.state_dict(), model_state)
        self._verify_osd(model, optim, optim.state_dict(), optim_state)
        self._verify_osd_by_load(model, optim, torch.optim.Adam(
            model.parameters(), lr=0.1), optim_state)
        model_state["embedding.weight"] = torch.ones(4, 3)
        with self.assertRaises(AssertionError):
            self._verify_msd(model.state_dict(), model_state)


instantiate_parametrized_tests(Marked)
instantiate_device_type_tests(Bases, globals(), only_for=("cpu",))

if __name__ == "__main__":
    run_tests()
