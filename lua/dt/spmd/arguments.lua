-- SPDX-License-Identifier: MIT
-- dt/spmd/arguments.lua: what the transitions of SPMD types accept: src and
-- dst, dimensions, sizes, dtypes; and what is said where they do not fit.
--
-- A type of an argument is "R", "I", "V", "P" or "S(1)"; anything else that a
-- program wrote is {text = how it prints}.

local dt = require "dt"
local util = require "dt.util"

local M = {}

local LETTERS = {R = true, I = true, V = true, P = true}

-- The dimension of "S(i)", or nil.
function M.dim_of(t)
  return type(t) == "string" and math.tointeger(t:match("^S%((%-?%d+)%)$"))
    or nil
end

function M.is_shard(t) return M.dim_of(t) ~= nil end

-- How str() has a type.
function M.long(t)
  if t == nil or t == dt.None then return "None" end
  if type(t) == "table" then return t.text end
  return LETTERS[t] and "PerMeshAxisLocalSpmdType." .. t or t
end
local long, is_shard, dim_of = M.long, M.is_shard, M.dim_of

local function wrong(...) util.raise("ValueError", ...) end

-- "S(-1)" with its dimension counted from the front.
function M.resolved(t, x)
  local d = dim_of(t)
  if not d then return t end
  if d < -x.ndim or d >= x.ndim then
    util.raise("SpmdTypeError", "S(%d) is out of bounds for tensor with "
      .. "ndim=%d", d, x.ndim)
  end
  return ("S(%d)"):format(d < 0 and d + x.ndim or d)
end

-- ---- src and dst ----

local function either(fn, which, t, ...)
  for _, ok in ipairs {...} do
    if t == ok or ok == "S(i)" and is_shard(t) then return end
  end
  wrong("%s %s must be %s, got %s", fn, which, table.concat({...}, " or "),
    long(t))
end

-- src of a function that adds: P, or V where the reader means P.
local function addend(fn, src)
  if src == "P" or src == "V" then return end
  if src == "R" or src == "I" then
    wrong("%s src must be P, got %s. %s on replicated/invariant data is "
      .. "usually a bug. If you really want to scale by mesh size, use "
      .. "reinterpret(src=%s, dst=P) first.", fn, long(src), fn, long(src))
  end
  either(fn, "src", src, "P")
end

local check = {}

function check.all_reduce(src, dst)
  addend("all_reduce", src)
  either("all_reduce", "dst", dst, "R", "I")
end

function check.all_gather(src, dst)
  either("all_gather", "src", src, "V", "S(i)")
  either("all_gather", "dst", dst, "R", "I")
end

function check.reduce_scatter(src, dst)
  addend("reduce_scatter", src)
  either("reduce_scatter", "dst", dst, "V", "S(i)")
end

function check.all_to_all(src, dst)
  either("all_to_all", "src", src, "V", "S(i)")
  either("all_to_all", "dst", dst, "V", "S(i)")
end

-- What needs expert_mode, and why.
local GATES = {
  reinterpret = {
    RI = "This is rarely what you want in the forward pass; it exists as a "
      .. "backward for convert(I, P). Prefer convert(R, I) which is the "
      .. "primary API for R<->I transitions.",
    RV = "This makes N copies of the input, which is rarely what you want in "
      .. "the forward pass. If you want to shard a replicated value, use "
      .. "convert(R, V) or convert(R, S(i)) instead.",
    RP = "This scales the semantic value by the mesh axis size, which is "
      .. "rarely intentional. If you want to preserve semantics, use "
      .. "convert(R, P) instead.",
    IR = "Use convert(I, R) instead, which is the primary API for I<->R "
      .. "transitions.",
  },
  convert = {
    RI = "This treats a replicate tensor as invariant, which is rarely what "
      .. "you want in the forward pass. It exists as a backward for "
      .. "convert(I, P).",
    IP = "This zeros out all non-rank-0 tensors, which is rarely what you "
      .. "want. It exists as a backward for convert(R, I).",
  },
}

local function gate(fn, src, dst, expert)
  local why = GATES[fn][tostring(src) .. tostring(dst)]
  if why and not expert then
    wrong("%s(%s, %s) requires expert_mode=True. %s", fn, src, dst, why)
  end
end

local function unsupported(fn, src, dst, why)
  wrong("%s(%s, %s) is not supported%s", fn, long(src), long(dst), why or ".")
end

function check.reinterpret(src, dst, expert)
  if is_shard(src) or is_shard(dst) then
    wrong("reinterpret does not support S(i). Use V instead, or use convert "
      .. "for semantics-preserving conversions. Got src=%s, dst=%s", long(src),
      long(dst))
  end
  if src == dst and LETTERS[src] then return end
  if not LETTERS[src] or not LETTERS[dst] then
    unsupported("reinterpret", src, dst)
  elseif src == "P" then
    unsupported("reinterpret", src, dst, "; it is semantically ill-defined. "
      .. "Call all_reduce(src=P, dst=R) first to materialize the sum, then do "
      .. "whatever conversion you need from R.")
  elseif src == "V" and dst ~= "P" then
    unsupported("reinterpret", src, dst, (". We cannot unsafely assert that "
      .. "varying values on all ranks are actually the same. Ensure your "
      .. "source is already %s instead."):format(long(dst)))
  end
  gate("reinterpret", src, dst, expert)
end

