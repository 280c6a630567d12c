# SPDX-License-Identifier: MIT
"""torch.testing._internal.distributed.common_state_dict: what tests of the
checkpoint's state dicts compare them with."""
import copy

import torch
import torch.nn as nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions, set_state_dict)
from torch.distributed.tensor import DTensor

_STATE, _PG = "state", "param_groups"


def _groups_like(wanted, groups):
    """As many groups as are wanted: several of them become one."""
    if len(wanted) == len(groups):
        return groups
    one = copy.deepcopy(groups[0])
    one["params"] = [name for group in groups for name in group["params"]]
    return [one]


def _whole(state):
    """The state with whole tensors in the place of distributed ones."""
    if isinstance(state, DTensor):
        return state.full_tensor()
    if isinstance(state, dict):
        return {key: _whole(value) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return type(state)([_whole(value) for value in state])
    return state


class VerifyStateDictMixin:
    def _compare_tensor(self, orig_tensor, dist_tensor, offload_to_cpu=False):
        dist_tensor = _whole(dist_tensor)
        if offload_to_cpu:
            orig_tensor, dist_tensor = orig_tensor.cpu(), dist_tensor.cpu()
        self.assertTrue(isinstance(dist_tensor, torch.Tensor))
        self.assertTrue(torch.allclose(orig_tensor, dist_tensor))

    def _verify_msd(self, msd, dist_msd, options=StateDictOptions(),
                    offload_to_cpu=False):
        lacking = [fqn for fqn in msd if dist_msd.get(fqn) is None]
        if options.ignore_frozen_params:      # only what is frozen may lack
            trained = [fqn for fqn in lacking if msd[fqn].requires_grad]
            self.assertEqual(trained, [])
            return
        self.assertEqual(lacking, [])
        self.assertEqual(set(msd), set(dist_msd))
        for fqn, value in msd.items():
            if not self._are_alike(value, dist_msd[fqn], offload_to_cpu):
                self.fail(f"{fqn} has mismatched value {value} {dist_msd[fqn]}")

    def _are_alike(self, *pair):
        try:
            self._compare_tensor(*pair)
        except AssertionError:
            return False
        return True

    def _verify_osd(self, model, optim, osd, dist_osd):
        number = {}
        for group in optim.param_groups:
            for p in group["params"]:
                number[p] = len(number)
        names = {number[p]: fqn for fqn, p in model.named_parameters()}
        self.assertEqual(len(osd[_STATE]), len(dist_osd[_STATE]))
        for at, states in osd[_STATE].items():
            others = dist_osd[_STATE].get(names[at])
            self.assertIsNotNone(others, names[at])
            self.assertEqual(len(states), len(others))
            for key, state in states.items():
                self._compare_tensor(state, others[key])
        groups = _groups_like(osd[_PG], dist_osd[_PG])
        self.assertEqual(len(osd[_PG]), len(groups))
        for group, other in zip(osd[_PG], groups):
            self.assertEqual(len(group), len(other))
            for key, value in group.items():
                if key == "params":
                    self.assertEqual(sorted(names[at] for at in value),
                                     sorted(other[key]))
                else:
                    self.assertEqual(value, other[key])

    def _verify_osd_by_load(self, model, optim, new_optim, dist_osd):
        set_state_dict(model, optimizers=new_optim, model_state_dict={},
                       optim_state_dict=_whole(dist_osd))
        self.assertEqual(optim.state_dict(), new_optim.state_dict())


class FusionEmbedding(nn.Module):
    def __init__(self, vocab_size, fusion_vocab_size, embed_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.fusion_embedding = nn.Embedding(fusion_vocab_size, embed_dim)


def _renamed(state, old, new):
    state[new] = state[old]
    del state[old]


class FusionEmbeddingWithHook(FusionEmbedding):
    """Its state dict has the name that the embedding had before it was put
    into this module."""

    def __init__(self, vocab_size, fusion_vocab_size, embed_dim):
        super().__init__(vocab_size, fusion_vocab_size, embed_dim)
        self._register_state_dict_hook(FusionEmbeddingWithHook._state_dict_hook)
        self._register_load_state_dict_pre_hook(
            FusionEmbeddingWithHook._load_state_dict_hook, with_module=True)

    def _state_dict_hook(self, destination, prefix, keep_vars):
        _renamed(destination, prefix + "embedding.weight", prefix + "weight")

    def _load_state_dict_hook(self, state_dict, prefix, *args, **kwargs):
        if state_dict:
            _renamed(state_dict, prefix + "weight",
                     prefix + "embedding.weight")


class FusionEmbeddingWithModifier(FusionEmbeddingWithHook):
    def _fqn_modifiers(self):
        return {"weight": "embedding"}
