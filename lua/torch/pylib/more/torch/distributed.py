# SPDX-License-Identifier: MIT
"""torch.distributed and torch.distributed.distributed_c10d: process groups by
tag, which PyTorch's functional collectives look them up by.

A group that nobody named has the tag "ptd:" + its name, one that a program
named "user:" + that; the group of all ranks has "".
"""
import _absent
import _dtrepl
import datetime
import enum
import torch.distributed as dist
from torch.distributed import (get_process_group_ranks, get_rank,
                               get_world_size, new_group)

from torch.distributed import all_gather_into_tensor as _all_gather_base
from torch.distributed import reduce_scatter_tensor as _reduce_scatter_base

default_pg_timeout = datetime.timedelta(minutes=30)


class DebugLevel(enum.Enum):
    OFF = 0
    INFO = 1
    DETAIL = 2

    def __int__(self):
        return self.value


_debug_level = DebugLevel.OFF


def get_debug_level():
    return _debug_level


def set_debug_level(level):
    global _debug_level
    if not isinstance(level, DebugLevel):
        raise TypeError(
            "set_debug_level(): incompatible function arguments. The following "
            "argument types are supported:\n    1. (arg0: "
            "torch._C._distributed_c10d.DebugLevel) -> None\n\nInvoked with: "
            f"{level!r}")
    _debug_level = level                # each collective is checked anyhow


def is_backend_available(backend):
    name = backend.lower()
    available = getattr(dist, f"is_{name}_available", None)
    return available() if available else name in dist.Backend.backend_list


def supports_complex(reduceOp):
    return reduceOp not in (dist.ReduceOp.MAX, dist.ReduceOp.MIN,
                            dist.ReduceOp.PRODUCT, dist.ReduceOp.BAND,
                            dist.ReduceOp.BOR, dist.ReduceOp.BXOR)


_tags = {}                      # name of a group: its tag
_tagged = []                    # groups of this rank that have one


def _world_group():
    from torch.distributed import group
    return group.WORLD


def _groups_with(tag):
    found = [g for g in _tagged if _tags[g.group_name] == tag]
    if tag == "":
        found.insert(0, _world_group())
    if tag.startswith("ptd:"):
        found += [g for g in _dtrepl.groups()
                  if g.group_name not in _tags and g is not _world_group()
                  and "ptd:" + g.group_name == tag]
    return found


def _full_tag(tag):
    if tag and not tag.startswith("ptd:") and not tag.startswith("user:"):
        return "user:" + tag
    return tag


def _get_group_tag(pg):
    if pg is _world_group():
        return ""
    tag = _tags.get(pg.group_name, "ptd:" + pg.group_name)
    return tag[len("user:"):] if tag.startswith("user:") else tag


def _find_pg_by_ranks_and_tag(tag, ranks):
    for pg in _groups_with(_full_tag(tag)):
        if sorted(get_process_group_ranks(pg)) == sorted(ranks):
            return pg
    return None


def _new_group_with_tag(ranks=None, timeout=None, backend=None,
                        backend_options=None, pg_tag=None,
                        use_local_synchronization=False, group_desc=None,
                        device_id=None, sort_ranks=True):
    if ranks is None:
        ranks = list(range(get_world_size()))
    elif sort_ranks:
        ranks = sorted(ranks)
    if pg_tag:
        known = _find_pg_by_ranks_and_tag(pg_tag, ranks)
        if known is not None:
            return known
    pg = new_group(ranks)
    _tags[pg.group_name] = _full_tag(pg_tag) if pg_tag \
        else "ptd:" + pg.group_name
    _tagged.append(pg)
    return pg


def _find_or_create_pg_by_ranks_and_tag(tag, ranks, stride):
    if len(ranks) % stride != 0:
        raise ValueError("Ranks length (%d) must be divisible by stride (%d)"
                         % (len(ranks), stride))
    rows = [ranks[i:i + stride] for i in range(0, len(ranks), stride)]
    mine = [row for row in rows if get_rank() in row]
    if not mine:
        raise AssertionError("rankset doesn't include the current node")
    pg = _find_pg_by_ranks_and_tag(tag, mine[0])
    if pg is not None:
        return pg
    if tag == "":
        raise ValueError("Cannot automatically create PG with empty tag")
    made = [_new_group_with_tag(row, pg_tag=tag) for row in rows]
    return made[rows.index(mine[0])]


def _resolve_process_group(group_name):
    for pg in _dtrepl.groups():
        if pg.group_name == group_name:
            return pg
    raise RuntimeError("Could not resolve the process group registered under "
                       "the name " + group_name)


