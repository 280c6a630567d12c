# SPDX-License-Identifier: MIT
"""torch.testing._internal.distributed._tensor.common_dtensor: test classes
and test models of DTensor."""
import _absent
import functools
import itertools
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
import _dtrepl
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import (DTensor, Replicate, Shard,
                                      distribute_tensor)
from torch.distributed.tensor.parallel import (
    ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel,
    parallelize_module)
from torch.testing._internal.common_utils import (
    TestCase, TEST_CUDA, TEST_HPU, TEST_XPU)
from torch.testing._internal.common_distributed import (
    MultiProcessTestCase, MultiThreadedTestCase, MultiProcContinuousTest,
    TEST_SKIPS, run_subtests, skip_if_lt_x_gpu)

DEVICE_COUNT = 0
DEVICE_TYPE = "cpu"
PG_BACKEND = "gloo"
NUM_DEVICES = min(4, _dtrepl.world_size())      # without a GPU


# ---- test models ----

class RMSNormPython(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        norm = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        return norm * self.weight


class MLPModule(nn.Module):
    def __init__(self, device, bias=True):
        super().__init__()
        torch.manual_seed(5)
        self.net1 = nn.Linear(10, 16, bias=bias, device=device)
        self.relu = nn.ReLU()
        self.net2 = nn.Linear(16, 10, bias=bias, device=device)

    def forward(self, x):
        return self.net2(self.relu(self.net1(x)))

    def reset_parameters(self):
        self.net1.reset_parameters()
        self.net2.reset_parameters()


class MLPStacked(nn.Module):
    def __init__(self, device, n_layers=2):
        super().__init__()
        self.layers = nn.ModuleList([MLPModule(device)
                                     for _ in range(n_layers)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@dataclass
class ModelArgs:
    n_layers: int = 2
    vocab_size: int = 8
    max_seq_len: int = 16
    dim: int = 16
    n_heads: int = 4
    dropout_p: float = 0.1
    use_attn_mask: bool = True
    weight_tying: bool = True
    checkpoint_activations: bool = False
    num_experts: int = 0


class Attention(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.n_heads, self.head_dim = args.n_heads, args.dim // args.n_heads
        self.dropout_p, self.use_attn_mask = args.dropout_p, args.use_attn_mask
        self.resid_dropout = nn.Dropout(self.dropout_p)
        for name in ("wq", "wk", "wv", "wo"):   # drawn in this order
            setattr(self, name, nn.Linear(args.dim, args.dim, bias=False))

    def forward(self, x):
        batch, length, _ = x.size()

        def heads(project):
            t = project(x).view(batch, length, self.n_heads, self.head_dim)
            return t.transpose(1, 2)

        out = F.scaled_dot_product_attention(
            heads(self.wq), heads(self.wk), heads(self.wv), None,
            self.dropout_p if self.training else 0, self.use_attn_mask)
        out = out.transpose(1, 2).contiguous().view(batch, length, -1)
        return self.resid_dropout(self.wo(out))


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim, dropout_p):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden_dim)
        self.gelu = nn.GELU()
        self.w2 = nn.Linear(hidden_dim, dim)
        self.resid_dropout = nn.Dropout(dropout_p)

    def forward(self, x):
        return self.resid_dropout(self.w2(self.gelu(self.w1(x))))


class TransformerBlock(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.attention_norm = nn.LayerNorm(args.dim)
        self.attention = Attention(args)
        self.ffn_norm = nn.LayerNorm(args.dim)
        self.feed_forward = FeedForward(args.dim, 4 * args.dim,
                                        args.dropout_p)

    def forward(self, x):
        h = x + self.attention(self.attention_norm(x))
        return h + self.feed_forward(self.ffn_norm(h))


class Transformer(nn.Module):
    """A small language model whose parts have the names of Llama's."""

    def __init__(self, args):
        super().__init__()
        if args.num_experts:
            raise _absent.error("ModelArgs(num_experts=...) is not part "
                                "of dtrepl")
        self.model_args = args
        self.max_seq_len = args.max_seq_len
        self.tok_embeddings = nn.Embedding(args.vocab_size, args.dim)
        self.pos_embeddings = nn.Embedding(args.max_seq_len, args.dim)
        self.dropout = nn.Dropout(args.dropout_p)
        self.layers = nn.ModuleList([TransformerBlock(args)
                                     for _ in range(args.n_layers)])
        self.norm = nn.LayerNorm(args.dim)
        self.output = nn.Linear(args.dim, args.vocab_size, bias=False)
        if args.weight_tying:
            self.output.weight = self.tok_embeddings.weight
        self.checkpoint_activations = args.checkpoint_activations

    def forward(self, tokens):
        _, length = tokens.size()
        assert length <= self.max_seq_len
        h = self.tok_embeddings(tokens)
        pos = torch.arange(0, length, device=tokens.device)
        h = self.dropout(h + self.pos_embeddings(pos))
        for layer in self.layers:
            if self.checkpoint_activations:
                h = torch.utils.checkpoint.checkpoint(layer, h,
                                                      use_reentrant=False)
            else:
                h = layer(h)
        return self.output(self.norm(h)).float()

    @staticmethod
    def layer_plan(use_seq_parallel, local_output):
        plan = {}
        if use_seq_parallel:
            plan["attention"] = PrepareModuleInput(
                input_layouts=Shard(1), desired_input_layouts=Replicate())
            plan["attention_norm"] = SequenceParallel()
            plan["ffn_norm"] = SequenceParallel()
        for name in ("wq", "wk", "wv"):
            plan["attention." + name] = ColwiseParallel(
                use_local_output=local_output)
        for name in ("attention.wo", "feed_forward.w2"):
            plan[name] = RowwiseParallel(output_layouts=Shard(1)) \
                if use_seq_parallel else RowwiseParallel()
        plan["feed_forward.w1"] = ColwiseParallel(input_layouts=Shard(1)) \
            if use_seq_parallel else ColwiseParallel()
        return plan

    @staticmethod
    def parallelize(module, tp_mesh=None, use_seq_parallel=False,
                    local_output_for_attn=False, ep_mesh=None,
                    device_mesh=None):
        if ep_mesh is not None:
            raise _absent.error("Transformer.parallelize(ep_mesh=...) "
                                "is not part of dtrepl")
        mesh = tp_mesh if tp_mesh is not None else device_mesh
        root = {}
        for name, layout in (("tok_embeddings", Shard(1)),
                             ("pos_embeddings", Shard(0))):
            root[name] = RowwiseParallel(
                input_layouts=Replicate(),
                output_layouts=layout if use_seq_parallel else Replicate())
        if use_seq_parallel:
            root["norm"] = SequenceParallel()
        parallelize_module(module, mesh, root)
        for layer in module.layers:
            parallelize_module(layer, mesh, Transformer.layer_plan(
                use_seq_parallel, local_output_for_attn))
        parallelize_module(module.output, mesh, ColwiseParallel(
            input_layouts=Shard(1), output_layouts=Replicate())
            if use_seq_parallel else ColwiseParallel(
                output_layouts=Replicate()))
        if local_output_for_attn:
            for layer in module.layers:
                layer.attention.n_heads = \
                    module.model_args.n_heads // mesh.size()
        if module.model_args.weight_tying:
            module.output.weight = module.tok_embeddings.weight
        return module


# ---- test classes ----

def skip_unless_torch_gpu(method):
    """A test that wants GPUs: skipped."""
    return skip_if_lt_x_gpu(NUM_DEVICES)(method)


def with_comms(eager_init=False, backend=None):
    """A test with a process group of its own."""
    if callable(eager_init):
        return with_comms()(eager_init)

    def decorate(func):
        @functools.wraps(func)
        def wrapper(self, *args, **kwargs):
            self.init_pg(eager_init, backend)
            try:
                func(self, *args, **kwargs)
            except Exception:
                dist.destroy_process_group()
                raise
            self.destroy_pg()
        return wrapper
    return decorate


class _Mixin:
    @property
    def device_type(self):
        return DEVICE_TYPE

    @property
    def is_local_tensor_enabled(self):
        return False

    def build_device_mesh(self):
        return init_device_mesh(self.device_type, (self.world_size,))

    def init_manual_seed_for_rank(self):
        torch.manual_seed(self.rank)

    def run_subtests(self, *args, **kwargs):
        return run_subtests(self, *args, **kwargs)

    def _test_op_on_dtensor(self, op_call, *args, **kwargs):
        """The operator does the same on plain tensors and on DTensors."""
        def full(v):
            return v.full_tensor() if isinstance(v, DTensor) else v

        out = op_call(*args, **kwargs)
        plain = op_call(*[full(a) for a in args],
                        **{k: full(v) for k, v in kwargs.items()})
        self.assertEqual(full(out), plain)

    def _test_op(self, mesh, op_call, *args, **kwargs):
        """The same for every sharding of its tensors."""
        out = op_call(*args, **kwargs)
        converter = DTensorConverter(mesh, args, kwargs)
        for d_args, d_kwargs in converter:
            self.assertTrue(converter.successful())
            d_out = op_call(*d_args, **d_kwargs)
            self.assertEqual(d_out.full_tensor(), out)


class DTensorTestBase(_Mixin, MultiProcessTestCase):
    @property
    def world_size(self):
        return NUM_DEVICES

    @property
    def backend(self):
        return PG_BACKEND

    def init_pg(self, eager_init=False, backend=None):
        dist.init_process_group(backend or self.backend,
                                world_size=self.world_size, rank=self.rank)

    def destroy_pg(self, device_id=None):
        dist.barrier()
        dist.destroy_process_group()

    def setUp(self):
        super().setUp()
        self._spawn_processes()


class DTensorOpTestBase(_Mixin, MultiThreadedTestCase):
    @property
    def world_size(self):
        return NUM_DEVICES

    def setUp(self):
        super().setUp()
        self._spawn_threads()


class DTensorContinuousTestBase(_Mixin, MultiProcContinuousTest):
    @classmethod
    def device_type(cls):
        return DEVICE_TYPE

    @classmethod
    def backend_str(cls):
        return PG_BACKEND


DTensorContinuousTestBase.device_type = DEVICE_TYPE


class DTensorConverter:
    """Arguments with every choice of shardings of their tensors."""

    def __init__(self, mesh, args, kwargs, replicate_only=False):
        self.mesh, self.args, self.kwargs = mesh, args, kwargs
        self.replicate_only, self.hit, self.miss = replicate_only, 0, 0
        self.leaves = list(args) + list(kwargs.values())
        self.flat = []
        for leaf in self.leaves:
            self.flat.extend(leaf if isinstance(leaf, (list, tuple))
                             else [leaf])
        self.choices = itertools.product(*[self.gen_sharding_choices_for_arg(a)
                                           for a in self.flat])

    def successful(self):
        return self.hit > 0 and self.miss == 0

    def is_supported_tensor(self, t):
        return not t.is_sparse

    def gen_sharding_choices_for_arg(self, arg):
        if not isinstance(arg, torch.Tensor):
            return [Replicate()]
        out, size = [Replicate()], self.mesh.size()
        if self.replicate_only or arg.dtype == torch.bool:
            return out
        for dim, n in enumerate(arg.shape):
            if n > 1 and n % size == 0:
                out.append(Shard(dim))
        return out

    def __iter__(self):
        return self

    def __next__(self):
        chosen = list(next(self.choices))
        out = []
        for leaf in self.leaves:
            many = isinstance(leaf, (list, tuple))
            made = [self.to_dist_tensor(one, self.mesh, [chosen.pop(0)])
                    for one in (leaf if many else [leaf])]
            if many:
                made = [type(leaf)(made)]
            out.append(made[0])
        n = len(self.args)
        return tuple(out[:n]), dict(zip(self.kwargs.keys(), out[n:]))

    def to_dist_tensor(self, t, mesh, placements):
        if not isinstance(t, torch.Tensor):
            return t
        if type(t) is DTensor or not self.is_supported_tensor(t):
            self.miss += 1
            return t
        self.hit += 1
        made = distribute_tensor(t.detach(), mesh, placements)
        return made.requires_grad_(t.requires_grad)


def make_full_tensor(dtensor_input):
    return dtensor_input.full_tensor()


def map_local_for_rank(rank, func):
    return func(rank)


def map_local_tensor_for_rank(tensor, rank, func):
    return func(tensor, rank)


def reduce_local_int(val, func):
    return func({_dtrepl.rank(): val})
