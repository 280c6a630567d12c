# SPDX-License-Identifier: MIT
"""torch.distributed.fsdp._flat_param: the parameters of one wrapped module as
one vector, of which each rank holds a part.

`FlatHandle` lays them one behind the other (in flat order), cuts the vector in
as many equal parts as there are ranks, and gathers it for forward.  A
parameter of the program is one `_Part` of the vector.  With use_orig_params
each keeps a Parameter of its own: what this rank's part holds of it.
"""
import _dtrepl
import torch
import torch.distributed as dist
import torch.nn as nn

ALIGN = 16                      # bytes; where parameters start that stay own


class _Part:
    """One parameter: whose it is, its shape, and where it lies."""

    def __init__(self, owners, name, param, start):
        self.owners, self.path, self.start = owners, name, start
        self.shape, self.numel = param.shape, param.numel()
        self.end = start + self.numel
        self.requires_grad = param.requires_grad


def _predivisor(ranks):
    """What gradients are divided by before they are added up."""
    factor = 1
    while ranks % factor == 0 and ranks / factor > factor:
        factor *= 2
    return float(factor)


class _Gather(torch.autograd.Function):
    """A rank's part to the whole vector; backward, gradients the other way."""

    @staticmethod
    def forward(ctx, handle, mine):
        ctx.handle = handle
        return handle.gather(mine)

    @staticmethod
    def backward(ctx, grad):
        return None, ctx.handle.reduce(grad)


