# SPDX-License-Identifier: MIT
"""torch.nn.utils.weight_norm and spectral_norm, the older ones: hooks that
make the weight before each forward of parameters beside it."""
import warnings

import torch
import torch.nn.functional as F
from torch.nn.parameter import Parameter
from torch.nn.utils.parametrizations import _norm_except


class WeightNorm:
    def __init__(self, name, dim):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module):
        g = getattr(module, self.name + "_g")
        v = getattr(module, self.name + "_v")
        return v * (g / _norm_except(v, self.dim))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))

    def remove(self, module):
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))


class SpectralNorm:
    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but "
                             f"got n_power_iterations={n_power_iterations}")
        self.name, self.dim, self.eps = name, dim, eps
        self.n_power_iterations = n_power_iterations

    def reshape_weight_to_matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *[
                d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module, do_power_iteration):
        weight = getattr(module, self.name + "_orig")
        u = getattr(module, self.name + "_u")
        v = getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with torch.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(torch.mv(matrix.t(), u), dim=0,
                                        eps=self.eps))
                    u.copy_(F.normalize(torch.mv(matrix, v), dim=0,
                                        eps=self.eps))
                u, v = u.clone(), v.clone()     # the next step changes them
        return weight / torch.dot(u, torch.mv(matrix, v))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(
            module, do_power_iteration=module.training))

    def remove(self, module):
        with torch.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for end in "_u", "_v":
            delattr(module, self.name + end)
        delattr(module, self.name + "_orig")
        module.register_parameter(self.name, Parameter(weight.detach()))


def _check_alone(module, name, kind, title):
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, kind) and hook.name == name:
            raise RuntimeError(f"Cannot register two {title} hooks on the same "
                               f"parameter {name}")


def weight_norm(module, name="weight", dim=0):
    warnings.warn("`torch.nn.utils.weight_norm` is deprecated in favor of "
                  "`torch.nn.utils.parametrizations.weight_norm`.",
                  FutureWarning, stacklevel=2)
    _check_alone(module, name, WeightNorm, "weight_norm")
    fn = WeightNorm(name, dim)
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(
        _norm_except(weight, fn.dim).data))
    module.register_parameter(name + "_v", Parameter(weight.data))
    setattr(module, name, fn.compute_weight(module))
    module.register_forward_pre_hook(fn)
    return module


_OUTPUTS_SECOND = (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d,
                   torch.nn.ConvTranspose3d)


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12,
                  dim=None):
    if dim is None:
        dim = 1 if isinstance(module, _OUTPUTS_SECOND) else 0
    _check_alone(module, name, SpectralNorm, "spectral_norm")
    fn = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError("`SpectralNorm` cannot be applied as parameter "
                         f"`{name}` is None")
    with torch.no_grad():
        h, w = fn.reshape_weight_to_matrix(weight).size()
        u = F.normalize(weight.new_empty(h).normal_(0, 1), dim=0, eps=eps)
        v = F.normalize(weight.new_empty(w).normal_(0, 1), dim=0, eps=eps)
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(fn)
    return module


def _removed(module, name, kind, title):
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"{title} of '{name}' not found in {module}")


def remove_weight_norm(module, name="weight"):
    return _removed(module, name, WeightNorm, "weight_norm")


def remove_spectral_norm(module, name="weight"):
    return _removed(module, name, SpectralNorm, "spectral_norm")


def clip_grad_norm(parameters, max_norm, norm_type=2.0,
                   error_if_nonfinite=False, foreach=None):
    warnings.warn("torch.nn.utils.clip_grad_norm is now deprecated in favor of "
                  "torch.nn.utils.clip_grad_norm_.", FutureWarning,
                  stacklevel=2)
    return torch.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type,
                                          error_if_nonfinite, foreach)
