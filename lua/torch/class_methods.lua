-- SPDX-License-Identifier: MIT
-- torch/class_methods.lua: what programs call on a module's class:
-- nn.Embedding.from_pretrained, DistributedDataParallel's list of parameters
-- that it is to leave alone.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local attrs = require "python.attrs"
local calls = require "python.call"
local nn = require "dt.nn"
local nnm = require "dt.nn.module"
local parallel = require "dt.nn.parallel"

local facts = attrs.class_fact_of_library

-- The class of the library that `class` is or comes from, of those in `of`.
local function origin(class, of)
  while class do
    if of[class] then return class end
    class = rawget(class, "__base")
  end
end

-- offer(name, {class = f}): Class.name(…) is f(Class, args, kw).
local function offer(name, of)
  facts[name] = function (class)
    local f = of[origin(class, of)]
    if not f then return nil end
    return V.builtin(function (a, kw) return f(class, a, kw) end, name)
  end
end

-- ---- calls ----

-- nn.Module.__call__(module, ...), past what the module's class has instead.
function facts.__call__(class)
  if not origin(class, {[nnm.Module] = true}) then return nil end
  return V.builtin(function (a, kw)
    return calls.call_native(a[1], V.list({table.unpack(a, 2, a.n)}, a.n - 1), kw)
  end, "__call__")
end

-- ---- tables of rows ----

-- What both kinds make of the rows that are there; `order` names the parameters
-- of from_pretrained after `embeddings` and `freeze`.
local function from_pretrained(name, order)
  local signature = {"embeddings", "freeze?", table.unpack(order)}
  return args.method(name .. ".from_pretrained", signature, function (class, given)
    local rows = given.embeddings
    if not util.is_tensor(rows) then
      attrs.missing(rows, "dim")        -- what PyTorch asks it for
    elseif rows.ndim ~= 2 then
      util.raise("AssertionError",
        "Embeddings parameter is expected to be 2-dimensional")
    end
    local named = V.dict()
    V.dict_set(named, "num_embeddings", rows.shape[1])
    V.dict_set(named, "embedding_dim", rows.shape[2])
    V.dict_set(named, "_weight", rows)
    for _, word in ipairs(order) do
      local name = word:gsub("%?$", "")
      if given[name] ~= nil then V.dict_set(named, name, given[name]) end
    end
    local m = V.call(class, V.list({}, 0), named)
    m.weight.requires_grad = given.freeze ~= nil and not V.truth(given.freeze)
    return m
  end)
end

offer("from_pretrained", {
  [nn.Embedding] = from_pretrained("Embedding", {"padding_idx?", "max_norm?",
    "norm_type?", "scale_grad_by_freq?", "sparse?"}),
  [nn.EmbeddingBag] = from_pretrained("EmbeddingBag", {"max_norm?",
    "norm_type?", "scale_grad_by_freq?", "mode?", "sparse?",
    "include_last_offset?", "padding_idx?"}),
})

-- ---- DistributedDataParallel ----

local ATTRIBUTE = "_ddp_params_and_buffers_to_ignore"

-- A static method: what it is called on is no argument.
local set_ignored = args.def("DistributedDataParallel."
  .. "_set_params_and_buffers_to_ignore_for_model",
  {"module", "params_and_buffers_to_ignore"}, function (a)
    attrs.set(a.module, ATTRIBUTE, a.params_and_buffers_to_ignore)
    local ignored = parallel._names_to_ignore(a.module)
    for name, p in nnm.Module.named_parameters(a.module) do
      if ignored[name] then dt._set_apart(p) end
    end
    return dt.None
  end)

offer("_set_params_and_buffers_to_ignore_for_model", {
  [parallel.DistributedDataParallel] = function (_, a, kw)
    return set_ignored.call(a, kw)
  end,
})

-- The names in the list or set that a module has there.
function parallel._names_to_ignore(module)
  local names, out = module._attrs[ATTRIBUTE], {}
  if names == nil or names == dt.None then return out end
  local next_name = V.iter(names)
  local more, name = next_name()
  while more do
    out[name] = true
    more, name = next_name()
  end
  return out
end
