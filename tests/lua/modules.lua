-- TEST: ranks=1 needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- Modules, F and functions of dt called from Lua as PyTorch's are from Python:
-- numbers and texts are PyTorch's.

local T = require "tests.lua.lib.check"
local nn = dt.nn

local x = dt.tensor {{-1.0, 0.5}, {2.0, -3.0}}
local function list(t) return table.concat(t:flatten():tolist(), " ") end

T.eq(list(F.leaky_relu(x, 0.5)), "-0.5 0.5 2.0 -1.5", "leaky_relu")
T.eq(list(F.hardtanh(x, {max_val = 0.25})), "-1.0 0.25 0.25 -1.0", "by name")
local y = x:clone()
T.ok(F.relu(y, {inplace = true})._id == y._id, "in place")
T.eq(list(y), "0.0 0.5 2.0 0.0", "in place")
y = x:clone()
nn.ReLU(true)(y)
T.eq(list(y), "0.0 0.5 2.0 0.0", "a module in place")
T.eq(tostring(nn.LeakyReLU(0.2, {inplace = true})),
  "LeakyReLU(negative_slope=0.2, inplace=True)", "its text")
T.eq(tostring(nn.Dropout(0.5)), "Dropout(p=0.5, inplace=False)", "its text")
T.eq(tostring(nn.LSTM(3, 4, {num_layers = 2, bidirectional = true})),
  "LSTM(3, 4, num_layers=2, bidirectional=True)", "its text")

local function refused(class, text, f, ...)
  local ok, err = pcall(f, ...)
  T.ok(not ok and type(err) == "table" and err.class == class, class)
  T.has(tostring(err.message), text, text)
end
refused("TypeError", "leaky_relu() missing 1 required positional argument: "
  .. "'input'", F.leaky_relu)
refused("TypeError", "ELU.__init__() got an unexpected keyword argument 'b'",
  nn.ELU, {b = 1})
refused("ValueError", "min_val cannot be greater than max_val", F.hardtanh, x,
  2, 1)

-- several tensors, one by one or as a list
local a = dt.arange(6, {dtype = dt.float32}):view(2, 3)
T.eq(list(dt.einsum("ij,kj->ik", a, a)), "5.0 14.0 14.0 50.0", "einsum")
T.eq(list(dt.tensordot(a, a:t(), 1)), "5.0 14.0 14.0 50.0", "tensordot")
T.eq(#dt.meshgrid(x[0], a[0], {indexing = "xy"}), 2, "meshgrid")
T.eq(tostring(dt.meshgrid(x[0], a[0], {indexing = "xy"})[1].shape),
  "torch.Size([3, 2])", "meshgrid")
T.eq(tostring(dt.block_diag(x, a).shape), "torch.Size([4, 5])", "block_diag")
T.eq(#dt.broadcast_tensors(a, a[0]), 2, "broadcast_tensors")
T.eq(("%.4f %.4f"):format(a:norm():item(), dt.linalg.norm(a, "nuc"):item()),
  "7.4162 8.3485", "norms")

-- recurrent: outputs and the last state
local lstm = nn.LSTM(2, 3)
local out, state = lstm(x:unsqueeze(1))
T.eq(tostring(out.shape), "torch.Size([2, 1, 3])", "LSTM")
T.eq(#state, 2, "hidden and cell")
T.ok(dt.allclose(out[-1], state[1][0]), "the last output is the state")
local names = {}
for name in lstm:named_parameters() do names[#names + 1] = name end
T.eq(table.concat(names, " "),
  "weight_ih_l0 weight_hh_l0 bias_ih_l0 bias_hh_l0", "parameters in order")

-- layers of an encoder begin alike and are not shared
local encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(2, 1, 4), 2)
local p, q = encoder.layers[0].linear1.weight, encoder.layers[1].linear1.weight
T.ok(p._id ~= q._id and dt.allclose(p, q), "clones")
encoder:eval()
T.eq(tostring(encoder(x:unsqueeze(1)).shape), "torch.Size([2, 1, 2])",
  "encoder")

T.finish()