function check.convert(src, dst, expert)
  local from = is_shard(src) and "V" or src
  local to = is_shard(dst) and "V" or dst
  if is_shard(src) and is_shard(dst) and src ~= dst then
    wrong("convert(%s, %s) cannot change the shard dimension without "
      .. "communication. Use all_to_all() instead.", src, dst)
  end
  if not LETTERS[from] or not LETTERS[to] then
    unsupported("convert", src, dst)
  elseif from == to then
    return
  elseif from == "P" then
    unsupported("convert", src, dst, to == "V" and (". Use "
      .. "reduce_scatter(src=P, dst=%s) to perform the reduction and get "
      .. "shards of the sum."):format(long(dst)) or (". Use "
      .. "all_reduce(src=P, dst=%s) to perform the reduction and get the full "
      .. "sum."):format(long(dst)))
  elseif from == "V" and to ~= "P" then
    unsupported("convert", src, dst)
  elseif from == "V" and not expert then
    wrong("convert(%s, P) requires expert_mode=True. This pads with zeros to "
      .. "create a partial tensor, which is rarely what you want in the "
      .. "forward pass. It exists as a backward for convert(R, %s).",
      long(src), long(src))
  end
  gate("convert", src, dst, expert)
end

function check.shard(_, dst) either("shard", "dst", dst, "S(i)") end

function check.unshard(src) either("unshard", "src", src, "S(i)") end

-- check(fn, src, dst, expert): raises where fn does not go from src to dst.
function M.check(fn, src, dst, expert) check[fn](src, dst, expert) end

-- ---- dimensions ----

-- The dimension that a V is stacked along or an S is cut along: `given` says
-- the same as the type, or takes the place of 0.
function M.one_dim(fn, word, given, side, t)
  local d = dim_of(t)
  if d and given and given ~= d then
    wrong("%s got %s=%d but %s=%s; these conflict. Either use %s=S(%d) or "
      .. "remove %s.", fn, word, given, side, t, side, given, word)
  end
  return d or given or 0
end

function M.sizes_for(fn, sizes, side, t)
  if sizes and not is_shard(t) then
    wrong("%s split_sizes is only supported with %s=S(i), got %s=%s", fn, side,
      side, long(t))
  end
  return sizes
end

-- split and concat of all_to_all.
function M.two_dims(a, src, dst)
  local from, to = dim_of(src), dim_of(dst)
  local name = "all_to_all"
  if from and to then
    local function same(word, given, want, side)
      if given and given ~= want then
        wrong("all_to_all %s->%s got %s=%d but expected %d (%s dim).", src, dst,
          word, given, want, side)
      end
    end
    same("split_dim", a.split_dim, to, "dst")
    same("concat_dim", a.concat_dim, from, "src")
    return to, from
  end
  return M.one_dim(name, "split_dim", a.split_dim, "src", src),
    M.one_dim(name, "concat_dim", a.concat_dim, "dst", dst)
end

-- ---- dtypes ----

local KEYS = {op_dtype = true, out_dtype = true, async_op = true,
  backward_options = true}

local function bits(dtype)
  return dt.empty({0}, {dtype = dtype}):element_size() * 8
end

local function narrow(dtype)
  if dtype ~= nil and not util.is_dtype(dtype) then
    util.raise("TypeError", "finfo(): argument 'type' (position 1) must be "
      .. "torch.dtype, not %s", util.type_text(dtype))
  end
  return dtype ~= nil and dt.empty({0}, {dtype = dtype}):is_floating_point()
    and bits(dtype) < 32
end

-- Sums of gradients in few bits are asked for by name.
local function check_precision(x, a)
  local back = a.backward_options
  if not (x.requires_grad and dt.is_grad_enabled()) then return end
  if back and back.op_dtype then return end
  if narrow(a.op_dtype) or narrow(a.out_dtype) or narrow(x.dtype) then
    wrong("%s", 'When using reduced precision with an operation whose backward '
      .. 'involves a reduction (all_reduce or reduce_scatter), you must '
      .. 'explicitly specify backward_options={"op_dtype": ...} to control the '
      .. 'precision of the gradient reduction. For example, FSDP typically '
      .. 'uses bf16 all_gather in forward with fp32 reduce_scatter in '
      .. 'backward: all_gather(..., op_dtype=torch.bfloat16, '
      .. 'backward_options={"op_dtype": torch.float32}). This also applies '
      .. 'when the input tensor is already reduced precision (e.g. bf16).')
  end
end

local function check_keys(back)
  local unknown = {}
  for key in pairs(back or {}) do
    if not KEYS[key] then unknown[#unknown + 1] = ("'%s'"):format(key) end
  end
  table.sort(unknown)
  if #unknown > 0 then
    wrong("Unknown keys in backward_options: {%s}. Valid keys are: "
      .. "['async_op', 'backward_options', 'op_dtype', 'out_dtype']",
      table.concat(unknown, ", "))
  end
end

-- The options of a move out of a call's arguments; `adds`: its backward adds
-- gradients of several ranks.
function M.options(x, a, adds)
  local back = a.backward_options
  if back ~= nil and type(back) ~= "table" then
    util.raise("TypeError", "argument of type '%s' is not iterable",
      util.type_text(back))
  end
  if adds then check_precision(x, a) end
  check_keys(back)
  return {op_dtype = a.op_dtype, out_dtype = a.out_dtype,
    backward_options = a.backward_options}
end

return M
