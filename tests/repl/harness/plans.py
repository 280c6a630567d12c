# SPDX-License-Identifier: MIT
# Plans of checkpoints, collectives by module, files of tempfile.
import tempfile
import torch
import torch.distributed.checkpoint as dcp
import torch.nn as nn
from torch.distributed._shard.sharded_tensor import (
    Shard, ShardedTensor, ShardedTensorMetadata, ShardMetadata)
from torch.distributed.checkpoint._dedup_save_plans import dedup_save_plans
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import (
    DefaultLoadPlanner, _create_default_local_metadata,
    create_default_global_save_plan, create_default_local_load_plan,
    create_default_local_save_plan)
from torch.distributed.checkpoint.metadata import (MetadataIndex,
                                                   TensorProperties)
from torch.distributed.checkpoint.utils import find_state_dict_object
from torch.distributed.tensor import Replicate, Shard as Cut, distribute_tensor
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import (
    ColwiseParallel, RowwiseParallel, parallelize_module)
from torch.testing._internal.common_utils import TestCase, run_tests
from torch.testing._internal.distributed.checkpoint_utils import with_temp_dir
from torch.testing._internal.distributed._tensor.common_dtensor import (
    DTensorTestBase, MLPModule, with_comms)


def in_parts(rank, world, size):
    parts = [ShardMetadata([i * size], [size], "rank:%d/cpu" % i)
             for i in range(world)]
    mine = Shard.from_tensor_and_offsets(torch.ones(size), [rank * size], rank)
    return ShardedTensor._init_from_local_shards_and_global_metadata(
        [mine], ShardedTensorMetadata(
            parts, torch.Size([world * size]),
            TensorProperties.create_from_tensor(torch.zeros(1))))


class Plans(TestCase):
    def test_reshard(self):
        saved = _create_default_local_metadata({"st": in_parts(1, 8, 16)})
        plan = create_default_local_load_plan({"st": in_parts(1, 4, 32)}, saved)
        self.assertEqual([(i.storage_index.offset[0], i.dest_offsets[0],
                           i.lengths[0]) for i in plan.items],
                         [(32, 0, 16), (48, 16, 16)])

    def test_dedup(self):
        plans = [create_default_local_save_plan({"a": torch.ones(4), "b": 1},
                                                r == 0) for r in range(2)]
        plans = dedup_save_plans(plans)
        self.assertEqual([len(p.items) for p in plans], [1, 1])
        md = create_default_global_save_plan(plans)[1].state_dict_metadata
        self.assertEqual(sorted(md), ["a", "b"])
        self.assertEqual(md["a"].size, torch.Size([4]))

    def test_find(self):
        state = {"st": in_parts(0, 2, 8), "n": [1]}
        found = find_state_dict_object(state, MetadataIndex("st", [0], 9))
        self.assertEqual(found, torch.ones(8))
        with self.assertRaisesRegex(ValueError, "Could not find shard"):
            find_state_dict_object(state, MetadataIndex("st", [8]))
        with self.assertRaisesRegex(NotImplementedError, "ShardedTensor.sum"):
            state["st"].sum()

    @with_temp_dir
    def test_partial(self):
        folder = self.temp_dir
        dcp.save({"m": nn.Linear(2, 2)}, checkpoint_id=folder)
        more = nn.Linear(2, 2)
        more.extra = nn.Parameter(torch.ones(2))
        dcp.load({"m": more}, checkpoint_id=folder,
                 planner=DefaultLoadPlanner(allow_partial_load=True))
        with self.assertRaisesRegex(CheckpointException, "Missing key"):
            dcp.load({"m": more}, checkpoint_id=folder)

        class Mine(DefaultLoadPlanner):
            pass
        with self.assertRaisesRegex(NotImplementedError, "Mine"):
            dcp.load({"m": more}, checkpoint_id=folder, planner=Mine())

    def test_files(self):
        with open("plans.py") as f:
            self.assertIn("SPDX", f.readline())
        with tempfile.NamedTemporaryFile() as f:
            f.write(b"abc")
            f.seek(0)
            self.assertEqual(f.read(), b"abc")


class Counts(DTensorTestBase):
    @with_comms
    def test_by_module(self):
        mesh = self.build_device_mesh()
        model = parallelize_module(MLPModule("cpu"), mesh, {
            "net1": ColwiseParallel(), "net2": RowwiseParallel()})
        ops = torch.ops.c10d_functional
        with CommDebugMode() as mode:
            model(torch.ones(2, 10)).sum().backward()
        by = mode.comm_module_counts
        self.assertEqual(by["Global"]["forward"], {ops.all_reduce: 1})
        self.assertEqual(by["MLPModule.net2"]["forward"][ops.all_reduce], 1)
        self.assertEqual(sorted(mode.get_sharding_info()),
                         ["MLPModule.net1.bias", "MLPModule.net1.weight",
                          "MLPModule.net2.bias", "MLPModule.net2.weight"])
        self.assertEqual(len(mode.advanced_module_tracker.module_helper_dict),
                         5)
        d = distribute_tensor(torch.arange(8.0), mesh, [Cut(0)])
        with mode:
            d.redistribute(mesh, [Replicate()])
        self.assertEqual(list(mode.comm_module_counts), ["Global"])
        view = d.view(2, 4) if self.world_size == 1 else d.to_local().view(-1)
        self.assertEqual(view.data_ptr(), d.to_local().data_ptr())
        model.net1._parameters["weight"] = nn.Parameter(torch.ones(2))
        self.assertEqual(model.net1.weight, torch.ones(2))


if __name__ == "__main__":
    run_tests()
