# SPDX-License-Identifier: MIT
# Names of torch.distributed that programs should not use, and do.
import torch
import torch.nn as nn
from torch.distributed._composable import _get_registry, checkpoint, contract
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import (DTensor, Partial, Replicate, Shard,
                                      distribute_tensor)
from torch.distributed.tensor._collective_utils import (
    mesh_broadcast, mesh_scatter, pad_tensor, unpad_tensor)
from torch.distributed.tensor._op_schema import OpSchema
from torch.distributed.tensor._ops._common_rules import (einop_rule,
                                                         pointwise_rule)
from torch.distributed.tensor.placement_types import (
    DTensorSpec, TensorMeta, _StridedShard)
from torch.testing._internal.common_utils import TestCase, run_tests
from torch.testing._internal.distributed._tensor.common_dtensor import (
    DTensorTestBase, with_comms)

aten = torch.ops.aten


def meta(*shape):
    t = torch.empty(shape)
    return TensorMeta(t.shape, t.stride(), t.dtype)


class Rules(DTensorTestBase):
    def spec(self, mesh, dims, shape, sums=()):
        return DTensorSpec.from_dim_map(mesh, dims, list(sums),
                                        tensor_meta=meta(*shape))

    @with_comms
    def test_einop(self):
        mesh = init_device_mesh("cpu", (2, 2))
        a, b = self.spec(mesh, [0, -1], (8, 4)), self.spec(mesh, [-1, 1],
                                                          (4, 8))
        out = einop_rule("mk,kn->mn", OpSchema(aten.mm.default, (a, b), {}))
        self.assertEqual(out.output_spec.dim_map, [0, 1])
        c = self.spec(mesh, [-1, 0], (8, 4))
        d = self.spec(mesh, [0, -1], (4, 8))
        out = einop_rule("mk,kn->mn", OpSchema(aten.mm.default, (c, d), {}))
        self.assertTrue(out.output_spec.placements[0].is_partial())
        with self.assertRaisesRegex(RuntimeError, "sharded two different"):
            einop_rule("ij,ij->ij", OpSchema(
                aten.add.Tensor, (a, self.spec(mesh, [1, -1], (8, 4))), {}))

    @with_comms
    def test_pointwise(self):
        mesh = init_device_mesh("cpu", (2, 2))
        a = self.spec(mesh, [-1, -1], (8, 4))
        b = self.spec(mesh, [-1, 0], (8, 4))
        out = pointwise_rule(OpSchema(aten.lerp.Scalar, (a, b, -1), {}))
        self.assertIsNone(out.output_spec)
        self.assertEqual(out.redistribute_schema.args_schema[2], -1)
        in_place = OpSchema(aten.add_.Tensor, (a, b), {})
        self.assertTrue(in_place.is_inplace_op())
        out = pointwise_rule(in_place).redistribute_schema
        self.assertEqual(out.args_schema[1].dim_map, [-1, -1])


class Local(DTensorTestBase):
    @with_comms
    def test_parts(self):
        mesh = init_device_mesh("cpu", (4,))
        x = torch.arange(8.0)
        for p in (Shard(0), _StridedShard(0, split_factor=2)):
            mine = p._split_tensor(x, 4)[0][self.rank]
            self.assertEqual(p._to_replicate_tensor(mine, mesh, 0, [8]), x)
        total = Partial()._reduce_value(torch.ones(2), mesh, 0)
        self.assertEqual(total, torch.full((2,), 4.0))
        got = torch.empty(2)
        mesh_scatter(got, [torch.full((2,), float(i)) for i in range(4)], mesh)
        self.assertEqual(got, torch.full((2,), float(self.rank)))
        mesh_broadcast(got, mesh)
        self.assertEqual(got, torch.zeros(2))
        self.assertEqual(unpad_tensor(pad_tensor(x, 0, 3), 0, 3), x)

    @with_comms
    def test_equal(self):
        mesh = init_device_mesh("cpu", (4,))
        a = DTensor.from_local(torch.ones(2), mesh, [Shard(0)])
        b = DTensor.from_local(torch.full((2,), float(self.rank == 0)), mesh,
                               [Shard(0)])
        self.assertFalse(a.equal(b))
        half = DeviceMesh("cpu", [0, 2])
        c = DTensor.from_local(torch.ones(2), half, [Shard(0)])
        self.assertTrue(c.equal(c))

    @with_comms
    def test_meta(self):
        mesh = init_device_mesh("cpu", (4,))
        d = distribute_tensor(torch.empty(8, 4, device="meta"), mesh,
                              [Shard(0)])
        self.assertTrue(d.is_meta)
        self.assertEqual((d + 1).device.type, "meta")
        real = torch.zeros_like(d, device="cpu")
        self.assertEqual(real.to_local(), torch.zeros(2, 4))
        self.assertEqual(real.device.type, "cpu")

    @with_comms
    def test_constructor(self):
        mesh = init_device_mesh("cpu", (4,))
        local = torch.ones(3, 3, requires_grad=True)
        spec = DTensorSpec(mesh, (Shard(0),), tensor_meta=meta(12, 3))
        d = DTensor(local, spec, requires_grad=True)
        self.assertEqual((d.size(), d.requires_grad), ((12, 3), True))
        with self.assertWarnsRegex(UserWarning, "To construct"):
            DTensor(local, spec, requires_grad=False)
        self.assertEqual(hash(mesh), hash(init_device_mesh("cpu", (4,))))
        self.assertEqual({mesh: 1}[init_device_mesh("cpu", (4,))], 1)
        bare = DeviceMesh("cpu", [0], _init_backend=False)
        with self.assertRaisesRegex(RuntimeError, "not initialized"):
            bare.get_group()


class Two(nn.Module):
    def forward(self, x):
        return x + 1, x + 2


class Sum(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))

    def forward(self, xs):
        assert type(xs) is tuple
        return (xs[0] + xs[1]) * self.w


class Composable(TestCase):
    def test_contract(self):
        @contract()
        def mark(module):
            mark.state(module).times = 1

        @contract()
        def wrap(module):
            return nn.Sequential(module)

        m = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        mark(m[0])
        self.assertEqual(mark.state(m[0]).times, 1)
        self.assertEqual(list(_get_registry(m[0])), ["mark"])
        self.assertIsNone(_get_registry(m[1]))
        with self.assertRaisesRegex(AssertionError, "already been applied"):
            mark(m[0])
        with self.assertRaisesRegex(RuntimeError, "cannot modify FQNs"):
            wrap(m[1])

    def test_checkpoint(self):
        m = nn.Sequential(Two(), Sum(), Two(), Sum())
        checkpoint(m[1])
        m(torch.zeros(2)).sum().backward()
        self.assertEqual(m[1].w.grad, torch.full((2,), 6.0))
        with self.assertRaisesRegex(ValueError, "Unexpected keyword"):
            checkpoint(m[3], foo=1)


if __name__ == "__main__":
    run_tests()
