-- SPDX-License-Identifier: MIT
-- parity/harness.lua: names that the programs of the reference traces use
-- beside torch's: helpers of the capture that wrote them.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local V = require "python.values"
local names = require "torch.names"
local attrs = require "python.attrs"
local system = require "python.std.system"
local facts = require "parity.facts"
local cp = require "dt.cp"

local function texts(list)
  local out, items, n = {}, V.items(list)
  for i = 1, n do out[i] = tostring(items[i]) end
  return V.list(out)
end

-- The names, for a session.
return function (S)
  local H = {}
  H.O = names.optim
  H.aten = names.aten
  H.dist = names.dist
  H._lib = dt.None
  H.cpa = names.cpa
  H._HeadTailLoadBalancer = cp._HeadTailLoadBalancer
  H.context_parallel = cp.context_parallel
  H.val = V.builtin(function (a, kw)
    local function get(i, name)
      local v = kw and V.dict_get(kw, name)
      if v == nil then v = a[i] end
      return v
    end
    return facts.val(V.to_lua(a[1]), a[2], get(3, "dtype"), get(4, "scale"),
      get(5, "base"))
  end, "val")
  H.pl = V.builtin(function (a) return tostring(a[1]) end, "pl")
  H.pls = V.builtin(function (a) return texts(a[1]) end, "pls")
  H.flt = V.builtin(function (a) return a[1] end, "flt")
  H.place_of = V.builtin(function (a)
    if not util.is_tensor(a[1]) then return a[1] end
    return facts.spec(a[1], S.names)
  end, "place_of")
  H.tensor_values = V.builtin(function (a)
    return facts.tensor_values(a[1])
  end, "tensor_values")
  H.init_model = V.builtin(function (a, kw)
    facts.init_model(a[1], a[2], a[3] or kw and V.dict_get(kw, "scale"))
    return V.list({}, 0)
  end, "init_model")
  H.hook_modules = V.builtin(function () return dt.None end, "hook_modules")
  system.provide(V.list {})
  for _, name in ipairs {"hashlib", "itertools", "os", "shutil", "tempfile"} do
    H[name] = attrs.module(name)
  end
  H.DTensorSpec = names.flat.DTensorSpec
  H.contiguous_stride = V.builtin(function (a)
    local shape, n = V.items(a[1])
    local out, step = {}, 1
    for i = n, 1, -1 do
      out[i] = step
      step = step * math.max(shape[i], 1)
    end
    return V.tuple(out, n)
  end, "contiguous_stride")
  H.nn, H.torch, H.F = names.nn, names.torch, names.F
  H.DT = V.dict()
  for name, short in pairs(facts.dtypes) do V.dict_set(H.DT, dt[name], short) end
  H.isinstance_module = nnm.is_module
  return H
end
