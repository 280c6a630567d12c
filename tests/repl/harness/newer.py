# SPDX-License-Identifier: MIT
# What tests of later releases of PyTorch ask of private names.
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor._dtensor_spec import DTensorSpec
from torch.distributed.tensor._op_schema import OpSchema, RuntimeSchemaInfo
from torch.distributed.tensor.placement_types import _StridedShard
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import run_tests, TestCase
from torch.testing._internal.distributed._tensor.common_dtensor import (
    DTensorTestBase, with_comms)


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


instantiate_device_type_tests(Bases, globals(), only_for=("cpu",))

if __name__ == "__main__":
    run_tests()
