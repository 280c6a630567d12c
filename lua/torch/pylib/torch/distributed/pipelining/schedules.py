# SPDX-License-Identifier: MIT
"""In which order the stages of a rank go through the microbatches.

A schedule is a list of (what, stage, microbatch) for this rank.  Each stage takes
its microbatches in the order that gradients are added up in.
"""
from abc import ABC

import _absent
import _dtrepl
import torch
from torch.distributed.pipelining.microbatch import (
    TensorChunkSpec, _split_tensor, merge_chunks, split_args_kwargs_into_chunks)

F, B = "F", "B"


class _PipelineSchedule(ABC):
    def __init__(self, stages, n_microbatches, loss_fn, args_chunk_spec,
                 kwargs_chunk_spec, output_merge_spec, scale_grads):
        self._stages = stages
        self._n_microbatches = n_microbatches
        self._loss_fn = loss_fn
        self._args_chunk_spec = args_chunk_spec
        self._kwargs_chunk_spec = kwargs_chunk_spec
        self._output_merge_spec = output_merge_spec
        self.scale_grads = scale_grads
        self._has_backward = loss_fn is not None
        for stage in stages:
            stage.neighbours = {s.stage_index: s for s in stages}

    def _order(self):
        """[(F or B, stage, microbatch)] of this rank, backwards left out where
        there is no loss."""
        raise NotImplementedError

    # ---- a batch as microbatches ----

    def _check_pre_split(self, mbs, name, kind, default):
        if mbs is None:
            return [default] * self._n_microbatches
        if not isinstance(mbs, list):
            raise TypeError(f"{name} must be a list but got a {type(mbs)}")
        if len(mbs) != self._n_microbatches:
            raise ValueError(f"Expecting {self._n_microbatches} {name} but got "
                             f"{len(mbs)}")
        for i, mb in enumerate(mbs):
            if kind and not isinstance(mb, kind):
                raise TypeError(f"{name} must be a list of {kind.__name__}s, but "
                                f"{name}[{i}] is a {type(mb)}")
        return mbs

    def _microbatches(self, args, kwargs, target, arg_mbs, kwarg_mbs, target_mbs):
        split = any(mbs is not None for mbs in (arg_mbs, kwarg_mbs, target_mbs))
        if not split:
            if args or kwargs:
                arg_mbs, kwarg_mbs = split_args_kwargs_into_chunks(
                    args, kwargs, self._n_microbatches, self._args_chunk_spec,
                    self._kwargs_chunk_spec)
            if target is not None:
                target_mbs = list(_split_tensor(target, TensorChunkSpec(0),
                                                self._n_microbatches))
        elif args:
            raise ValueError("When using pre-split inputs, pass pre-split positional "
                             "inputs through arg_mbs=... instead of positional args.")
        elif kwargs:
            raise ValueError("Unexpected keyword arguments with pre-split inputs: "
                             f"{', '.join(sorted(kwargs))}. Pass pre-split keyword "
                             "inputs through kwarg_mbs=...")
        elif target is not None:
            raise ValueError("When using pre-split inputs, pass pre-split targets "
                             "through target_mbs=... instead of target=...")
        return (self._check_pre_split(arg_mbs, "arg_mbs", split and tuple, ()),
                self._check_pre_split(kwarg_mbs, "kwarg_mbs", split and dict, {}),
                self._check_pre_split(target_mbs, "target_mbs", None, None))

    # ---- one step ----

    def step(self, *args, target=None, losses=None, return_outputs=True,
             loss_kwargs=None, arg_mbs=None, kwarg_mbs=None, target_mbs=None,
             finalize_gradients=True, **kwargs):
        """Forward and backward of all microbatches; the merged output of the last
        stage, None elsewhere."""
        if self._has_backward and not torch.is_grad_enabled():
            raise RuntimeError(
                "step() requires gradients to be enabled for backward computation; "
                "it should not be used under torch.no_grad() context. Please call "
                "eval() instead.")
        if not finalize_gradients:
            raise _absent.error("step(finalize_gradients=False) is not part of "
                                "dtrepl")
        for stage in self._stages:
            stage.has_backward = self._has_backward
            stage.clear_runtime_states()
        mbs = self._microbatches(args, kwargs, target, arg_mbs, kwarg_mbs, target_mbs)
        if losses is not None and not isinstance(losses, list):
            raise TypeError(f"losses must be a list but got a {type(losses)}")
        computed = self._run(*mbs, return_outputs, loss_kwargs or {})
        for stage in self._stages:
            if self._has_backward:
                stage.scale_grads(self._n_microbatches if self.scale_grads else 1)
        last = [stage for stage in self._stages if stage.is_last]
        if last and losses is not None:
            if len(computed) != self._n_microbatches:
                raise RuntimeError(f"Expecting {self._n_microbatches} losses but got "
                                   f"{len(computed)}")
            losses.clear()
            losses.extend(computed[i] for i in range(self._n_microbatches))
        if last and return_outputs:
            return merge_chunks(last[0].output_chunks, self._output_merge_spec)

    def _run(self, arg_mbs, kwarg_mbs, target_mbs, keep_outputs, loss_kwargs):
        """By microbatch: the losses that the last stage computed."""
        order = [(what, stage, i) for what, stage, i in self._order()
                 if what == F or self._has_backward]
        last = {(what, stage): i for what, stage, i in order}
        computed = {}
        for what, stage, i in order:
            is_last = last[what, stage] == i
            if what == B:
                stage.backward_one_chunk(i, computed.get(i), is_last)
                continue
            output = stage.forward_one_chunk(i, arg_mbs[i], kwarg_mbs[i],
                                             keep_outputs, is_last)
            if stage.is_last and self._loss_fn is not None:
                computed[i] = self._loss_fn(output, target_mbs[i], **loss_kwargs)
                if self.scale_grads and self._n_microbatches > 1:
                    _dtrepl.piped_sum(computed[i], self._n_microbatches)
        for stage in self._stages:
            stage.wait_for_sends()
        return computed

    def eval(self, *args, **kwargs):
        """Forward alone."""
        has_backward = self._has_backward
        try:
            self._has_backward = False
            return self.step(*args, **kwargs)
        finally:
            self._has_backward = has_backward


