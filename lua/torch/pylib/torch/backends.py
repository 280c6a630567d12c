# SPDX-License-Identifier: MIT
"""torch.backends: switches of libraries.  They can be set and read; the engine
has one device and one way to compute, so that none changes a result."""


class _Switches:
    """A library: its switches are attributes, what it says of itself are
    functions without arguments."""

    def __init__(self, switches, facts):
        for name, value in switches.items():
            setattr(self, name, value)
        for name, value in facts.items():
            setattr(self, name, lambda value=value: value)


class _Set:
    """with torch.backends.cudnn.flags(enabled=False): switches as they were
    before, after it."""

    def __init__(self, library, switches):
        self.library, self.switches = library, switches

    def __enter__(self):
        self.before = {name: getattr(self.library, name)
                       for name in self.switches}
        for name, value in self.switches.items():
            setattr(self.library, name, value)

    def __exit__(self, *error):
        for name, value in self.before.items():
            setattr(self.library, name, value)


cuda = _Switches({"matmul": _Switches({
    "allow_tf32": False, "fp32_precision": "none",
    "allow_fp16_accumulation": False,
    "allow_fp16_reduced_precision_reduction": True,
    "allow_bf16_reduced_precision_reduction": True}, {})},
    {"is_built": False})


def _kernel_of_attention(name):
    """Which kernels scaled_dot_product_attention may use."""
    state = {"on": True}

    def enable(enabled):
        state["on"] = bool(enabled)

    setattr(cuda, f"enable_{name}_sdp", enable)
    setattr(cuda, f"{name}_sdp_enabled", lambda: state["on"])


for _name in ("flash", "mem_efficient", "math", "cudnn"):
    _kernel_of_attention(_name)

cudnn = _Switches({"enabled": True, "benchmark": False, "benchmark_limit": 10,
                   "deterministic": False, "allow_tf32": True,
                   "fp32_precision": "none"},
                  {"is_available": False, "version": None})
cudnn.flags = lambda **switches: _Set(cudnn, switches)
mkldnn = _Switches({"enabled": True, "deterministic": False,
                    "allow_tf32": False, "fp32_precision": "none"},
                   {"is_available": True})
mkldnn.flags = lambda **switches: _Set(mkldnn, switches)
mkl = _Switches({}, {"is_available": True})
openmp = _Switches({}, {"is_available": True})
mps = _Switches({}, {"is_available": False, "is_built": False})
opt_einsum = _Switches({"enabled": False, "strategy": None},
                       {"is_available": False})
