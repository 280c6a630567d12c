# SPDX-License-Identifier: MIT
"""torch.distributed.checkpoint._dedup_tensors."""
from torch.distributed.checkpoint._dedup_save_plans import dedup_save_plans
from torch.distributed.checkpoint.planner import SavePlan


def dedup_tensors(all_plans):
    """What several ranks have, the first of them writes."""
    return dedup_save_plans(all_plans, save_to_lowest_rank=True)
