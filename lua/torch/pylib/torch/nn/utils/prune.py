# SPDX-License-Identifier: MIT
"""torch.nn.utils.prune: weights with a mask.

What is pruned is a parameter NAME_orig and a buffer NAME_mask; before each
forward NAME is their product.  Pruned again, the masks of all steps count.
"""
import numbers
from collections.abc import Iterable

import torch
from torch.nn.utils import parameters_to_vector


def _check_amount(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or "
                        "float.")
    if (isinstance(amount, numbers.Integral) and amount < 0) or (
            not isinstance(amount, numbers.Integral)
            and (float(amount) > 1.0 or float(amount) < 0.0)):
        raise ValueError(f"amount={amount} should either be a float in the "
                         "range [0, 1] or a non-negative integer")


def _count(amount, size):
    """How many of `size` to prune."""
    if isinstance(amount, numbers.Integral):
        if amount > size:
            raise ValueError(f"amount={amount} should be smaller than the "
                             f"number of parameters to prune={size}")
        return amount
    return round(amount * size)


def _check_structured(t):
    if len(t.shape) <= 1:
        raise ValueError("Structured pruning can only be applied to "
                         "multidimensional tensors. Found tensor of shape "
                         f"{t.shape} with {len(t.shape)} dims")


def _check_dim(t, dim):
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _norms(t, n, dim):
    """The norm of each channel of `dim`."""
    dims = [d for d in range(t.dim()) if d != dim % t.dim()]
    return torch.norm(t, p=n, dim=dims)


class BasePruningMethod:
    _tensor_name = None
    PRUNING_TYPE = None

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t, default_mask):
        raise NotImplementedError

    def apply_mask(self, module):
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, self._tensor_name + "_mask")
        orig = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=orig.dtype) * orig

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        found = _hook_of(module, name)
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if found is not None:
            key, old = found
            del module._forward_pre_hooks[key]
            container = old if isinstance(old, PruningContainer) \
                else PruningContainer(old)
            container.add_pruning_method(method)
            method = container
        orig = getattr(module, name)
        scores = orig if importance_scores is None else importance_scores
        if scores.shape != orig.shape:
            raise AssertionError("importance_scores should have the same shape "
                                 f"as parameter {name} of {module}")
        if found is None:
            module.register_parameter(name + "_orig", orig)
            del module._parameters[name]
            start = torch.ones_like(orig)
        else:
            start = getattr(module, name + "_mask").detach().clone()
        try:
            mask = method.compute_mask(scores, default_mask=start)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception as e:
            if found is None:
                orig = getattr(module, name + "_orig")
                module.register_parameter(name, orig)
                del module._parameters[name + "_orig"]
            raise e
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        scores = t if importance_scores is None else importance_scores
        start = torch.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=start)

    def remove(self, module):
        name = self._tensor_name
        weight = self.apply_mask(module)
        delattr(module, name)
        orig = module._parameters[name + "_orig"]
        orig.data = weight.data
        del module._parameters[name + "_orig"]
        del module._buffers[name + "_mask"]
        setattr(module, name, orig)


class PruningContainer(BasePruningMethod):
    """Several steps of pruning of one parameter."""

    def __init__(self, *args):
        self._pruning_methods = ()
        for method in args:
            if self._tensor_name is None:
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod "
                            "subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found "
                f"'{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":       # what is left of it
            at = mask == 1
        elif method.PRUNING_TYPE == "structured":
            n = t.dim()
            dim = method.dim % n
            kept = mask.sum(dim=[d for d in range(n) if d != dim]) != 0
            at = [slice(None)] * n
            at[dim] = kept
            at = tuple(at)
        elif method.PRUNING_TYPE == "global":
            at = (slice(None),) * t.dim()
        else:
            raise ValueError("Unrecognized PRUNING_TYPE "
                             f"{method.PRUNING_TYPE}")
        partial = method.compute_mask(t[at], default_mask=mask[at])
        out = mask.clone()
        out[at] = partial.to(dtype=out.dtype)
        return out


class Identity(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask


class _Unstructured(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        count = _count(self.amount, t.nelement())
        mask = default_mask.clone()
        if count != 0:
            mask.view(-1)[self._chosen(t, count)] = 0
        return mask


class RandomUnstructured(_Unstructured):
    def _chosen(self, t, count):
        return torch.topk(torch.rand_like(t).view(-1), k=count).indices


class L1Unstructured(_Unstructured):
    def _chosen(self, t, count):
        return torch.topk(torch.abs(t).view(-1), k=count,
                          largest=False).indices


class _Structured(BasePruningMethod):
    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t, default_mask):
        _check_structured(t)
        _check_dim(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if count == 0:
            return default_mask
        mask, at = torch.zeros_like(t), [slice(None)] * t.dim()
        at[self.dim] = self._kept(t, count, size)
        mask[tuple(at)] = 1
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_Structured):
    def _kept(self, t, count, size):
        chance = torch.rand(size)
        return chance > torch.kthvalue(chance, k=count).values


class LnStructured(_Structured):
    def __init__(self, amount, n, dim=-1):
        super().__init__(amount, dim)
        self.n = n

    def _kept(self, t, count, size):
        return torch.topk(_norms(t, self.n, self.dim), k=size - count,
                          largest=True).indices


class CustomFromMask(BasePruningMethod):
    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must "
                                 f"match self.mask shape {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module, name):
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    L1Unstructured.apply(module, name, amount=amount,
                         importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    LnStructured.apply(module, name, amount, n, dim,
                       importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None,
                        **kwargs):
    """Prune (module, name) pairs together: the least of all of them."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores should be of "
                        "type dict")
    all_scores = parameters_to_vector(
        [scores.get((m, n), getattr(m, n)) for m, n in parameters])
    start = parameters_to_vector(
        [getattr(m, n + "_mask", torch.ones_like(getattr(m, n)))
         for m, n in parameters])
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the '
                        f"`pruning_method`. Found method {pruning_method} of "
                        f"type {method.PRUNING_TYPE}")
    container.add_pruning_method(method)
    mask, at = container.compute_mask(all_scores, start), 0
    for module, name in parameters:
        param = getattr(module, name)
        custom_from_mask(module, name,
                         mask=mask[at:at + param.numel()].view_as(param))
        at += param.numel()


def _hook_of(module, name):
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key, hook
    return None


def remove(module, name):
    """The parameter keeps what the mask left of it."""
    found = _hook_of(module, name)
    if found is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be "
                         "pruned before pruning can be removed")
    found[1].remove(module)
    del module._forward_pre_hooks[found[0]]
    return module


def is_pruned(module):
    return any(isinstance(hook, BasePruningMethod)
               for _, m in module.named_modules()
               for hook in m._forward_pre_hooks.values())
