# SPDX-License-Identifier: MIT
"""torch.nn.utils.parametrize: a parameter or buffer that functions make anew,
from tensors that are trained in its place, each time the module is asked.

The module gets a class of its own, on which the name is a property; the tensors
it is made from stand in module.parametrizations[name].original (original0,
original1, ... where right_inverse gives several).
"""
import _absent

import copy
from contextlib import contextmanager

import torch
from torch.nn import Module, ModuleDict, ModuleList, Parameter

_cached_blocks = 0
_cache = {}


@contextmanager
def cached():
    """Within it each parametrized tensor is made once."""
    global _cached_blocks
    _cached_blocks += 1
    try:
        yield
    finally:
        _cached_blocks -= 1
        if not _cached_blocks:
            _cache.clear()


def _put(module, name, tensor):
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _replace_data(original, new, name, what):
    if original.dtype != new.dtype:
        raise ValueError(
            f"When `right_inverse` outputs one tensor, it may not change the "
            f"dtype.\noriginal.dtype: {original.dtype}\nright_inverse"
            f"(original).dtype: {new.dtype}")
    original.data = new


class ParametrizationList(ModuleList):
    """The functions of one tensor, first to last, and what they start from."""

    def __init__(self, modules, original, unsafe=False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more "
                             "modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with torch.no_grad():
            new = original
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    continue
                try:
                    new = module.right_inverse(new)
                except NotImplementedError:
                    pass
        single = isinstance(new, torch.Tensor)
        if not single and not isinstance(new, (list, tuple)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors"
                f" (list, tuple...). Got {type(new).__name__}")
        self.is_tensor = single
        self.ntensors = 1 if single else len(new)
        if single:
            _replace_data(original, new, "original", type(original))
            _put(self, "original", original)
        else:
            for i, tensor in enumerate(new):
                if not isinstance(tensor, torch.Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of "
                        "tensors (list, tuple...). Got element "
                        f"{i} of the sequence with type "
                        f"{type(tensor).__name__}.")
                if isinstance(original, Parameter):
                    tensor = Parameter(tensor, original.requires_grad)
                _put(self, f"original{i}", tensor)
        if not unsafe:
            self._check_forward(shape, dtype)

    def _check_forward(self, shape, dtype):
        made = self()
        if not isinstance(made, torch.Tensor):
            raise ValueError("A parametrization must return a tensor. Got "
                             f"{type(made).__name__}.")
        if made.dtype != dtype:
            raise ValueError(
                "Registering a parametrization may not change the dtype of the "
                f"tensor, unless `unsafe` flag is enabled.\nunparametrized "
                f"dtype: {dtype}\nparametrized dtype: {made.dtype}")
        if made.shape != shape:
            raise ValueError(
                "Registering a parametrization may not change the shape of the "
                "tensor, unless `unsafe` flag is enabled.\nunparametrized "
                f"shape: {shape}\nparametrized shape: {made.shape}")

    def originals(self):
        if self.is_tensor:
            return (self.original,)
        return tuple(getattr(self, f"original{i}")
                     for i in range(self.ntensors))

    def right_inverse(self, value):
        """Assign: what the tensors must be so that the functions give it."""
        with torch.no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not "
                        "implement right_inverse.")
                value = module.right_inverse(value)
            values = (value,) if self.is_tensor else tuple(value)
            if len(values) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of "
                    f"length {self.ntensors}. Got a sequence of length "
                    f"{len(values)}.")
            for tensor, new in zip(self.originals(), values):
                tensor.set_(new)

    def forward(self):
        x = self[0](*self.originals())
        for i in range(1, len(self)):
            x = self[i](x)
        return x


def _give_class(module):
    """A class of the module's own, below the one it had."""
    old = type(module)

    def copied(self, memo):
        names = {key: getattr(self, key) for key in vars(self)}
        new = self.__new__(type(self))
        memo[id(self)] = new
        for key, value in names.items():
            new.__dict__[key] = copy.deepcopy(value, memo)
        return new

    made = type("Parametrized" + old.__name__, (old,), {})
    made.__module__ = "torch.nn.utils.parametrize"
    module.__class__ = made


def _make_property(module, name):
    def read(self):
        if not _cached_blocks:
            return self.parametrizations[name]()
        key = (id(module), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def write(self, value):
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(read, write))


def is_parametrized(module, tensor_name=None):
    held = getattr(module, "parametrizations", None)
    if held is None or not isinstance(held, ModuleDict):
        return False
    if tensor_name is None:
        return len(held) > 0
    return tensor_name in held


def register_parametrization(module, tensor_name, parametrization, *,
                             unsafe=False):
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        functions = module.parametrizations[tensor_name]
        if not unsafe or not functions.unsafe:
            made = getattr(module, tensor_name)
            shape = parametrization(made).shape
            if shape != made.shape:
                raise ValueError(
                    "Registering a parametrization may not change the shape of "
                    "the tensor, unless the `unsafe` flag is enabled.\nmodule."
                    f"{tensor_name}.shape: {made.shape}\nparametrization"
                    f"(module.{tensor_name}).shape: {shape}")
        value = getattr(module, tensor_name)
        functions.append(parametrization)
        functions.unsafe |= unsafe
        if hasattr(parametrization, "right_inverse"):
            functions.right_inverse(value.detach().clone())
        return module
    if tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        functions = ParametrizationList([parametrization], original,
                                        unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_class(module)
            module.parametrizations = ModuleDict()
        _make_property(module, tensor_name)
        module.parametrizations[tensor_name] = functions
        return module
    raise ValueError(
        f"Module '{module}' does not have a parameter, a buffer, or a "
        f"parametrized element with name '{tensor_name}'")


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on "
                         f"{tensor_name}")
    functions = module.parametrizations[tensor_name]
    first = functions.originals()[0]
    if leave_parametrized:
        with torch.no_grad():
            value = getattr(module, tensor_name)
        if functions.is_tensor:
            first.data = value
            left = first
        elif isinstance(first, Parameter):
            left = Parameter(value)
        else:
            left = value
    elif functions.is_tensor:
        left = first
    else:
        raise ValueError("Cannot leave unparametrized "
                         "(`leave_parametrized=False`) a tensor that is "
                         "parametrized in terms of a sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    _put(module, tensor_name, left)
    return module


def type_before_parametrizations(module):
    return type(module).__bases__[0] if is_parametrized(module) \
        else type(module)


def transfer_parametrizations_and_params(from_module, to_module,
                                         tensor_name=None):
    raise _absent.error("torch.nn.utils.parametrize."
                        "transfer_parametrizations_and_params is not "
                        "part of dtrepl")
