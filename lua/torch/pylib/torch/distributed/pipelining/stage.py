# SPDX-License-Identifier: MIT
"""A part of a pipeline: what it computes of a microbatch, and what it sends.

Ranks tell each other once what the tensors between two stages look like; then a
message is known by its tag: the stage that gets it, the microbatch, the way it
goes.
"""
import _absent
import _dtrepl
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

FORWARD, BACKWARD = 0, 1


def _as_tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


_latest = []                            # the stage that was made last, if any
_staged = set()                         # the parameters of all stages, by id


def _look_at_layers(stage):
    """Are they those right behind the layers of this rank's stage before, although
    stages of other ranks lie between?"""
    before, _latest[:] = list(_latest), [stage]
    _staged.update(id(p) for p in stage.submod.parameters())
    if not before or stage.stage_index < before[0].stage_index + 2:
        return
    a, b = (list(s.submod.parameters()) for s in (before[0], stage))
    if a and [p.shape for p in a] == [p.shape for p in b]:
        between = stage.stage_index - before[0].stage_index - 1
        _dtrepl.stage_layers(a[-1], b[0], before[0].stage_index, stage.stage_index,
                             len(_staged) + between * len(a))


class PipelineStage:
    def __init__(self, submodule, stage_index, num_stages, device, input_args=None,
                 output_args=None, output_grads=None, input_grads=None, group=None,
                 dw_builder=None, get_mesh=None):
        if stage_index >= num_stages:
            raise ValueError(f"Stage index {stage_index} is out of range of "
                             f"{num_stages}")
        if dw_builder is not None:
            raise _absent.error("PipelineStage(dw_builder=...) is not part of "
                                "dtrepl")
        self.submod = submodule
        self.stage_index = stage_index
        self.num_stages = num_stages
        self.device = device
        self.group = group
        self.group_rank = dist.get_rank(group)
        self.group_size = dist.get_world_size(group)
        if self.group_size > num_stages:
            raise RuntimeError(f"Pipeline group size {self.group_size} cannot be "
                               f"larger than number of stages {num_stages}")
        self.stage_index_to_group_rank = {i: i % self.group_size
                                          for i in range(num_stages)}
        self.has_backward = False
        self.log_prefix = f"[Stage {stage_index}]"
        self.neighbours = {}            # stages of this rank, by index
        self.inputs_look = None         # [(shape, dtype, requires_grad)]
        self.told = False               # the next stage knows the outputs' looks
        self.clear_runtime_states()
        _dtrepl.stage(stage_index)
        _look_at_layers(self)

    @property
    def is_first(self):
        return self.stage_index == 0

    @property
    def is_last(self):
        return self.stage_index == self.num_stages - 1

    def clear_runtime_states(self):
        self.output_chunks = []
        self.kept = {}                  # by microbatch: outputs and inputs
        self.arrived = {}               # (way, microbatch): from a stage of this rank
        self.sent = []                  # handles, with the tensors they send

    # ---- messages ----

    def _peer(self, stage):
        rank = self.stage_index_to_group_rank[stage]
        return rank if self.group is None else dist.get_global_rank(self.group, rank)

    def _tag(self, receiver, microbatch, way):
        return 1 + (microbatch * self.num_stages + receiver) * 2 + way

    def _send(self, tensors, receiver, microbatch, way):
        near = self.neighbours.get(receiver)
        if near:
            near.arrived[way, microbatch] = [t.detach() for t in tensors]
            return
        for t in tensors:
            t = t.detach().contiguous()
            self.sent.append((dist.isend(t, self._peer(receiver), group=self.group,
                                         tag=self._tag(receiver, microbatch, way)), t))

    def _receive(self, looks, sender, microbatch, way):
        if sender in self.neighbours:
            return self.arrived.pop((way, microbatch))
        out = []
        for shape, dtype, _ in looks:
            t = torch.empty(shape, dtype=dtype)
            dist.recv(t, self._peer(sender), group=self.group,
                      tag=self._tag(self.stage_index, microbatch, way))
            out.append(t)
        return out

    def wait_for_sends(self):
        for handle, _ in self.sent:
            handle.wait()
        self.sent = []

    def _tell_outputs(self, outputs):
        """Once: what the next stage is going to be sent."""
        if self.told:
            return
        for t in outputs:
            if not isinstance(t, torch.Tensor) or isinstance(t, DTensor):
                raise _absent.error(
                    f"{self.log_prefix} a {type(t).__name__} between two stages is "
                    "not part of dtrepl")
        looks = [(tuple(t.shape), t.dtype, t.requires_grad) for t in outputs]
        near = self.neighbours.get(self.stage_index + 1)
        if near:
            near.inputs_look = looks
        else:
            dist.send_object_list([looks], self._peer(self.stage_index + 1),
                                  group=self.group)
        self.told = True

    def _hear_inputs(self):
        if self.inputs_look is None:
            heard = [None]
            dist.recv_object_list(heard, self._peer(self.stage_index - 1),
                                  group=self.group)
            self.inputs_look = heard[0]
        return self.inputs_look

    # ---- computation ----

    def _received_inputs(self, microbatch):
        looks = self._hear_inputs()
        inputs = self._receive(looks, self.stage_index - 1, microbatch, FORWARD)
        if self.has_backward:
            for t, (_, _, wanted) in zip(inputs, looks):
                if wanted:
                    t.requires_grad_(True)
        return tuple(inputs)

    def _without_sync(self):
        """DDP reduces in the last backward alone."""
        if isinstance(self.submod, DistributedDataParallel):
            return self.submod.no_sync()
        return torch.enable_grad() if torch.is_grad_enabled() else torch.no_grad()

    def forward_one_chunk(self, microbatch, args, kwargs, keep_output, last):
        """Run the submodule; send what it gives on."""
        if not self.is_first:
            args = self._received_inputs(microbatch)
        if last:
            output = self.submod(*args, **kwargs)
        else:
            with self._without_sync():
                output = self.submod(*args, **kwargs)
        outputs = _as_tuple(output)
        if not self.is_last:
            self._tell_outputs(outputs)
            self._send(outputs, self.stage_index + 1, microbatch, FORWARD)
        elif keep_output:
            self.output_chunks.append(output)
        if self.has_backward:
            self.kept[microbatch] = outputs, args
        return output

    def _run_backward(self, outputs, grads, last):
        if isinstance(self.submod, FSDPModule):
            self.submod.set_is_last_backward(last)
            self.submod.set_reshard_after_backward(last)
            self.submod.set_requires_gradient_sync(last)
        if last:
            torch.autograd.backward(outputs, grad_tensors=grads)
        else:
            with self._without_sync():
                torch.autograd.backward(outputs, grad_tensors=grads)

    def backward_one_chunk(self, microbatch, loss, last):
        """From the loss, or from the gradients of the next stage."""
        outputs, inputs = self.kept.pop(microbatch)
        if self.is_last:
            self._run_backward([loss], [None], last)
        else:
            wanted = [t for t in outputs if t.requires_grad]
            looks = [(tuple(t.shape), t.dtype, True) for t in wanted]
            grads = self._receive(looks, self.stage_index + 1, microbatch, BACKWARD)
            self._run_backward(wanted, grads, last)
        if not self.is_first:
            given = []
            for t in inputs:
                if t.requires_grad:
                    given.append(torch.zeros_like(t) if t.grad is None else t.grad)
                    t.grad = None
            self._send(given, self.stage_index - 1, microbatch, BACKWARD)
        if self.is_last and not self.is_first:
            self._let_go(outputs)

    def _let_go(self, outputs):
        """What is handed to the caller keeps no graph, unless it is a view."""
        for t in outputs:
            try:
                t.detach_()
            except RuntimeError:
                pass

    def scale_grads(self, factor):
        if factor == 1:
            return
        for p in self.submod.parameters():
            if p.grad is not None:
                p.grad.div_(factor)
