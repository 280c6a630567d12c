# SPDX-License-Identifier: MIT
# Names of everyday programs: devices and types of modules, hooks around their
# state, state that is no tensor, switches of backends, torch.cuda without CUDA;
# and what PyTorch 2.13 printed.
import torch, torch.nn as nn

m = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
print(m.cpu() is m, m.share_memory() is m, m.compile())
print([t.dtype for t in m.type(torch.float64).state_dict().values()])
m.set_submodule("1", nn.ReLU())
print(m)
for path, strict in [("x", True), ("0.y", True), ("a.b", False), ("", False)]:
    try:
        print(m.set_submodule(path, nn.ReLU(), strict))
    except Exception as e:
        print(type(e).__name__, e)
print(torch.pi, torch.e, torch.ones(2)[torch.newaxis].shape, torch.cfloat)
print(torch.backends.cudnn.benchmark, torch.backends.cuda.matmul.allow_tf32)
torch.backends.cudnn.benchmark = torch.backends.cuda.matmul.allow_tf32 = True
with torch.backends.cudnn.flags(enabled=False):
    print(torch.backends.cudnn.enabled)
print(torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark,
      torch.backends.cuda.matmul.allow_tf32, torch.backends.mps.is_available())
torch.backends.cuda.enable_flash_sdp(False)
print(torch.backends.cuda.flash_sdp_enabled(),
      torch.backends.cuda.math_sdp_enabled(), torch.version.cuda)
print(torch.cuda.is_bf16_supported(), torch.cuda.memory_stats(),
      torch.cuda.is_initialized(), torch.cuda.get_rng_state_all())
for f in (torch.cuda.mem_get_info, torch.cuda.get_device_properties):
    try:
        f()
    except AssertionError as e:
        print(e)
try:
    raise torch.OutOfMemoryError("none left")
except RuntimeError as e:
    print(type(e), e)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(1))
        self.n = 3

    def get_extra_state(self):
        return {"n": self.n}

    def set_extra_state(self, state):
        self.n = state["n"]


a, b = nn.Sequential(nn.Linear(1, 1), Counter()), \
    nn.Sequential(nn.Linear(1, 1), Counter())
a[1].n = 7
a.register_state_dict_pre_hook(
    lambda m, prefix, keep: print("pre", type(m).__name__, repr(prefix)))
a[1].register_state_dict_pre_hook(
    lambda m, prefix, keep: print("pre", type(m).__name__, repr(prefix)))
handle = a[0].register_state_dict_post_hook(
    lambda m, d, prefix, meta: print("post", prefix, list(d)[-1]))
a.register_state_dict_post_hook(
    lambda m, d, prefix, meta: print("post", repr(prefix), list(d)))
state = a.state_dict(prefix="net.")
handle.remove()
state = a.state_dict()
print(list(state), state["1._extra_state"])


def rename(module, state, prefix, meta, strict, missing, unexpected, errors):
    for key in list(state):
        if key.startswith("old."):
            state[key[4:]] = state.pop(key)


b.register_load_state_dict_pre_hook(rename)
b[1].register_load_state_dict_post_hook(
    lambda m, keys: print("loaded", type(m).__name__, keys))
b.register_load_state_dict_post_hook(
    lambda m, keys: print("loaded", type(m).__name__, keys))
print(b.load_state_dict({"old." + k: v for k, v in state.items()}), b[1].n)
del state["1._extra_state"]
try:
    b.load_state_dict(state)
except RuntimeError as e:
    print(e)
print(b.load_state_dict(state, strict=False).missing_keys)
for name in ("get_extra_state", "set_extra_state"):
    try:
        getattr(nn.Linear(1, 1), name)(*[1][:name[0] == "s"])
    except RuntimeError as e:
        print(str(e)[:70])
v = torch.__version__
print(isinstance(v, str), v >= "2.4", v > "2.13.0a1", v < "10", v >= (2, 4, 0),
      v < "2.4.1", v.split(".")[0], type(v).__name__, v == str(v),
      tuple(int(x) for x in v.split("+")[0].split(".")[:2]) >= (2, 5))
plain = torch.ones(2)
for name in ("full_tensor", "to_local", "redistribute", "placements",
             "device_mesh", "_local_tensor", "mean"):
    print(name, hasattr(plain, name), getattr(plain, name, None) is None)
