# SPDX-License-Identifier: MIT
# Owner(s): ["oncall: distributed"]
import torch
from torch.distributed.tensor import DeviceMesh, distribute_tensor, DTensor, init_device_mesh, Partial, Replicate, Shard
from torch.testing._internal.common_utils import run_tests
from torch.testing._internal.distributed._tensor.common_dtensor import DTensorTestBase, with_comms

class DistTensorOpsTest(DTensorTestBase):
    @property
    def world_size(self):
        return 4

    @with_comms
    def test_aten_contiguous(self):
        mesh = self.build_device_mesh()
        t = torch.randn(12, 3)
        d = distribute_tensor(t, mesh, [Shard(0)])
        self.assertEqual(d.contiguous().full_tensor(), t)
        self.assertEqual(d.placements, (Shard(0),))

    @with_comms
    def test_inplace_op(self):
        mesh = DeviceMesh(self.device_type, list(range(self.world_size)))
        input_tensor = torch.randn((12, 3), device=self.device_type)
        dt_to_add = distribute_tensor(input_tensor, mesh, [Shard(0)])
        expected = input_tensor.clone() + 3
        dt_to_add.add_(3)
        self.assertEqual(dt_to_add.full_tensor(), expected)
        with self.assertRaisesRegex(RuntimeError, "mixed torch.Tensor and DTensor"):
            dt_to_add + input_tensor

    @with_comms
    def test_fails(self):
        mesh = self.build_device_mesh()
        x = DTensor.from_local(torch.ones(2), mesh, [Partial()])
        self.assertEqual((x * x).full_tensor(), torch.ones(2) * 5)

if __name__ == "__main__":
    run_tests()