class PipelineScheduleSingle(_PipelineSchedule):
    def __init__(self, stage, n_microbatches, loss_fn=None, args_chunk_spec=None,
                 kwargs_chunk_spec=None, output_merge_spec=None, scale_grads=True):
        super().__init__([stage], n_microbatches, loss_fn, args_chunk_spec,
                         kwargs_chunk_spec, output_merge_spec, scale_grads)
        self._stage = stage
        self._num_stages = stage.num_stages


class _ScheduleForwardOnly(PipelineScheduleSingle):
    def _order(self):
        if self._has_backward:
            raise RuntimeError("Forward-only schedule does not support loss "
                               "computation")
        return [(F, self._stage, i) for i in range(self._n_microbatches)]


class ScheduleGPipe(PipelineScheduleSingle):
    def _order(self):
        return [(what, self._stage, i) for what in (F, B)
                for i in range(self._n_microbatches)]


def _one_forward_one_backward(forwards, backwards, warmup):
    """`warmup` forwards, then a pair at a time, then the backwards that are left."""
    order = list(forwards[:warmup])
    for i, forward in enumerate(forwards[warmup:]):
        order += [forward, backwards[i]]
    return order + backwards[len(forwards) - warmup:]


class Schedule1F1B(PipelineScheduleSingle):
    def __init__(self, stage, n_microbatches, *args, **kwargs):
        super().__init__(stage, n_microbatches, *args, **kwargs)
        if n_microbatches < self._num_stages:
            raise ValueError(
                f"Number of microbatches ({n_microbatches}) must be greater than or "
                f"equal to the number of stages ({self._num_stages}).")

    def _order(self):
        n = self._n_microbatches
        warmup = min(n, self._num_stages - self._stage.stage_index - 1)
        return _one_forward_one_backward([(F, self._stage, i) for i in range(n)],
                                         [(B, self._stage, i) for i in range(n)],
                                         warmup)


