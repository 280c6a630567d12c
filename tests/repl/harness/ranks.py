# SPDX-License-Identifier: MIT
# PyTorch's test classes of several ranks, and its test models.
import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from torch.testing._internal.common_distributed import (
    MultiProcContinuousTest, MultiThreadedTestCase, skip_if_lt_x_gpu)
from torch.testing._internal.common_fsdp import FSDPTest, MLP
from torch.testing._internal.common_utils import run_tests
from torch.testing._internal.distributed._tensor.common_dtensor import (
    DTensorOpTestBase, DTensorTestBase, MLPModule, ModelArgs, Transformer,
    skip_unless_torch_gpu, with_comms)


class OnRanks(DTensorTestBase):
    @with_comms
    def test_mesh(self):
        mesh = self.build_device_mesh()
        d = distribute_tensor(torch.arange(6.0), mesh, [Shard(0)])
        self.assertEqual(d.to_local().numel(), 6 // self.world_size)
        self.assertEqual(d, torch.arange(6.0))

    @with_comms()
    def test_model(self):
        model = Transformer(ModelArgs(dropout_p=0.0))
        out = model(torch.zeros(1, 4, dtype=torch.int64))
        self.assertEqual(out.shape, (1, 4, 8))
        self.assertIs(model.output.weight, model.tok_embeddings.weight)
        self.assertEqual(MLPModule("cpu")(torch.ones(2, 10)).shape, (2, 10))
        self.assertEqual(MLP(3)(torch.ones(2, 3)).shape, (2, 3))

    @skip_if_lt_x_gpu(2)
    @with_comms
    def test_gpu(self):
        raise RuntimeError("there is no GPU")

    @with_comms
    @skip_unless_torch_gpu
    def test_gpus(self):
        raise RuntimeError("there is no GPU")


class OfEight(DTensorTestBase):
    @property
    def world_size(self):
        return 8

    @with_comms
    def test_eight(self):
        raise RuntimeError("there are not so many")


class Threads(MultiThreadedTestCase):
    @property
    def world_size(self):
        return 2

    def setUp(self):
        super().setUp()
        self._spawn_threads()

    def test_rank(self):
        self.assertEqual(self.rank, dist.get_rank())


class Ops(DTensorOpTestBase):
    def test_every_sharding(self):
        a, b = torch.randn(6, 6), torch.randn(6, 6)
        self._test_op(self.build_device_mesh(), torch.mul, a, b)


class Fsdp(FSDPTest):
    def test_subtests(self):
        self.seen = []
        self.run_subtests({"a": [1, 2], "b": [True]}, self._one, 7)
        self.assertEqual(self.seen, [(7, 1, True), (7, 2, True)])

    def _one(self, n, a, b):
        self.seen.append((n, a, b))


class Again(MultiProcContinuousTest):
    def test_group(self):
        self.assertEqual(self.world_size, dist.get_world_size())


if __name__ == "__main__":
    run_tests()
