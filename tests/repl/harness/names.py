# SPDX-License-Identifier: MIT
# Names that programs and PyTorch's own tests ask for.
import functools
import pprint

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed._tensor.placement_types import DTensorSpec, TensorMeta
from torch.distributed.checkpoint._nested_dict import (
    flatten_state_dict, unflatten_state_dict)
from torch.distributed.checkpoint._traverse import get_element, set_element
from torch.distributed.tensor import (
    DeviceMesh, Partial, Replicate, Shard, distribute_tensor,
    init_device_mesh)
from torch.distributed.tensor._api import _shard_tensor
from torch.distributed.tensor._ops.utils import is_tensor_partial, normalize_dim
from torch.distributed.tensor.debug import CommDebugMode
from torch.testing._internal.common_utils import TestCase, run_tests


class Names(TestCase):
    def setUp(self):
        super().setUp()
        self.mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))

    def test_counts(self):
        mesh = init_device_mesh("cpu", (4,))
        x = torch.arange(8.0).reshape(4, 2)
        mode = CommDebugMode()
        with mode:
            d = distribute_tensor(x, mesh, [Shard(0)])
            self.assertEqual(mode.get_total_counts(), 1)
            full = d.full_tensor()
            self.assertEqual(mode.get_total_counts(), 2)
            self.assertEqual(mode.get_comm_counts()[
                torch.ops.c10d_functional.all_gather_into_tensor], 1)
        d.full_tensor()
        counts = mode.get_comm_counts()
        self.assertEqual(counts[torch.ops.c10d.scatter_], 1)
        self.assertEqual(counts[torch.ops.c10d_functional.all_reduce], 0)
        self.assertIs(mode.comm_counts, counts)
        self.assertEqual(mode.get_total_counts(), 2)
        with mode:
            pass
        self.assertEqual(mode.get_total_counts(), 0)

    def test_groups(self):
        mesh, tp = self.mesh, self.mesh["tp"]
        self.assertIs(tp.get_group(), mesh.get_group("tp"))
        self.assertIs(mesh.get_group(1), mesh.get_all_groups()[1])
        self.assertIsNot(mesh.get_group(0), mesh.get_group(1))
        whole = init_device_mesh("cpu", (4,)).get_group()
        self.assertIs(whole, dist.group.WORLD)
        self.assertIs(whole, dist.distributed_c10d._get_default_group())
        self.assertIsInstance(whole, dist.ProcessGroup)
        self.assertNotIsInstance(3, dist.ProcessGroup)
        self.assertEqual(whole.group_name, "0")
        self.assertIsNot(dist.new_group(), dist.new_group())
        self.assertEqual(dist.Backend("GLOO"), dist.Backend.GLOO)

    def test_placements(self):
        self.assertTrue(Shard(0).is_shard(dim=0))
        self.assertFalse(Shard(1).is_shard(dim=0))
        self.assertFalse(Replicate().is_shard(dim=0))
        self.assertFalse(Partial("sum").is_partial(reduce_op="avg"))
        parts, pads = Shard(0)._split_tensor(torch.arange(6), 4)
        self.assertEqual([p.tolist() for p in parts],
                         [[0, 1], [2, 3], [4, 5], [0, 0]])
        self.assertEqual(pads, [0, 0, 0, 2])
        parts, _ = Shard(0)._split_tensor(torch.arange(5), 4,
                                          with_padding=False)
        self.assertEqual([p.tolist() for p in parts], [[0, 1], [2, 3], [4], []])
        with self.assertRaises(AttributeError):
            Replicate()._split_tensor(torch.ones(2), 2)

    def test_specs(self):
        a = distribute_tensor(torch.ones(4, 4), self.mesh,
                              [Shard(0), Replicate()])
        b = distribute_tensor(torch.zeros(4, 4), self.mesh,
                              [Shard(0), Replicate()])
        c = distribute_tensor(torch.zeros(4, 4), self.mesh,
                              [Replicate(), Shard(0)])
        self.assertEqual(a._spec, b._spec)
        self.assertEqual(hash(a._spec), hash(b._spec))
        self.assertNotEqual(a._spec, c._spec)
        self.assertIsInstance(a._spec, DTensorSpec)
        self.assertEqual(a._spec.tensor_meta, TensorMeta(
            torch.Size([4, 4]), (4, 1), torch.float32))
        self.assertEqual(a._spec.dim_map, [0, -1])
        self.assertFalse(is_tensor_partial(a._spec))
        self.assertEqual(normalize_dim(-1, 3), 2)
        d = _shard_tensor(torch.arange(16).reshape(4, 4), [Shard(0), Shard(1)],
                          self.mesh)
        self.assertEqual(d.to_local().shape, (2, 2))

    def test_modules(self):
        m = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
        self.assertIs(m.get_parameter("0.weight"), m[0].weight)
        self.assertIs(m.get_buffer("1.running_mean"), m[1].running_mean)
        with self.assertRaisesRegex(AttributeError, "Linear has no attribute `x`"):
            m.get_parameter("0.x")
        with self.assertRaisesRegex(AttributeError, "`in_features` is not an "):
            m.get_parameter("0.in_features")

    def test_state_dicts(self):
        nested = {"a": {"b": 1}, "c": [torch.ones(1), 2], "d": [3, 4]}
        flat, paths = flatten_state_dict(nested)
        self.assertEqual(sorted(flat), ["a.b", "c.0", "c.1", "d"])
        self.assertEqual(unflatten_state_dict(flat, paths), nested)
        d = {}
        set_element(d, ("x", 1, "y"), 5)
        self.assertEqual(d, {"x": [None, {"y": 5}]})
        self.assertEqual(get_element(d, ("x", 1, "y")), 5)
        self.assertEqual(get_element(d, ("x", 7), "none"), "none")

    def test_python(self):
        def f():
            "what f does"
        f.mark = 7

        @functools.wraps(f)
        def g():
            pass
        self.assertEqual((g.mark, g.__name__), (7, "f"))
        long = {"b" * 30: list(range(12)), "a" * 30: (1,)}
        self.assertEqual(pprint.pformat(long), "{" + repr("a" * 30) + ": (1,),\n "
                         + repr("b" * 30) + ": " + repr(list(range(12))) + "}")
        self.assertEqual(pprint.pformat([1, 2]), "[1, 2]")

    def test_large_tensors_compare_fast(self):
        t = torch.ones(300, 1000)
        for _ in range(20):
            self.assertEqual(t, t.clone())


if __name__ == "__main__":
    run_tests()