class PipelineScheduleMulti(_PipelineSchedule):
    def __init__(self, stages, n_microbatches, loss_fn=None, args_chunk_spec=None,
                 kwargs_chunk_spec=None, output_merge_spec=None, scale_grads=True):
        super().__init__(stages, n_microbatches, loss_fn, args_chunk_spec,
                         kwargs_chunk_spec, output_merge_spec, scale_grads)
        self._num_stages = stages[0].num_stages
        self.pp_group_size = stages[0].group_size
        self.rank = stages[0].group_rank
        self.n_local_stages = len(stages)


class ScheduleLoopedBFS(PipelineScheduleMulti):
    def __init__(self, stages, n_microbatches, loss_fn=None, output_merge_spec=None,
                 scale_grads=True):
        super().__init__(stages, n_microbatches, loss_fn,
                         output_merge_spec=output_merge_spec, scale_grads=scale_grads)

    def _order(self):
        n = self._n_microbatches
        return [(F, stage, i) for stage in self._stages for i in range(n)] + [
            (B, stage, i) for stage in reversed(self._stages)
            for i in reversed(range(n))]


class ScheduleInterleaved1F1B(PipelineScheduleMulti):
    _called = "Interleaved 1F1B"
    _warmup_by_rank = 2              # forwards more for each rank behind this one

    def __init__(self, stages, n_microbatches, *args, **kwargs):
        super().__init__(stages, n_microbatches, *args, **kwargs)
        self.number_of_rounds = max(1, n_microbatches // self.pp_group_size)
        self.microbatches_per_round = n_microbatches // self.number_of_rounds
        if n_microbatches % self.number_of_rounds != 0:
            raise ValueError(
                f"{self._called} requires the number of microbatches to be a "
                f"multiple of the number of rounds ({self.number_of_rounds}), but got "
                f"{n_microbatches}.")

    def _order(self):
        each = self.microbatches_per_round
        rounds = [range(r * each, (r + 1) * each)
                  for r in range(self.number_of_rounds)]
        forwards = [(F, stage, i) for part in rounds for stage in self._stages
                    for i in part]
        backwards = [(B, stage, i) for part in rounds
                     for stage in reversed(self._stages) for i in part]
        warmup = ((self.n_local_stages - 1) * each
                  + self._warmup_by_rank * (self.pp_group_size - 1 - self.rank))
        return _one_forward_one_backward(forwards, backwards,
                                         min(warmup, len(forwards)))


class ScheduleInterleavedZeroBubble(ScheduleInterleaved1F1B):
    """The gradients of weights are taken with those of the inputs: when they are
    is seen in no number."""
    _called = "Zero bubble"
    _warmup_by_rank = 1


# None: those that go through the stages in the shape of a V, which are not part
# of dtrepl.
_CLASSES = {"1F1B": Schedule1F1B, "Interleaved1F1B": ScheduleInterleaved1F1B,
            "GPipe": ScheduleGPipe, "LoopedBFS": ScheduleLoopedBFS,
            "InterleavedZeroBubble": ScheduleInterleavedZeroBubble,
            "PipelineScheduleSingle": PipelineScheduleSingle,
            "PipelineScheduleMulti": PipelineScheduleMulti,
            "ZBVZeroBubble": None, "DualPipeV": None}


def get_schedule_class(schedule_name):
    """By its name, in letters of any size."""
    for name, its_class in _CLASSES.items():
        if name.lower() == schedule_name.lower():
            if its_class is None:
                raise _absent.error(f"Schedule{name} is not part of dtrepl")
            return its_class
    raise ValueError(f"Unknown schedule name '{schedule_name}'. The valid options are "
                     f"{list(_CLASSES)}")
