# SPDX-License-Identifier: MIT
# torch.serialization: what weights_only=True reads of a program's own classes.
import io
import torch
from torch.serialization import add_safe_globals, clear_safe_globals


class Config:
    def __init__(self, n):
        self.n = n


def read(kept, **how):
    kept.seek(0)
    try:
        return torch.load(kept, **how)["config"].n
    except Exception as e:
        return type(e).__name__ + " " + str(e)[:25]


kept = io.BytesIO()
torch.save({"config": Config(3), "w": torch.ones(2)}, kept)
clear_safe_globals()
print(torch.serialization.get_safe_globals(), read(kept))
print(read(kept, weights_only=False))
with torch.serialization.safe_globals([Config]) as scope:
    print(scope, torch.serialization.get_safe_globals() == [Config])
    print(read(kept), read(kept, weights_only=True))
print(read(kept))
add_safe_globals([Config])
print(read(kept))
with torch.serialization.safe_globals([Config]):
    pass
print(read(kept), torch.serialization.get_safe_globals())
add_safe_globals([(Config, "__main__.Config")])
print(read(kept))
clear_safe_globals()
add_safe_globals([(Config, "a", "b")])
print(read(kept))
print(torch.serialization.load is torch.load, torch._C._log_api_usage_once("x"))
