# SPDX-License-Identifier: MIT
"""torch.distributed.fsdp.fully_sharded_data_parallel: the wrapper (FSDP1).

Each wrapped module has a FlatHandle (_flat_param.py) of the parameters that no
wrapper below it has.  What is not followed is refused by name.
"""
import contextlib

import _dtrepl
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp._flat_param import FlatHandle
from torch.distributed.fsdp.api import (
    BackwardPrefetch, CPUOffload, FullOptimStateDictConfig,
    FullStateDictConfig, LocalOptimStateDictConfig, LocalStateDictConfig,
    MixedPrecision, OptimStateDictConfig, ShardedOptimStateDictConfig,
    ShardedStateDictConfig, ShardingStrategy, StateDictConfig,
    StateDictSettings, StateDictType)
from torch.distributed.fsdp.wrap import auto_wrap

FSDP_WRAPPED_MODULE = "_fsdp_wrapped_module"
FSDP_PREFIX = FSDP_WRAPPED_MODULE + "."
FLAT_PARAM = "_flat_param"

_HYBRID = (ShardingStrategy.HYBRID_SHARD, ShardingStrategy._HYBRID_SHARD_ZERO2)


def _refuse(what):
    raise NotImplementedError(f"FullyShardedDataParallel: {what} is not part "
                              "of dtrepl")


def clean_tensor_name(name):
    name = name.replace(FSDP_PREFIX, "")
    return name.replace("_checkpoint_wrapped_module.", "")


def _floats_to(value, dtype):
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    if isinstance(value, dict):
        return {k: _floats_to(v, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_floats_to(v, dtype) for v in value])
    return value


def _tensors_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return []
    return [t for v in value for t in _tensors_of(v)]


def _groups(process_group, strategy, device_mesh):
    """The group that shards, and the one across whose ranks hold copies."""
    if process_group is not None and device_mesh is not None:
        raise ValueError("Cannot pass both process_group and device_mesh at "
                         "the same time. Please just pass only one of them.")
    if device_mesh is not None:
        if strategy not in _HYBRID:     # over the first dimension alone
            return device_mesh.get_group(0), None
        if device_mesh.ndim != 2:
            raise ValueError("Expected device_mesh to have ndim=2 but got "
                             f"{device_mesh.ndim}")
        return device_mesh.get_group(1), device_mesh.get_group(0)
    if strategy in _HYBRID:
        if process_group is None:
            _refuse(f"{strategy} without process_group=(shard, replicate) or "
                    "device_mesh=")
        if not isinstance(process_group, tuple):
            raise ValueError(
                "Expected process_group to be passed in as either None or "
                "Tuple[dist.ProcessGroup, dist.ProcessGroup] but got "
                f"{type(process_group)}")
        return process_group
    if process_group is None:
        process_group = dist.group.WORLD
    return process_group, None


