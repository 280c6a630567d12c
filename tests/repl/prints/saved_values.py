# SPDX-License-Identifier: MIT
import torch, tempfile, shutil
import torch.distributed.checkpoint as dcp
from collections import OrderedDict
d = tempfile.mkdtemp()
class C:
    def __init__(s, x): s.x = x
    def state_dict(s): return {"x": s.x, "rng": torch.arange(3), "names": ["a", "b"]}
    def load_state_dict(s, sd): s.x = sd["x"]; print("took", sd)
a = {"t": torch.ones(2), "l": [1.0, 2.0, 3.0], "e": {"n": "run", "tup": (1, 2), "none": None, "flag": True, "z": []}, "mix": [torch.ones(1), 5, "q"], "o": C([7, 8]), "dd": [{"lr": 0.1, "betas": (0.9, 0.99)}], "set": {1,2}, "big": 2**70, "dt": torch.float16, "sz": torch.Size([1,2])}
dcp.save(a, checkpoint_id=d)
b = {"t": torch.zeros(2), "l": [], "e": {"n": "", "tup": (), "none": 1, "flag": False, "z": [1]}, "mix": [torch.zeros(1), 0, ""], "o": C([]), "dd": [{"lr": 0., "betas": None}], "set": set(), "big": 0, "dt": None, "sz": None}
dcp.load(b, checkpoint_id=d)
for k, v in b.items(): print(k, v if k != "o" else v.x)
from torch.distributed.checkpoint import FileSystemReader
md = FileSystemReader(d).read_metadata()
print({k: type(v).__name__ for k, v in md.state_dict_metadata.items()})
shutil.rmtree(d)
