# SPDX-License-Identifier: MIT
"""torch.nn.attention.flex_attention, as PyTorch runs it without compiling: all
scores, changed by score_mod, and those that the mask leaves out at -inf.

score_mod and mask_mod are called once, with indices that broadcast: what they
do element by element is the same so.  One whose result has another shape is
refused.
"""
import inspect
import math

import _absent
import torch

_DEFAULT_SPARSE_BLOCK_SIZE = 128


def _identity(score, batch, head, q_idx, kv_idx):
    return score


def noop_mask(batch, head, q_idx, kv_idx):
    return batch.new_ones(size=(), dtype=torch.bool)


def _joined(mask_mods, start, combine):
    if not all(callable(arg) for arg in mask_mods):
        raise RuntimeError("All inputs should be callable mask_mods: "
                           f"{mask_mods}")

    def mask(b, h, q_idx, kv_idx):
        result = b.new_full((), start, dtype=torch.bool)
        for mod in mask_mods:
            result = combine(result, mod(b, h, q_idx, kv_idx))
        return result

    return mask


def and_masks(*mask_mods):
    return _joined(mask_mods, True, lambda a, b: a & b)


def or_masks(*mask_mods):
    return _joined(mask_mods, False, lambda a, b: a | b)


def _indices(b, h, q_len, kv_len):
    return (torch.arange(b).view(-1, 1, 1, 1), torch.arange(h).view(-1, 1, 1),
            torch.arange(q_len).view(-1, 1), torch.arange(kv_len))


def _whole(value, shape, name):
    value = torch.as_tensor(value)
    try:
        return value.broadcast_to(shape)
    except RuntimeError:
        raise _absent.error(f"a {name} that changes the shape of what it gets "
                            "is not part of dtrepl") from None


def _wanted(mod_fn):
    """How many arguments without a default mod_fn has: 5 make a score_mod, 4 a
    mask_mod.  PyTorch counts a method's self, too."""
    if hasattr(mod_fn, "__code__"):
        n = mod_fn.__code__.co_argcount - len(mod_fn.__defaults__ or ())
    else:
        n = sum(1 for p in inspect.signature(mod_fn).parameters.values()
                if p.default is inspect.Parameter.empty)
    if n not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {n}")
    return n


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device="cuda"):
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    at = _indices(*shape)
    if _wanted(mod_fn) == 5:           # a score_mod
        scores = mod_fn(torch.zeros(shape), *at)
        return torch.where(torch.isneginf(_whole(scores, shape, "score_mod")),
                           False, True)
    return _whole(mod_fn(*at), shape, "mask_mod").contiguous()


def _ordered(blocks):
    """How many blocks of a row count, and the blocks, those first."""
    blocks = blocks.to(torch.int32)
    order = torch.argsort(blocks, dim=-1, descending=True, stable=True)
    return blocks.sum(-1).to(torch.int32), order.to(torch.int32)


class BlockMask:
    """Which blocks of scores are whole, and which in part, left by mask_mod."""

    def __init__(self, partial, full, seq_lengths, block_size, mask_mod):
        self.kv_num_blocks, self.kv_indices = _ordered(partial)
        self.full_kv_num_blocks, self.full_kv_indices = _ordered(full)
        self._any = (partial | full).to(torch.int32)
        self.seq_lengths, self.BLOCK_SIZE = seq_lengths, block_size
        self.mask_mod = mask_mod

    @property
    def shape(self):
        return tuple(self._any.shape[:2]) + self.seq_lengths

    def numel(self):
        return math.prod(self.shape)

    def sparsity(self):
        return 100 * (1 - self._any.sum().item() / self._any.numel())

    def to_dense(self):
        return self._any

    def to(self, device):
        return self


def create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN, device=None,
                      BLOCK_SIZE=_DEFAULT_SPARSE_BLOCK_SIZE, _compile=False):
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN)
    bq, bk = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) \
        else BLOCK_SIZE
    mask = torch.nn.functional.pad(mask.float(),
                                   (0, -KV_LEN % bk, 0, -Q_LEN % bq))
    b, h, q, k = mask.shape
    counts = mask.view(b, h, q // bq, bq, k // bk, bk).sum((3, 5))
    full = counts == bq * bk
    return BlockMask((counts > 0) & ~full, full, (Q_LEN, KV_LEN), (bq, bk),
                     mask_mod)


def _check(query, key, value, block_mask, enable_gqa):
    for name, t in (("query", query), ("key", key), ("value", value)):
        if t.dim() != 4:
            raise NotImplementedError("NYI: query, key, and value must be 4D "
                                      "tensors")
    if query.size(-1) != key.size(-1):
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension "
            f"but got E={query.size(-1)} and E={key.size(-1)}.")
    if not enable_gqa and query.size(1) != key.size(1):
        raise ValueError(
            "Expect query and key/value to have the same number of heads but "
            f"got Hq={query.size(1)} and Hkv={key.size(1)}. Try setting "
            "enable_gqa=True for GQA.")
    if enable_gqa and query.size(1) % key.size(1) != 0:
        raise ValueError(
            "Expect number of query heads to be a multiple of kv heads for GQA "
            f"but got Hq={query.size(1)} and Hkv={key.size(1)}.")
    if query.requires_grad or key.requires_grad or value.requires_grad:
        raise NotImplementedError(
            "FlexAttention does not support backward on CPU. Please set the "
            "input requires_grad to False or use another device.")
    if block_mask is not None:
        q, k = block_mask.seq_lengths
        if query.size(-2) > q or key.size(-2) > k:
            raise RuntimeError(
                "block_mask was created for a smaller length than you're using "
                "it for, you likely need to create a new block mask.")


def flex_attention(query, key, value, score_mod=None, block_mask=None,
                   scale=None, enable_gqa=False, return_lse=False,
                   kernel_options=None, *, return_aux=None):
    _check(query, key, value, block_mask, enable_gqa)
    if return_aux is not None:
        raise _absent.error("flex_attention(return_aux=) is not part of dtrepl")
    groups = query.size(1) // key.size(1)
    if groups > 1:
        key = key.repeat_interleave(groups, dim=1)
        value = value.repeat_interleave(groups, dim=1)
    if scale is None:
        scale = 1.0 / math.sqrt(query.size(-1))
    scores = (query @ key.transpose(-2, -1)).to(torch.float32
                                                if query.dtype != torch.float64
                                                else torch.float64) * scale
    shape = scores.shape
    at = _indices(*shape)
    scores = _whole((score_mod or _identity)(scores, *at), shape, "score_mod")
    if block_mask is not None:
        kept = _whole(block_mask.mask_mod(*at), shape, "mask_mod")
        scores = torch.where(kept, scores, -float("inf"))
    lse = scores.logsumexp(dim=-1)
    none_left = torch.all(scores == -float("inf"), dim=-1, keepdim=True)
    weights = torch.softmax(scores, dim=-1).masked_fill(none_left, 0)
    out = weights.to(query.dtype) @ value
    return (out, lse) if return_lse else out
