# SPDX-License-Identifier: MIT
"""torch.distributed.optim.zero_redundancy_optimizer: each rank has the states
of a part of the parameters, updates these and sends them to the others."""
import _absent
import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join, JoinHook, Joinable, _JoinConfig


def _smallest_first(params, size):
    """The ranks' lists of parameters: the largest go first, each to the rank
    that has the fewest elements."""
    parts, counts = [[] for _ in range(size)], [0] * size
    for param in sorted(params, key=lambda p: p.numel(), reverse=True):
        rank = counts.index(min(counts))
        parts[rank].append(param)
        counts[rank] += param.numel()
    return parts


class _ZeROJoinHook(JoinHook):
    """Ranks without inputs update their part and send it on."""

    def __init__(self, zero):
        self.zero = zero

    def main_hook(self):
        self.zero.step()


class ZeroRedundancyOptimizer(torch.optim.Optimizer, Joinable):
    def __init__(self, params, optimizer_class, process_group=None,
                 parameters_as_bucket_view=False, overlap_with_ddp=False,
                 **defaults):
        if overlap_with_ddp:
            raise _absent.error("ZeroRedundancyOptimizer("
                                "overlap_with_ddp=True) is not part of "
                                "dtrepl")
        self.process_group = process_group if process_group is not None \
            else dist.group.WORLD
        self.world_size = dist.get_world_size(self.process_group)
        self.rank = dist.get_rank(self.process_group)
        self.global_rank = dist.get_rank()
        self._join_config = _JoinConfig()
        self._optim_defaults = defaults
        self._optim_constructor = optimizer_class
        self._all_state_dicts = []
        self._parts_of_groups = []
        super().__init__(params, {})
        own = [self._settings(group, parts[self.rank]) for group, parts in
               zip(self.param_groups, self._parts_of_groups)]
        self.optim = optimizer_class([group for group in own
                                      if group["params"]]
                                     or [{"params": []}], **defaults)
        for name, value in self.optim.defaults.items():
            for group in self.param_groups:
                group.setdefault(name, value)

    def _settings(self, group, params):
        own = {name: value for name, value in group.items()
               if name != "params"}
        own["params"] = params
        return own

    def add_param_group(self, param_group):
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        parts = _smallest_first(group["params"], self.world_size)
        self._parts_of_groups.append(parts)
        if hasattr(self, "optim") and parts[self.rank]:
            self.optim.add_param_group(self._settings(group,
                                                      parts[self.rank]))

    def _pairs_of_groups(self):
        """This optimizer's groups with those of the one that works here."""
        mine = [group for group, parts in zip(self.param_groups,
                                              self._parts_of_groups)
                if parts[self.rank]]
        return zip(mine, self.optim.param_groups)

    def step(self, closure=None, **kwargs):
        Join.notify_join_context(self)
        for group, own in self._pairs_of_groups():
            for name, value in group.items():
                if name != "params":
                    own[name] = value
        if closure is not None:
            loss = self.optim.step(closure=closure, **kwargs)
        else:
            loss = self.optim.step(**kwargs)
        self._send_parameters()
        return loss

    def _send_parameters(self):
        ranks = dist.get_process_group_ranks(self.process_group)
        for parts in self._parts_of_groups:
            for rank, params in enumerate(parts):
                for param in params:
                    dist.broadcast(param.data, src=ranks[rank],
                                   group=self.process_group)

    def join_hook(self, **kwargs):
        return _ZeROJoinHook(self)

    @property
    def join_device(self):
        return torch.device("cpu")

    @property
    def join_process_group(self):
        return self.process_group

    # ---- the states of all ranks as one dict ----

    def _params_of(self, rank):
        """The parameters that a rank updates, as its optimizer counts them."""
        return [param for parts in self._parts_of_groups
                for param in parts[rank]]

    def _params(self):
        return [param for group in self.param_groups
                for param in group["params"]]

    def consolidate_state_dict(self, to=0):
        self._all_state_dicts = []
        for rank in range(self.world_size):
            part = [self.optim.state_dict() if rank == self.rank else None]
            if rank != to:
                dist.broadcast_object_list(
                    part, group=self.process_group, src=dist.get_global_rank(
                        self.process_group, rank))
            if self.rank == to:
                self._all_state_dicts.append(part[0])

    def state_dict(self):
        if not self._all_state_dicts:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. "
                f"Please call `consolidate_state_dict(to={self.rank})` on all "
                "ranks beforehand if you meant to save the global state.")
        for group, own in self._pairs_of_groups():
            group.update({name: value for name, value in own.items()
                          if name != "params"})
        whole = super().state_dict()
        index_of = {id(param): i for i, param in enumerate(self._params())}
        for rank, part in enumerate(self._all_state_dicts):
            params = self._params_of(rank)
            for i, value in part["state"].items():
                whole["state"][index_of[id(params[i])]] = value
        whole["state"] = dict(sorted(whole["state"].items()))
        return whole

    def load_state_dict(self, state_dict):
        """Of a dict of all ranks' states: those of the own parameters."""
        whole = dict(state_dict["state"])
        super().load_state_dict({**state_dict, "state": {}})
        mine = {id(param): i for i, param in
                enumerate(self._params_of(self.rank))}
        part = self.optim.state_dict()
        part["state"] = {
            mine[id(param)]: whole[i] for i, param in enumerate(self._params())
            if id(param) in mine and i in whole}
        self.optim.load_state_dict(part)
        for group, own in self._pairs_of_groups():
            own.update({name: value for name, value in group.items()
                        if name != "params"})
