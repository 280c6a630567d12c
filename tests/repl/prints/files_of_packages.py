# SPDX-License-Identifier: MIT
# The files of PyTorch that programs import their classes from.
import torch
import torch.nn as nn
import torch.optim.adam as adam
import torch.utils.data.dataloader
from torch.amp.grad_scaler import GradScaler
from torch.autograd.variable import Variable
from torch.cuda.amp.grad_scaler import GradScaler as CudaScaler
from torch.distributed.constants import default_pg_timeout
from torch.distributed.tensor.debug import CommDebugMode as shown
from torch.distributed.tensor.debug._comm_mode import CommDebugMode
from torch.distributed.tensor.debug._visualize_sharding import \
    visualize_sharding
from torch.multiprocessing.spawn import spawn
from torch.nn.parallel.distributed import DistributedDataParallel
from torch.nn.utils.clip_grad import (_clip_grads_with_norm_,
                                      _get_total_norm, clip_grad_norm_)
from torch.nn.utils.convert_parameters import (parameters_to_vector,
                                               vector_to_parameters)
from torch.nn.utils.spectral_norm import spectral_norm
from torch.nn.utils.weight_norm import weight_norm
from torch.optim._adafactor import Adafactor
from torch.optim._muon import Muon
from torch.optim.adadelta import Adadelta
from torch.optim.adagrad import Adagrad
from torch.optim.adamax import Adamax
from torch.optim.adamw import AdamW
from torch.optim.asgd import ASGD
from torch.optim.lbfgs import LBFGS
from torch.optim.nadam import NAdam
from torch.optim.radam import RAdam
from torch.optim.rmsprop import RMSprop
from torch.optim.rprop import Rprop
from torch.optim.sgd import SGD
from torch.optim.sparse_adam import SparseAdam
from torch.utils.data.dataloader import DataLoader, default_collate
from torch.utils.data.dataset import *
from torch.utils.data.sampler import (BatchSampler, RandomSampler, Sampler,
                                      SequentialSampler, SubsetRandomSampler,
                                      WeightedRandomSampler)

data = torch.utils.data
print(data.dataloader.DataLoader is DataLoader is data.DataLoader)
print(TensorDataset is data.TensorDataset, Subset is data.Subset,
      issubclass(BatchSampler, Sampler))
print(adam.Adam is torch.optim.Adam, shown is CommDebugMode)
for name in ("Adadelta", "Adafactor", "Adagrad", "Adamax", "AdamW", "ASGD",
             "LBFGS", "Muon", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD",
             "SparseAdam"):
    assert globals()[name] is getattr(torch.optim, name), name
assert DistributedDataParallel is nn.parallel.DistributedDataParallel
assert callable(spawn) and callable(weight_norm)
assert callable(spectral_norm) and callable(visualize_sharding)
print(default_pg_timeout, type(Variable(torch.ones(1))).__name__)
print(GradScaler("cpu", enabled=False).is_enabled(), CudaScaler is not None)

torch.manual_seed(0)
model = nn.Linear(3, 2)
loader = DataLoader(TensorDataset(torch.arange(12.).view(4, 3)), batch_size=2,
                    sampler=SequentialSampler(range(4)))
for (x,) in loader:
    model(x).sum().backward()
total = _get_total_norm([p.grad for p in model.parameters()])
print(total, clip_grad_norm_(model.parameters(), 1.0))
_clip_grads_with_norm_(model.parameters(), 0.5, torch.tensor(1.0))
print([p.grad.tolist() for p in model.parameters()])
vector = parameters_to_vector(model.parameters())
vector_to_parameters(vector * 0, model.parameters())
print(vector.shape, model.bias.tolist())
print(default_collate([(1, 2.0), (3, 4.0)]))
try:
    from torch.utils.data.dataset import DataSet
except ImportError as e:
    print(str(e).split(" (")[0])
