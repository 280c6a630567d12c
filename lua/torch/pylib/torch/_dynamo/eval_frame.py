# SPDX-License-Identifier: MIT
"""torch._dynamo.eval_frame: nothing is compiled here, every number is that of
the module or function itself; names and types are those of a compiled one."""
import functools
import inspect
from collections.abc import Sized
import torch.nn as nn
from torch._dynamo.exc import InvalidBackend

_BACKENDS = ["cudagraphs", "inductor", "openxla", "tvm"]
_FOR_TESTS = [
    "aot_eager", "aot_eager_decomp_partition",
    "aot_eager_decomp_partition_crossref",
    "aot_eager_decomp_partition_with_mode", "aot_eager_default_partitioner",
    "aot_ts", "dynamo_accuracy_minifier_backend", "dynamo_minifier_backend",
    "eager", "eager_debug", "eager_noexcept", "invoke_subgraph",
    "non_leaf_compile_error_TESTING_ONLY", "openxla_eval",
    "pre_dispatch_eager", "relu_accuracy_error_TESTING_ONLY",
    "relu_compile_error_TESTING_ONLY", "relu_runtime_error_TESTING_ONLY", "ts"]
_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs",
          "max-autotune")


def list_backends(exclude_tags=("debug", "experimental")):
    return sorted(_BACKENDS if exclude_tags else _BACKENDS + _FOR_TESTS)


class OptimizedModule(nn.Module):
    """What torch.compile makes of a module: names below _orig_mod, attributes
    those of the module inside."""
    _opt_mod_attributes = {
        "_orig_mod", "dynamo_ctx", "_torchdynamo_orig_callable",
        "_torchdynamo_wrapper_id", "get_compiler_config", "forward", "_forward",
        "__dict__", "named_children_walk", "_super_module_initialized"}

    def __init__(self, mod, dynamo_ctx):
        object.__setattr__(self, "_orig_mod", mod)
        self._super_module_initialized = False
        super().__init__()
        self._super_module_initialized = True
        self._orig_mod = mod
        self.dynamo_ctx = dynamo_ctx

    def __len__(self):
        if isinstance(self._orig_mod, Sized):
            return len(self._orig_mod)
        raise TypeError(f"{type(self._orig_mod).__name__} does not support "
                        "len()")

    def forward(self, *args, **kwargs):
        return self._orig_mod(*args, **kwargs)

    def __reduce__(self):
        return (self.__class__, (self._orig_mod, self.dynamo_ctx))

    @property
    def training(self):
        return self._orig_mod.training

    @training.setter
    def training(self, value):
        if self._super_module_initialized:
            self._orig_mod.training = value

    def __getattr__(self, name):
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name, value):
        if (hasattr(type(self), name)
                or name in OptimizedModule._opt_mod_attributes):
            return super().__setattr__(name, value)
        return setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        if (hasattr(type(self), name)
                or name in OptimizedModule._opt_mod_attributes):
            return super().__delattr__(name)
        return delattr(self._orig_mod, name)

    def __dir__(self):
        own = self._orig_mod.__dir__()
        return own + [name for name in super().__dir__() if name not in own]


def _original(fn):
    """The function below all wrappers."""
    while True:
        below = getattr(fn, "_torchdynamo_orig_callable", None)
        if below is None:
            return fn
        fn = below


def _of_function(fn):
    @functools.wraps(fn)
    def compile_wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    compile_wrapper._torchdynamo_orig_callable = fn
    compile_wrapper._torchdynamo_wrapper_id = id(compile_wrapper)
    return compile_wrapper


class _TorchDynamoContext:
    def __call__(self, fn):
        if isinstance(fn, staticmethod):
            return staticmethod(self(fn.__func__))
        if inspect.isclass(fn):
            return fn
        fn = _original(fn)
        if isinstance(fn, nn.Module):
            wrapper = OptimizedModule(fn, self)
            wrapper._torchdynamo_orig_callable = fn.forward
            wrapper._torchdynamo_wrapper_id = id(wrapper)
            return wrapper
        assert callable(fn), ("A callable function is expected, but "
                              f"{type(fn)} is provided.")
        return _of_function(fn)


class OptimizeContext(_TorchDynamoContext):
    pass


class DisableContext(_TorchDynamoContext):
    pass


def _check_backend(backend):
    if isinstance(backend, str):
        if backend not in list_backends(None):
            raise InvalidBackend(backend)
    elif backend is not None:
        raise NotImplementedError(
            "torch.compile: nothing is compiled here, so a backend of the "
            "program's own is never called; backend=\"eager\" gives the same "
            "numbers")


def optimize(backend="inductor", *, nopython=False, disable=False, **settings):
    _check_backend(backend)
    return (lambda fn: fn) if disable else OptimizeContext()


def optimize_assert(backend, **settings):
    return optimize(backend, nopython=True)


def _compile(model, backend, mode, options, disable):
    if model is None:
        raise RuntimeError("Model can't be None")
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both "
                           "can't be specified at the same time.")
    if backend in (None, "inductor") and mode not in (None, *_MODES):
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: "
                           + ", ".join(_MODES))
    return optimize(backend, disable=disable)(model)


def compile(model=None, *, fullgraph=False, dynamic=None, backend=None,
            mode=None, options=None, name=None, disable=False,
            recompile_limit=None, isolate_recompiles=False,
            dynamic_shapes=None):
    """torch.compile"""
    if model is None:
        return lambda fn: _compile(fn, backend, mode, options, disable)
    return _compile(model, backend, mode, options, disable)
