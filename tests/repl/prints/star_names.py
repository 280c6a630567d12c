# SPDX-License-Identifier: MIT
# Names that `import *` brings, and options that are a data class.
from torch.distributed.checkpoint.state_dict import *
from torch.distributed.tensor import *
from torch.nn import *

print(StateDictOptions(full_state_dict=True))
print(StateDictOptions().cpu_offload, StateDictOptions() == StateDictOptions())
print(get_model_state_dict.__name__, set_optimizer_state_dict.__name__)
print(Linear(2, 3), Shard(1), Replicate())
print(abs(-2), max(1, 2))
try:
    StateDictOptions(full=True)
except TypeError as e:
    print(e)
try:
    exec("from nowhere import *")
except ModuleNotFoundError as e:
    print(e)
try:
    undefined_thing
except NameError as e:
    print(e)
