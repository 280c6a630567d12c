-- SPDX-License-Identifier: MIT
-- torch/signatures.lua: functions of the library whose first arguments
-- Lua takes by place, callable by name: Python programs write
-- normal_(w, std=0.02), clip_grad_norm_(params, max_norm=1.0).

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"

local M = {}

-- positional(f, name, signature, places): `places` arguments go by place,
-- the rest, where given, as keywords.
function M.positional(f, name, signature, places)
  local plain = {}
  for i, word in ipairs(signature) do plain[i] = word:gsub("%?$", "") end
  return args.def(name, signature, function (a)
    local list, rest = {}, nil
    for i, word in ipairs(plain) do
      local v = a[word]
      if args.given(v) and word ~= "generator" and word ~= "tag" then
        if i <= places then
          list[i] = V.option(word, v)
        else
          rest = rest or {}
          rest[word] = V.option(word, v)
        end
      end
    end
    if rest then list[places + 1] = rest end
    return V.from_lua(f(table.unpack(list, 1, places + (rest and 1 or 0))))
  end)
end

-- A line: a name, how many arguments go by place, the arguments.
local INIT = [[
uniform_ 3 tensor a? b? generator?
normal_ 3 tensor mean? std? generator?
constant_ 2 tensor val
ones_ 1 tensor
zeros_ 1 tensor
eye_ 1 tensor
dirac_ 2 tensor groups?
xavier_uniform_ 2 tensor gain? generator?
xavier_normal_ 2 tensor gain? generator?
kaiming_uniform_ 1 tensor a? mode? nonlinearity? generator?
kaiming_normal_ 1 tensor a? mode? nonlinearity? generator?
orthogonal_ 2 tensor gain? generator?
trunc_normal_ 1 tensor mean? std? a? b? generator?
sparse_ 2 tensor sparsity std? generator?
calculate_gain 2 nonlinearity param?
]]
local UTILS = [[
clip_grad_norm_ 2 parameters max_norm norm_type? error_if_nonfinite? foreach?
clip_grad_value_ 3 parameters clip_value foreach?
clip_grads_with_norm_ 4 parameters max_norm total_norm foreach?
get_total_norm 4 tensors norm_type? error_if_nonfinite? foreach?
]]

-- The functions of `from` as a table of Python functions.
local function wrapped(from, lines)
  local out = {}
  for line in lines:gmatch("[^\n]+") do
    local name, places, rest = line:match("^(%S+) (%d+) (.*)$")
    local signature = {}
    for word in rest:gmatch("%S+") do signature[#signature + 1] = word end
    if from[name] then
      -- Looked up at the call: who looks at calls may stand in its place.
      out[name] = M.positional(function (...) return from[name](...) end, name,
        signature, math.tointeger(tonumber(places)))
    end
  end
  return out
end

local nn = require "dt.nn"
M.init = wrapped(nn.init, INIT)
M.utils = wrapped(nn.utils, UTILS)

-- ---- functional collectives ----

local FUNCTIONAL = {
  all_reduce = {"self", "reduceOp", "group", "tag?"},
  broadcast = {"self", "src", "group", "tag?"},
  all_gather_tensor = {"self", "gather_dim", "group", "tag?"},
  reduce_scatter_tensor = {"self", "reduceOp", "scatter_dim", "group", "tag?"},
  all_to_all_single = {"self", "output_split_sizes", "input_split_sizes",
    "group", "tag?"},
  wait_tensor = {"tensor"},
}
for _, name in ipairs {"all_gather_tensor", "reduce_scatter_tensor",
    "all_to_all_single"} do
  FUNCTIONAL[name .. "_autograd"] = FUNCTIONAL[name]
end
local dist = require "dt.distributed"

-- broadcast(self, src, group): a new tensor.
local function broadcast(t, src, group)
  local out = dt.no_grad(function () return t:detach():clone() end)
  dist.broadcast(out, {src = src, group = group})
  return out
end

local known_reduction = {}
for _, op in pairs(dist.ReduceOp) do known_reduction[op] = true end

-- f(self, reduceOp, ...) with the reduction's name in any case: "SUM".
local function reducing(f)
  return function (t, op, ...)
    local lower = type(op) == "string" and op:lower() or op
    if type(op) == "string" and not known_reduction[lower] then
      util.raise("RuntimeError", "Unrecognized reduce_op: %s", lower)
    end
    return f(t, lower, ...)
  end
end

-- The operator that each calls first, and how it is declared.  What they ask of the
-- tensor before that fails in Python's words.
local DECLARED = {
  all_reduce = {"all_reduce", "Tensor input, %s reduce_op, Any group_name"},
  broadcast = {"broadcast", "Tensor input, int src, Any group_name"},
  all_gather_tensor = {"all_gather_into_tensor",
    "Tensor input, int group_size, Any group_name"},
  all_to_all_single = {"all_to_all_single", "Tensor input, SymInt[] "
    .. "output_split_sizes, SymInt[] input_split_sizes, Any group_name"},
  wait_tensor = {"wait_tensor", "Tensor tensor"},
}
DECLARED.all_gather_tensor_autograd = DECLARED.all_gather_tensor
DECLARED.all_to_all_single_autograd = DECLARED.all_to_all_single
local ASKED = {reduce_scatter_tensor = "size",
  reduce_scatter_tensor_autograd = "size"}

local function refuse_input(name, v, asked)
  if asked then
    util.raise("AttributeError", "'%s' object has no attribute '%s'", V.type_name(v),
      asked)
  end
  local op, text = table.unpack(DECLARED[name])
  local kind = dt._switch("REDUCE_OP_ANY") ~= 0 and "Any" or "str"
  text = text:gsub("%%s", kind)
  util.raise("RuntimeError", "_c10d_functional::%s() Expected a value of type 'Tensor' "
    .. "for argument '%s' but instead found type '%s'.\nPosition: 0\nValue: %s\n"
    .. "Declaration: _c10d_functional::%s(%s) -> Tensor\nCast error details: Unable "
    .. "to cast %s to Tensor", op, text:match("^Tensor (%w+)"), V.type_name(v),
    V.repr(v), op, text, V.str(v))
end

-- Without sizes all_to_all_single asks the tensor for its own first.
local function check_input(name, t, sizes)
  if util.is_tensor(t) then return end
  local asked = ASKED[name]
  if name:find("^all_to_all") and util.is_none(sizes) then asked = "shape" end
  refuse_input(name, t, asked)
end

-- f whose first argument is a tensor, whose sizes are integers.
local function checked(name, f)
  return function (t, sizes, ...)
    check_input(name, t, sizes)
    return f(t, sizes, ...)
  end
end

-- The functional collective `name`, called as Python calls it.
function M.functional(name)
  local f = name == "broadcast" and broadcast or dist.functional[name]
  local names = FUNCTIONAL[name]
  if names[2] == "reduceOp" then f = reducing(f) end
  f = checked(name, f)
  return M.positional(f, name, names, #names - (#names > 1 and 1 or 0))
end

return M
