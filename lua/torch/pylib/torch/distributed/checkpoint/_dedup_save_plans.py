# SPDX-License-Identifier: MIT
"""torch.distributed.checkpoint._dedup_save_plans."""
import dataclasses


def dedup_save_plans(all_plans, save_to_lowest_rank=False):
    """What several ranks would write is written by the one that has least to
    write so far, or by the first."""
    owners = {}
    for rank, plan in enumerate(all_plans):
        for item in plan.items:
            owners.setdefault(item.index, []).append(rank)
    load, keeps = [0] * len(all_plans), {}
    for rank, plan in enumerate(all_plans):
        for item in plan.items:
            if item.index in keeps:
                continue
            ranks = owners[item.index]
            keep = ranks[0] if save_to_lowest_rank \
                else min(ranks, key=lambda r: load[r])
            keeps[item.index] = keep
            data = item.tensor_data
            load[keep] += 1 if data is None else data.chunk.sizes.numel() \
                * data.properties.dtype.itemsize
    return [dataclasses.replace(plan, items=[
        i for i in plan.items if keeps[i.index] == rank])
        for rank, plan in enumerate(all_plans)]