class FullyShardedDataParallel(nn.Module):
    __module__ = "torch.distributed.fsdp.fully_sharded_data_parallel"

    def __init__(self, module, process_group=None, sharding_strategy=None,
                 cpu_offload=None, auto_wrap_policy=None,
                 backward_prefetch=BackwardPrefetch.BACKWARD_PRE,
                 mixed_precision=None, ignored_modules=None,
                 param_init_fn=None, device_id=None, sync_module_states=False,
                 forward_prefetch=False, limit_all_gathers=True,
                 use_orig_params=False, ignored_states=None,
                 device_mesh=None):
        super().__init__()
        strategy = sharding_strategy or ShardingStrategy.FULL_SHARD
        if mixed_precision is not None \
                and mixed_precision.keep_low_precision_grads:
            _refuse("keep_low_precision_grads=True")
        self.mixed_precision = mixed_precision
        self.process_group, across = _groups(process_group, strategy,
                                             device_mesh)
        self.rank = dist.get_rank(self.process_group)
        self.world_size = dist.get_world_size(self.process_group)
        given = strategy
        if self.world_size == 1 and given is not ShardingStrategy.NO_SHARD:
            # The trap, PyTorch's: gradients are still divided by the number
            # of copies, and not added up over them.
            strategy = ShardingStrategy.NO_SHARD
        self.sharding_strategy = strategy
        self._use_orig_params = use_orig_params
        self._is_root = None
        self._settings = StateDictSettings(
            StateDictType.FULL_STATE_DICT, FullStateDictConfig(),
            FullOptimStateDictConfig())
        self._full = False              # in summon_full_params
        skip, ignored = self._ignored(ignored_modules, ignored_states)
        if auto_wrap_policy is not None:
            told = dict(
                process_group=process_group, sharding_strategy=given,
                cpu_offload=cpu_offload, backward_prefetch=backward_prefetch,
                mixed_precision=mixed_precision, param_init_fn=param_init_fn,
                device_id=device_id, sync_module_states=sync_module_states,
                use_orig_params=use_orig_params, device_mesh=device_mesh,
                ignored_states=ignored_states, ignored_modules=ignored_modules)
            auto_wrap(module, auto_wrap_policy,
                      lambda m, more: type(self)(m, **{**told, **more}),
                      skip, ignored)
        found = self._find(module, skip, ignored)
        if any(param.is_meta for _, _, param in found):
            _refuse("parameters on the meta device")
        if strategy is not given:
            import warnings     # its filters begin when it is imported
            warnings.warn(f"FSDP is switching to use `NO_SHARD` instead of "
                          f"{given} since the world size is 1.", stacklevel=2)
        elif given is ShardingStrategy.NO_SHARD:
            import warnings
            warnings.warn("The `NO_SHARD` sharding strategy is deprecated. If "
                          "having issues, please use "
                          "`DistributedDataParallel` instead.", FutureWarning,
                          stacklevel=2)
        if sync_module_states:
            self._send_states(module, found)
        self._buffers_to(module)
        self._handle = None
        if found:
            self._handle = FlatHandle(module, found, self.process_group,
                                      across, strategy, mixed_precision,
                                      use_orig_params)
        self._fsdp_wrapped_module = module
        self.register_state_dict_pre_hook(_before_state_dict)
        self.register_state_dict_post_hook(_after_state_dict)

    # ---- what is wrapped ----

    @staticmethod
    def _ignored(modules, states):
        modules, states = list(modules or ()), list(states or ())
        modules += [s for s in states if isinstance(s, nn.Module)]
        params = {s for s in states if not isinstance(s, nn.Module)}
        below = {m for module in modules for m in module.modules()}
        for module in modules:
            params |= set(module.parameters())
        return below, params

    @staticmethod
    def _find(module, skip, ignored):
        """(owners, path, parameter) of those that no wrapper below has."""
        found, places = [], {}

        def walk(m, prefix):
            if isinstance(m, FullyShardedDataParallel) or m in skip:
                return
            for name, param in list(m._parameters.items()):
                if param is None or param in ignored:
                    continue
                if param in places:
                    places[param].append((m, name))
                    continue
                places[param] = [(m, name)]
                found.append((places[param], prefix + name, param))
            for name, child in m.named_children():
                walk(child, prefix + name + ".")

        walk(module, "")
        return found

    def _send_states(self, module, found):
        first = dist.get_global_rank(self.process_group, 0)
        with torch.no_grad():
            for _, _, param in found:
                dist.broadcast(param.data, first, group=self.process_group)
            for buffer in module.buffers():
                dist.broadcast(buffer, first, group=self.process_group)

    def _buffers_to(self, module):
        dtype = self.mixed_precision and self.mixed_precision.buffer_dtype
        self._buffer_dtypes = {}        # by path: what state dicts have
        for path, buffer in list(module.named_buffers()) if dtype else ():
            if buffer.is_floating_point():
                self._buffer_dtypes[clean_tensor_name(path)] = buffer.dtype
                owner, _, name = path.rpartition(".")
                module.get_submodule(owner)._buffers[name] = buffer.to(dtype)

    @property
    def module(self):
        return self._fsdp_wrapped_module

    @property
    def _has_params(self):
        return self._handle is not None

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._fsdp_wrapped_module, name)

    def __getitem__(self, key):
        return self._fsdp_wrapped_module[key]

    @staticmethod
    def fsdp_modules(module, root_only=False):
        found = [m for m in module.modules()
                 if isinstance(m, FullyShardedDataParallel)]
        if not root_only:
            return found
        below = {m for f in found for m in f.modules() if m is not f}
        return [f for f in found if f not in below]

    def _units(self):
        return self.fsdp_modules(self)

    def check_is_root(self):
        self._find_root()
        return self._is_root

    def _find_root(self):
        if self._is_root is None:
            for unit in self._units():
                unit._is_root = unit is self

    def apply(self, fn):
        with self.summon_full_params(self):
            return super().apply(fn)

    def named_parameters(self, *args, **kwargs):
        for name, param in super().named_parameters(*args, **kwargs):
            yield clean_tensor_name(name) if self._full else name, param

    # ---- forward and backward ----

    def forward(self, *args, **kwargs):
        self._find_root()
        p = self.mixed_precision
        if p is not None and p.param_dtype and (
                p.cast_root_forward_inputs if self._is_root
                else p.cast_forward_inputs):
            args = _floats_to(args, p.param_dtype)
            kwargs = _floats_to(kwargs, p.param_dtype)
        handle = self._handle
        if handle is None or self._full:
            return self._fsdp_wrapped_module(*args, **kwargs)
        handle.unshard()
        try:
            out = self._fsdp_wrapped_module(*args, **kwargs)
        finally:
            handle.hide()
        handle.see_backward(_tensors_of(out))
        return out

    @contextlib.contextmanager
    def no_sync(self):
        units = self._units()
        for unit in units:
            if unit._handle is not None:
                unit._handle.synchronous = False
        try:
            yield
        finally:
            for unit in units:
                if unit._handle is not None:
                    unit._handle.synchronous = True

    @torch.no_grad()
    def clip_grad_norm_(self, max_norm, norm_type=2.0):
        self._find_root()
        if not self._is_root:
            raise RuntimeError("`clip_grad_norm_()` should only be called on "
                               "the root FSDP instance")
        max_norm, norm_type = float(max_norm), float(norm_type)
        sharded, whole, seen = [], [], set()
        for unit in self._units():
            handle = unit._handle
            for param in handle.params if handle is not None else ():
                seen.add(param)
                if param.grad is not None:
                    (sharded if handle.shards else whole).append(param.grad)
        whole += [p.grad for p in self.parameters()
                  if p not in seen and p.grad is not None]
        total = self._norm(sharded, whole, norm_type)
        factor = torch.clamp(max_norm / (total + 1e-6), max=1.0)
        for grad in sharded + whole:
            grad.mul_(factor.to(grad.dtype))
        return total

    def _norm(self, sharded, whole, p):
        def local(grads):
            if not grads:
                return torch.tensor(0.0)
            return torch.linalg.vector_norm(torch.stack(
                [torch.linalg.vector_norm(g, p, dtype=torch.float32)
                 for g in grads if g.numel()] or [torch.tensor(0.0)]), p)

        ours, theirs = local(sharded), local(whole)
        if any(unit._handle is not None and unit._handle.shards
               for unit in self._units()):
            if p == float("inf"):
                dist.all_reduce(ours, op=dist.ReduceOp.MAX,
                                group=self.process_group)
            else:
                ours = ours ** p
                dist.all_reduce(ours, group=self.process_group)
                ours = ours ** (1.0 / p)
        if p == float("inf"):
            return torch.maximum(ours, theirs)
        return (ours ** p + theirs ** p) ** (1.0 / p) if whole else ours

    # ---- whole parameters ----

    @staticmethod
    @contextlib.contextmanager
    def summon_full_params(module, recurse=True, writeback=True,
                           rank0_only=False, offload_to_cpu=False,
                           with_grads=False):
        if with_grads:
            _refuse("summon_full_params(with_grads=True)")
        if rank0_only and writeback:
            raise NotImplementedError(
                "`writeback=True` and `rank0_only=True` is not supported: "
                "replicating updates to all ranks is not implemented")
        units = FullyShardedDataParallel.fsdp_modules(module)
        if not recurse:
            units = [unit for unit in units if unit is module]
        shown = []
        for unit in units:
            if unit._handle is not None:
                full = [nn.Parameter(t, part.requires_grad) for t, part in
                        zip(unit._handle.full_tensors(), unit._handle.parts)]
                if not writeback and not rank0_only:
                    for t in full:
                        _dtrepl.shows(t, unit._handle.params[0])
                if not rank0_only or unit.rank == 0:
                    if not unit._handle.own:
                        del unit._handle.holder._parameters[FLAT_PARAM]
                    unit._handle.show(full)
                    shown.append((unit, full))
            unit._full = True
        try:
            yield
        finally:
            for unit in units:
                unit._full = False
            for unit, full in shown:
                unit._handle.hide()
                if not unit._handle.own:
                    unit._handle.holder.register_parameter(
                        FLAT_PARAM, unit._handle.params[0])
                if writeback:
                    unit._handle.take(full)
                elif not rank0_only:
                    for t in full:
                        _dtrepl.shows(t)

    # ---- state dicts ----

    @staticmethod
    def set_state_dict_type(module, state_dict_type, state_dict_config=None,
                            optim_state_dict_config=None):
        if state_dict_type is not StateDictType.FULL_STATE_DICT:
            _refuse(f"{state_dict_type}")
        new = StateDictSettings(
            state_dict_type, state_dict_config or FullStateDictConfig(),
            optim_state_dict_config or FullOptimStateDictConfig())
        old = None
        for unit in FullyShardedDataParallel.fsdp_modules(module):
            old, unit._settings = old or unit._settings, new
        return old

    @staticmethod
    def get_state_dict_type(module):
        return FullyShardedDataParallel.fsdp_modules(module)[0]._settings

    @staticmethod
    @contextlib.contextmanager
    def state_dict_type(module, state_dict_type, state_dict_config=None,
                        optim_state_dict_config=None):
        cls = FullyShardedDataParallel
        old = cls.set_state_dict_type(module, state_dict_type,
                                      state_dict_config,
                                      optim_state_dict_config)
        try:
            yield
        finally:
            cls.set_state_dict_type(module, old.state_dict_type,
                                    old.state_dict_config,
                                    old.optim_state_dict_config)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        with self.summon_full_params(self):
            names = {clean_tensor_name(name): name for name in
                     self._names_of_states()}
            state = {names.get(name, name): value
                     for name, value in state_dict.items()}
            return super().load_state_dict(state, strict)

    def _names_of_states(self):
        yield from (name for name, _ in super().named_parameters(
            remove_duplicate=False))
        yield from (name for name, _ in super().named_buffers(
            remove_duplicate=False))

    @staticmethod
    def optim_state_dict(model, optim, optim_state_dict=None, group=None):
        """The state by the parameters' paths, whole, on every rank (on the
        first alone when the settings say so)."""
        given = optim_state_dict or optim.state_dict()
        of_param, by_path = {}, {}
        for prefix, unit in model.named_modules():
            if isinstance(unit, FullyShardedDataParallel) and unit._has_params:
                prefix = clean_tensor_name(prefix + ".")
                for i, param in enumerate(unit._handle.params):
                    of_param[param] = (prefix if prefix != "." else "", unit,
                                       i)
        numbers = {}
        for group_ in optim.param_groups:
            for param in group_["params"]:
                numbers[len(numbers)] = param
        paths = {}
        for number, param in numbers.items():
            if param not in of_param:
                _refuse("optim_state_dict of a parameter that no wrapper has")
            prefix, unit, i = of_param[param]
            parts = unit._handle.parts if not unit._handle.own \
                else [unit._handle.parts[i]]
            paths[number] = [prefix + clean_tensor_name(part.path)
                             for part in parts]
            for path in paths[number]:
                by_path[path] = {}
            _gather_state(unit._handle, i, given["state"].get(number, {}),
                          param, prefix, by_path)
        groups = []
        for one in given["param_groups"]:
            groups.append({**one, "params": [path for number in one["params"]
                                             for path in paths[number]]})
        config = FullyShardedDataParallel.get_state_dict_type(
            model).optim_state_dict_config
        if getattr(config, "rank0_only", False) and dist.get_rank() != 0:
            return {}
        order = sorted(by_path) if any(
            unit._use_orig_params for _, unit, _ in of_param.values()) \
            else list(by_path)
        return {"state": {path: by_path[path] for path in order
                          if by_path[path]}, "param_groups": groups}

    @staticmethod
    def optim_state_dict_to_load(*args, **kwargs):
        _refuse("optim_state_dict_to_load")

    @staticmethod
    def full_optim_state_dict(*args, **kwargs):
        _refuse("full_optim_state_dict")

    @staticmethod
    def shard_full_optim_state_dict(*args, **kwargs):
        _refuse("shard_full_optim_state_dict")

    def register_comm_hook(self, state, hook):
        _refuse("register_comm_hook")


