# SPDX-License-Identifier: MIT
# Classes that want other numbers of ranks, and pretended groups.
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
import torch.distributed.distributed_c10d as c10d
from torch.testing._internal.common_utils import TestCase, run_tests
from torch.testing._internal.distributed._tensor.common_dtensor import (
    DTensorTestBase, with_comms)
from torch.testing._internal.distributed.distributed_utils import (
    with_dist, with_fake_comms)


class OfTwo(DTensorTestBase):
    @property
    def world_size(self):
        return 2

    @with_comms
    def test_sum(self):
        self.assertEqual(dist.get_world_size(), 2)
        t = torch.full((1,), float(self.rank + 1))
        dist.all_reduce(t)
        self.assertEqual(t.item(), 3.0)
        self.assertEqual(dist.group.WORLD.size(), 2)
        self.assertEqual(self.build_device_mesh().size(), 2)

    def test_fails(self):
        self.assertEqual(self.rank + 1, self.world_size + 1, "on both")


class OfSix(DTensorTestBase):
    @property
    def world_size(self):
        return 6

    @with_comms
    def test_groups(self):
        pairs = [c10d._new_group_with_tag([i, i + 1], pg_tag="pair")
                 for i in (0, 2, 4)]
        mine = pairs[self.rank // 2]
        self.assertEqual(c10d._find_pg_by_ranks_and_tag(
            "pair", [self.rank // 2 * 2, self.rank // 2 * 2 + 1]), mine)
        tag, ranks, size = funcol._expand_group(mine)
        self.assertEqual((tag, size), ("pair", 2))
        self.assertEqual(funcol._expand_group([[0, 1], [2, 3]])[1:],
                         ([0, 1, 2, 3], 2))
        t = torch.arange(2.0) + 2 * (self.rank % 2)
        swapped = funcol.permute_tensor(t, [1, 0], mine)
        self.assertEqual(swapped, torch.arange(2.0) + 2 * (1 - self.rank % 2))
        out = funcol.all_reduce_coalesced([t, t + 1], "sum", mine)
        self.assertEqual(out[1], torch.tensor([4.0, 6.0]))
        x = torch.ones(2, 2, requires_grad=True)
        funcol.all_gather_tensor_autograd(
            x * 1, 0, mine.group_name).sum().backward()
        self.assertEqual(x.grad, torch.full((2, 2), 2.0))


class Pretended(TestCase):
    def test_group(self):
        dist.init_process_group("fake", rank=3, world_size=16)
        self.assertEqual((dist.get_rank(), dist.get_world_size()), (3, 16))
        dist.all_reduce(torch.ones(2))
        dist.destroy_process_group()
        self.assertFalse(dist.is_initialized())

    @with_fake_comms(rank=1, world_size=32)
    def test_comms(self):
        self.assertEqual(dist.get_world_size(), 32)
        with self.assertRaises(Exception):
            with with_dist(0, 2):
                raise ValueError("inside")


if __name__ == "__main__":
    run_tests()