class FlatHandle:
    def __init__(self, module, found, group, across, strategy, precision,
                 own):
        """found: (owners, path, parameter) of each parameter."""
        self.group, self.across = group, across
        self.shards = strategy.name != "NO_SHARD"
        self.size = dist.get_world_size(group) if self.shards else 1
        self.rank = dist.get_rank(group) if self.shards else 0
        self.precision, self.own = precision, own
        self.all_ranks = dist.get_world_size(group) * (
            dist.get_world_size(across) if across is not None else 1)
        self.predivisor = _predivisor(self.all_ranks)
        self.postdivisor = self.all_ranks / self.predivisor
        self.synchronous, self.waiting = True, None
        self.views, self.shown = None, False
        self.holder = module            # of the vector, if it is a Parameter
        self._lay_out(found)
        self._cut([param for _, _, param in found])
        self._register(module)

    # ---- layout ----

    def _lay_out(self, found):
        first = found[0][2]
        self.dtype = first.dtype
        if not first.is_floating_point():
            raise ValueError("Cannot flatten integer dtype tensors")
        for _, _, param in found:
            if param.dtype != self.dtype:
                raise ValueError("Must flatten tensors with uniform dtype but "
                                 f"got {self.dtype} and {param.dtype}")
            if not self.own and param.requires_grad != first.requires_grad:
                raise ValueError("Must flatten tensors with uniform "
                                 "`requires_grad` when "
                                 "`use_orig_params=False`")
        step = max(ALIGN // first.element_size(), 1) if self.own else 1
        self.parts, at = [], 0
        for owners, path, param in found:
            at += -at % step
            self.parts.append(_Part(owners, path, param, at))
            at += param.numel()
        at += -at % dist.get_world_size(self.group)
        self.total, self.chunk = at, at // self.size

    def _filled(self, tensors, dtype):
        whole = torch.zeros(self.total, dtype=dtype)
        for part, t in zip(self.parts, tensors):
            whole[part.start:part.end] = t.detach().reshape(-1)
        return whole

    def _range(self, part):
        """Where this rank's part begins and ends in it, from its start."""
        low = min(max(self.rank * self.chunk, part.start), part.end)
        high = min(max((self.rank + 1) * self.chunk, low), part.end)
        return low, high

    def _mine_of(self, whole):
        at = self.rank * self.chunk
        return whole[at:at + self.chunk]

    def _slice(self, whole, part):
        low, high = self._range(part)
        piece = whole[low:high].clone()
        return piece if self.shards else piece.view(part.shape)

    def _cut(self, params):
        whole = self._filled(params, self.dtype)
        for param in params:
            _dtrepl.source(param)       # an optimizer that has it has it in vain
        if not self.own:
            self.params = [nn.Parameter(self._mine_of(whole).clone(),
                                        self.parts[0].requires_grad)]
            if self.shards:
                _dtrepl.piece(self.params[0])
            if any(len(part.shape) > 1 for part in self.parts):
                _dtrepl.flat(self.params[0])
            return
        # without elements; a rank that holds nothing takes part in backward
        self.anchor = nn.Parameter(torch.empty(0, dtype=self.dtype),
                                   any(p.requires_grad for p in params))
        self.params = []
        for part, param in zip(self.parts, params):
            piece = nn.Parameter(self._slice(whole, part), part.requires_grad)
            if self.shards:
                _dtrepl.piece(piece)
                if len(part.shape) > 1:
                    _dtrepl.flat(piece)
            self.params.append(piece)

    def _register(self, module):
        for part in self.parts:
            for owner, name in part.owners:
                del owner._parameters[name]
        if not self.own:
            module.register_parameter("_flat_param", self.params[0])
            self.outlines = [torch.empty(part.shape, device="meta",
                                         dtype=self.dtype)
                             for part in self.parts]
        self.hide()

    # ---- the whole vector ----

    def _local(self):
        """This rank's part of the vector, out of its Parameters."""
        if not self.own:
            return self.params[0]
        pieces, at = [], self.rank * self.chunk
        end = at + self.chunk
        for part, param in zip(self.parts, self.params):
            low, high = self._range(part)
            if high == low:
                continue
            if low > at:
                pieces.append(torch.zeros(low - at, dtype=self.dtype))
            pieces.append(param.reshape(-1))
            at = high
        if at < end:
            pieces.append(torch.zeros(end - at, dtype=self.dtype))
        return torch.cat(pieces + [self.anchor])

    def gather(self, mine, dtype=None):
        if dtype is None and self.precision is not None:
            dtype = self.precision.param_dtype
        mine = mine.detach().to(dtype or mine.dtype)
        if not self.shards:
            return mine.clone()
        whole = torch.empty(self.total, dtype=mine.dtype)
        dist.all_gather_into_tensor(whole, mine.contiguous(), group=self.group)
        return whole

    def reduce(self, grad):
        """A gradient of the vector: the mean over ranks, this rank's part."""
        if self.shown:
            self.hide()
        if self.waiting is not None:
            grad, self.waiting = grad + self.waiting, None
        if not self.synchronous:
            self.waiting = grad
            return None
        p = self.precision
        low = p is not None and (p.reduce_dtype or p.param_dtype)
        grad = grad.to(low or grad.dtype).contiguous()
        if self.predivisor > 1:
            grad = grad / self.predivisor
        out = grad.clone()
        if self.shards:
            out = torch.empty(self.chunk, dtype=grad.dtype)
            dist.reduce_scatter_tensor(out, grad, group=self.group)
            if self.across is not None:
                dist.all_reduce(out, group=self.across)
        else:
            if self.across is not None and self.all_ranks > 1:
                _dtrepl.alone(next(p for p in self.params if p.requires_grad), self.all_ranks)
            dist.all_reduce(out, group=self.group)
        if self.postdivisor > 1:
            out = out / self.postdivisor
        return out.to(self.dtype)

    # ---- what the modules see ----

    def _pieces(self, whole):
        return [whole[part.start:part.end].view(part.shape)
                for part in self.parts]

    def unshard(self):
        """Before forward: the modules see the whole parameters."""
        mine = self._local()
        whole = _Gather.apply(self, mine)
        self.views = [piece if part.requires_grad else piece.detach()
                      for part, piece in zip(self.parts, self._pieces(whole))]
        self.show(self.views)

    def see_backward(self, tensors):
        """Modules that run again in backward see what forward saw."""
        views = self.views

        def before(grad):
            if not self.shown:
                self.show(views)

        for t in tensors:
            if t.requires_grad and any(v.requires_grad for v in views):
                t.register_hook(before)

    def show(self, tensors):
        shared = []                     # of other owners: behind all others
        for part, t in zip(self.parts, tensors):
            for owner, name in part.owners[:1]:
                self._put(owner, name, t)
            shared += [(owner, name, t) for owner, name in part.owners[1:]]
        for owner, name, t in shared:
            self._put(owner, name, t)
        self.shown = True

    @staticmethod
    def _put(owner, name, t):
        owner._parameters.pop(name, None)
        if not isinstance(t, nn.Parameter):
            object.__setattr__(owner, name, t)
            return
        if hasattr(owner, name):
            delattr(owner, name)
        owner.register_parameter(name, t)

    def hide(self):
        """The modules see what this rank keeps of them: its own slices, or
        tensors that only have the shapes."""
        for i, part in enumerate(self.parts):
            for owner, name in part.owners:
                if self.shown:
                    delattr(owner, name)
                if self.own:
                    owner.register_parameter(name, self.params[i])
                else:
                    object.__setattr__(owner, name, self.outlines[i])
        self.shown = False

    def full_tensors(self, of=None):
        """The whole parameters (or what is laid out like them) as copies."""
        if of is None:
            with torch.no_grad():
                of = self._local()
        whole = self.gather(of, of.dtype)
        return [piece.clone() for piece in self._pieces(whole)]

    def take(self, tensors):
        """New numbers for all parameters."""
        with torch.no_grad():
            whole = self._filled(tensors, self.dtype)
            if not self.own:
                self.params[0].copy_(self._mine_of(whole))
                return
            for part, param in zip(self.parts, self.params):
                param.copy_(self._slice(whole, part))

    def state_of(self, i, value):
        """What an optimizer keeps of self.params[i], laid out like it: for
        each parameter of it (path, the whole value).  Ranks must agree."""
        if not self.own:
            return list(zip(self.parts, self.full_tensors(value)))
        part, mine = self.parts[i], torch.zeros(self.chunk, dtype=value.dtype)
        low, high = self._range(part)
        at = self.rank * self.chunk
        mine[low - at:high - at] = value.reshape(-1)
        whole = self.gather(mine, value.dtype)
        return [(part, whole[part.start:part.end].view(part.shape).clone())]