def _gather_state(handle, i, state, param, prefix, by_path):
    """One parameter's state of an optimizer into by_path, whole."""
    if handle.own:                      # ranks with nothing of it have none
        names = [None] * dist.get_world_size(handle.group)
        dist.all_gather_object(names, {
            name: value if value.numel() == 1 and value.shape != param.shape
            else value.dtype for name, value in state.items()}, handle.group)
        known = {}
        for one in names:
            known.update(one)
    else:
        known = {name: state[name] for name in sorted(state)}
    for name, value in known.items():
        mine = state.get(name)
        if mine is None and not isinstance(value, torch.Tensor):
            mine = torch.zeros(param.shape, dtype=value)
        if mine is not None and mine.shape == param.shape:
            for part, whole in handle.state_of(i, mine):
                by_path[prefix + clean_tensor_name(part.path)][name] = whole
        else:
            for part in ([handle.parts[i]] if handle.own else handle.parts):
                by_path[prefix + clean_tensor_name(part.path)][name] = value


def _before_state_dict(unit, prefix, keep_vars):
    if unit._full or unit._handle is None:
        return
    unit._state_context = unit.summon_full_params(unit, recurse=False,
                                                  writeback=False)
    unit._state_context.__enter__()


def _after_state_dict(unit, state_dict, prefix, local_metadata):
    if "_state_context" in unit.__dict__ and unit._state_context is not None:
        context, unit._state_context = unit._state_context, None
        context.__exit__(None, None, None)
    config = unit._settings.state_dict_config
    gone = getattr(config, "rank0_only", False) and dist.get_rank() != 0 \
        and unit.sharding_strategy is not ShardingStrategy.NO_SHARD
    for key in list(state_dict):
        if not key.startswith(prefix):
            continue
        value, path = state_dict.pop(key), clean_tensor_name(key[len(prefix):])
        if path in unit._buffer_dtypes:
            value = value.to(unit._buffer_dtypes[path])
        if not gone:
            state_dict[prefix + path] = value
