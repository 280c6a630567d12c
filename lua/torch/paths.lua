-- SPDX-License-Identifier: MIT
-- torch/paths.lua: files of PyTorch whose names a package of theirs shows as well:
-- from torch.utils.data.dataloader import DataLoader.  A name is looked up when
-- it is asked for, so that a file no program names costs nothing.

local attrs = require "python.attrs"

-- A line: the file, the module that has its names here, and the names; `theirs=ours`
-- where one is called otherwise.  What begins with a space goes on with the line.
local PATHS <const> = [[
torch.utils.data.dataloader torch.utils.data DataLoader default_collate
  default_convert get_worker_info Dataset IterableDataset Sampler
  SequentialSampler RandomSampler BatchSampler
torch.utils.data.dataset torch.utils.data Dataset IterableDataset
  TensorDataset StackDataset ConcatDataset ChainDataset Subset random_split
torch.utils.data.sampler torch.utils.data Sampler SequentialSampler
  RandomSampler SubsetRandomSampler WeightedRandomSampler BatchSampler
torch.nn.parallel.distributed torch.nn.parallel DistributedDataParallel
torch.nn.utils.clip_grad torch.nn.utils clip_grad_norm_ clip_grad_norm
  clip_grad_value_ get_total_norm clip_grads_with_norm_
  _get_total_norm=get_total_norm _clip_grads_with_norm_=clip_grads_with_norm_
torch.nn.utils.convert_parameters torch.nn.utils parameters_to_vector
  vector_to_parameters
torch.nn.utils.weight_norm torch.nn.utils weight_norm remove_weight_norm
torch.nn.utils.spectral_norm torch.nn.utils spectral_norm remove_spectral_norm
torch.optim.adadelta torch.optim Adadelta
torch.optim._adafactor torch.optim Adafactor
torch.optim.adagrad torch.optim Adagrad
torch.optim.adam torch.optim Adam
torch.optim.adamax torch.optim Adamax
torch.optim.adamw torch.optim AdamW
torch.optim.asgd torch.optim ASGD
torch.optim.lbfgs torch.optim LBFGS
torch.optim._muon torch.optim Muon
torch.optim.nadam torch.optim NAdam
torch.optim.radam torch.optim RAdam
torch.optim.rmsprop torch.optim RMSprop
torch.optim.rprop torch.optim Rprop
torch.optim.sgd torch.optim SGD
torch.optim.sparse_adam torch.optim SparseAdam
torch.autograd.variable torch.autograd Variable
torch.amp.grad_scaler torch.amp GradScaler
torch.cuda.amp.grad_scaler torch.cuda.amp GradScaler
torch.multiprocessing.spawn torch.multiprocessing spawn
torch.distributions.beta torch.distributions Beta
torch.distributions.binomial torch.distributions Binomial
torch.distributions.chi2 torch.distributions Chi2
torch.distributions.dirichlet torch.distributions Dirichlet
torch.distributions.exponential torch.distributions Exponential
torch.distributions.gamma torch.distributions Gamma
torch.distributions.geometric torch.distributions Geometric
torch.distributions.laplace torch.distributions Laplace
torch.distributions.log_normal torch.distributions LogNormal
torch.distributions.poisson torch.distributions Poisson
torch.distributions.studentT torch.distributions StudentT
torch.distributions.utils torch.distributions.distribution broadcast_all probs_to_logits logits_to_probs
torch.distributed.constants torch.distributed default_pg_timeout
torch.distributed.tensor.debug._comm_mode torch.distributed.tensor.debug
  CommDebugMode
torch.distributed.tensor.debug._visualize_sharding
  torch.distributed.tensor.debug visualize_sharding
]]

local function provide(path, home, words)
  local ours = {}
  for word in words:gmatch "%S+" do
    local theirs, own = word:match("^(.+)=(.+)$")
    ours[theirs or word] = own or word
  end
  local file = attrs.namespace {}
  local function find(_, name)
    local own = ours[name]
    if not own then return nil end
    local ok, v = pcall(attrs.member, home, own)
    if ok then rawset(file, name, v) end
    return ok and v or nil
  end
  attrs.provide(path, setmetatable(file, {__name = "module", __index = find,
    all = function ()
      for name in pairs(ours) do find(file, name) end
      return file
    end}))
end

for line in PATHS:gsub("\n +", " "):gmatch "[^\n]+" do
  provide(line:match("^(%S+) (%S+) (.+)$"))
end