def _get_process_group_name(pg):
    return "None" if pg is None else pg.group_name


class _World:
    """What PyTorch keeps of all process groups."""

    @property
    def default_pg(self):
        return _world_group()

    @property
    def group_count(self):
        return len(_dtrepl.groups())

    @property
    def pg_map(self):
        return {pg: ("gloo", None) for pg in _dtrepl.groups()}

    @property
    def pg_names(self):
        return {pg: pg.group_name for pg in _dtrepl.groups()}

    @property
    def pg_group_ranks(self):
        return {pg: {rank: at for at, rank in enumerate(
            get_process_group_ranks(pg))} for pg in _dtrepl.groups()}


_world = _World()


def new_subgroups_by_enumeration(ranks_per_subgroup_list, timeout=None,
                                 backend=None, pg_options=None,
                                 group_desc=None):
    """This rank's group of those listed, and all of them."""
    if ranks_per_subgroup_list is None or len(ranks_per_subgroup_list) == 0:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    owner, groups, mine = {}, [], None
    for ranks in ranks_per_subgroup_list:
        group = new_group(ranks)
        groups.append(group)
        for rank in ranks:
            if rank in owner:
                raise ValueError(f"Rank {rank} has appeared in both subgroup "
                                 f"{owner[rank]} and {ranks}")
            owner[rank] = ranks
            if rank == get_rank():
                mine = group
    return mine, groups


def new_subgroups(group_size=None, group=None, timeout=None, backend=None,
                  pg_options=None, group_desc=None):
    """Groups of `group_size` neighbours: this rank's, and all of them."""
    if group_size is None:
        raise ValueError("Default group size only takes effect when CUDA is "
                         "available. If your subgroup using a backend that "
                         "does not depend on CUDA, please pass in 'group_size'"
                         " correctly.")
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be "
                         "positive")
    world = get_world_size(group)
    if world < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed "
                         f"the world size ({world})")
    if world % group_size != 0:
        raise ValueError(f"The world size ({world}) must be divisible by "
                         f"'{group_size}'")
    ranks = get_process_group_ranks(group)
    return new_subgroups_by_enumeration(
        [ranks[at:at + group_size] for at in range(0, world, group_size)])


def split_group(parent_pg=None, split_ranks=None, timeout=None,
                pg_options=None, group_desc=None):
    """A group of each list of the parent's ranks: this rank's, if any."""
    from torch.distributed import GroupMember
    if split_ranks is None or len(split_ranks) == 0:
        raise ValueError("split_ranks cannot be None or empty")
    above = get_process_group_ranks(parent_pg)
    seen, mine = set(), GroupMember.NON_GROUP_MEMBER
    for ranks in split_ranks:
        if len(ranks) == 0:
            raise ValueError("the split group cannot be empty")
        if len(ranks) > len(above):
            raise ValueError("the split group's size should be less or equal "
                             "to the world_size set by init_process_group")
        if len(ranks) != len(set(ranks)):
            raise ValueError("the split group cannot have duplicate ranks")
        if seen & set(ranks):
            raise _absent.error("split_group() with a rank in two groups "
                                "is not part of dtrepl")
        seen |= set(ranks)
        group = new_group([above[rank] for rank in sorted(ranks)])
        if get_rank() in [above[rank] for rank in ranks]:
            mine = group
    return mine


def get_backend_config(group=None):
    return "cpu:gloo,cuda:gloo"


def all_reduce_coalesced(tensors, op=None, group=None, async_op=False):
    from torch.distributed import ReduceOp, all_reduce
    op = ReduceOp.SUM if op is None else op
    works = [all_reduce(t, op=op, group=group, async_op=True)
             for t in (tensors if isinstance(tensors, list) else [tensors])]
    if async_op:
        return works[-1]
    for work in works:
        work.wait()


class DistError(RuntimeError):
    """What a backend fails with; a failing group raises other errors here."""
    __module__ = "torch.distributed"


class DistBackendError(DistError):
    __module__ = "torch.distributed"


class DistNetworkError(DistError):
    __module__ = "torch.distributed"


class DistStoreError(DistError):
    __module__ = "torch.distributed"


class QueueEmptyError(DistStoreError):
    __module__ = "torch.distributed"


from torch.distributed._stores import (            # after the errors they raise
    FileStore, HashStore, PrefixStore, Store, TCPStore)
from torch.distributed._stores import get_default_store as _get_default_store
