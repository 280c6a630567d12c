-- SPDX-License-Identifier: MIT
-- torch/vmap.lua: torch.vmap for Python programs.
--
-- As in PyTorch the function is called once, with tensors that hide one
-- dimension; every operator on them becomes one on the whole tensors, by a
-- rule of the operator.  So DTensors keep their placements.  An operator
-- without a rule here is refused by name: nothing is done row by row.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local spaces = require "torch.spaces"
local builtin_names = require "python.builtin_names"
local attrs = require "python.attrs"
local call = require "python.call"
local eval = require "python.eval"
local F = require "dt.functional"

local M = {}
local None, builtin = dt.None, V.builtin

-- A tensor with a hidden dim is an instance of this class; `value` is the
-- whole, the hidden dim first.
local SOURCE = [[
class _Batched:
    def __init__(self, value): self.value = value
    def __bool__(self): return _truth(self)
    def item(self): return _item(self)
    def dim(self): return _fact(self, "ndim")
    def __neg__(self): return _apply("neg", self)
    def __add__(self, o): return _apply("add", self, o)
    def __radd__(self, o): return _apply("add", self, o)
    def __sub__(self, o): return _apply("sub", self, o)
    def __rsub__(self, o): return _apply("rsub", self, o)
    def __mul__(self, o): return _apply("mul", self, o)
    def __rmul__(self, o): return _apply("mul", self, o)
    def __truediv__(self, o): return _apply("div", self, o)
    def __pow__(self, o): return _apply("pow", self, o)
    def __matmul__(self, o): return _apply("matmul", self, o)
    def __rmatmul__(self, o): return _apply("matmul", o, self)
    def __lt__(self, o): return _apply("lt", self, o)
    def __le__(self, o): return _apply("le", self, o)
    def __gt__(self, o): return _apply("gt", self, o)
    def __ge__(self, o): return _apply("ge", self, o)
]]

local class                             -- of the source, when it has run

local function is_batched(v)
  return type(v) == "table" and class ~= nil and rawget(v, "_class") == class
end

local function wrap(value) return V.call(class, V.list({value}, 1)) end
local function whole(v) return is_batched(v) and v.value or v end

-- Dims that the function sees.
local function ndim(v)
  if is_batched(v) then return ndim(v.value) - 1 end
  return util.is_tensor(v) and v.ndim or 0
end

-- A method of a whole tensor, which may hide dims of an outer vmap.
local function on(t, name, ...)
  return V.call(attrs.get(t, name), V.list({...}, select("#", ...)))
end

-- ---- rules ----

local RULE = {}

-- Operands with the hidden dim in front and as many dims behind it.
local function aligned(args)
  local most = 0
  for i = 1, args.n do most = math.max(most, ndim(args[i])) end
  local out = {}
  for i = 1, args.n do
    local v = args[i]
    local t = whole(v)
    if is_batched(v) then
      for _ = ndim(v) + 1, most do t = on(t, "unsqueeze", 1) end
    end
    out[i] = t
  end
  return out
end

local function pointwise(name)
  return function (args, kw)
    local list = aligned(args)
    local f = attrs.get(list[1], name)
    return V.call(f, V.list({table.unpack(list, 2, args.n)}, args.n - 1), kw)
  end
end

for name in ([[abs acos add asin atan ceil clamp cos cosh div eq erf exp expm1
  floor ge gt le log log10 log1p log2 logical_and logical_not logical_or lt
  maximum minimum mul ne neg pow reciprocal relu round rsqrt sigmoid sign sin
  sinh sqrt square sub tan tanh]]):gmatch("%S+") do
  RULE[name] = pointwise(name)
end
for name in ("gelu silu relu6 leaky_relu softplus"):gmatch("%S+") do
  RULE[name] = function (args, kw)
    local list = {whole(args[1]), table.unpack(args, 2, args.n)}
    return V.call(spaces.F[name], V.list(list, args.n), kw)
  end
end
function RULE.rsub(args)
  return RULE.add(V.list {wrap(on(whole(args[1]), "neg")), args[2]})
end

-- A dim of what the function sees, in the whole; more: one dim is added.
local function behind(v, d, more)
  local n = ndim(v) + (more or 0)
  local top = math.max(n, 1)
  if d < -top or d >= top then
    util.raise("IndexError", "Dimension out of range (expected to be in range "
      .. "of [%d, %d], but got %d)", -top, top - 1, d)
  end
  return (d < 0 and d + n or d) + 1
end

local function dims_of(v, given)
  local out = {}
  if given == nil or given == None then
    for d = 1, ndim(v) do out[d] = d end
  elseif type(given) == "number" then
    out[1] = behind(v, given)
  else
    for i = 1, given.n do out[i] = behind(v, given[i]) end
  end
  return V.list(out)
end

local function argument(args, kw, i, name, default)
  local v = kw and V.dict_get(kw, name)
  if v == nil then v = args[i] end
  if v == nil then return default end
  return v
end

for _, name in ipairs {"sum", "mean", "amax", "amin"} do
  RULE[name] = function (args, kw)
    local v = args[1]
    local dims = dims_of(v, argument(args, kw, 2, "dim"))
    if dims.n == 0 then return whole(v) end
    return on(whole(v), name, dims, argument(args, kw, 3, "keepdim", false))
  end
end

for _, name in ipairs {"softmax", "log_softmax", "cumsum", "unsqueeze"} do
  RULE[name] = function (args, kw)
    local d = argument(args, kw, 2, "dim")
    return on(whole(args[1]), name,
      behind(args[1], d, name == "unsqueeze" and 1 or 0))
  end
end

function RULE.transpose(args)
  local v = args[1]
  return on(whole(v), "transpose", behind(v, args[2]), behind(v, args[3]))
end
function RULE.t(args)
  if ndim(args[1]) < 2 then return whole(args[1]) end
  return on(whole(args[1]), "transpose", 1, 2)
end

for _, name in ipairs {"view", "reshape"} do
  RULE[name] = function (args)
    local t, given = whole(args[1]), args
    local from = 2
    if V.is_seq(args[2]) then given, from = args[2], 1 end
    local first = attrs.get(t, "shape")[1]
    return on(t, name, first, table.unpack(given, from, given.n))
  end
end

-- Products: a vector becomes a matrix of one row or column for it.
function RULE.matmul(args)
  local a, b = args[1], args[2]
  local left, right = ndim(a) == 1, ndim(b) == 1
  local x, y = whole(a), whole(b)
  if left then x = on(x, "unsqueeze", is_batched(a) and 1 or 0) end
  if right then y = on(y, "unsqueeze", -1) end
  if is_batched(a) and is_batched(b) then       -- as many dims behind the hidden
    for _ = math.max(ndim(a), 2) + 1, ndim(b) do x = on(x, "unsqueeze", 1) end
    for _ = math.max(ndim(b), 2) + 1, ndim(a) do y = on(y, "unsqueeze", 1) end
  end
  local out = on(x, "matmul", y)
  if right then out = on(out, "squeeze", -1) end
  return left and on(out, "squeeze", right and -1 or -2) or out
end
RULE.mm, RULE.mv, RULE.dot = RULE.matmul, RULE.matmul, RULE.matmul

function RULE.linear(args, kw)
  local x, w = args[1], args[2]
  local bias = argument(args, kw, 3, "bias", None)
  if not is_batched(w) and not is_batched(bias) then
    return V.call(spaces.F.linear, V.list({whole(x), w,
      bias}, 3))
  end
  local turned = is_batched(w) and wrap(RULE.t(V.list {w}))
    or on(w, "transpose", 0, 1)
  local y = RULE.matmul(V.list {x, turned})
  if bias == None then return y end
  return RULE.add(V.list {wrap(y), bias})
end

-- Losses are made of these.
require("torch.vmap_losses").define(RULE, {on = on, whole = whole,
  wrap = wrap, ndim = ndim, is_batched = is_batched, argument = argument})

local function apply(name, args, kw)
  local rule = RULE[name]
  if not rule then
    util.refuse("vmap of %s is not part of dtrepl", name)
  end
  if not is_batched(args[1]) and rule ~= RULE.matmul then
    args = V.list({table.unpack(args, 1, args.n)}, args.n)
    -- A plain number or tensor in front: the rule wants a method's object.
    if type(args[1]) == "number" then
      args[1] = dt.tensor(args[1])
    end
  end
  return wrap(rule(args, kw))
end

-- ---- the class ----

local FACT = {
  ndim = function (v) return ndim(v) end,
  dtype = function (v) return attrs.get(whole(v), "dtype") end,
  device = function (v) return attrs.get(whole(v), "device") end,
  shape = function (v)
    local s = V.items(attrs.get(whole(v), "shape"))
    return V.size {table.unpack(s, 2)}
  end,
  T = function (v) return apply("t", V.list {v}) end,
}

local function no_item()
  return util.raise("RuntimeError", "vmap: It looks like you're calling "
    .. ".item() on a Tensor. We don't support vmap over calling .item() on a "
    .. "Tensor, please try to rewrite what you're doing with other operations. "
    .. "If error is occurring somewhere inside PyTorch internals, please file "
    .. "a bug report.")
end

local function truth()
  return util.raise("RuntimeError", "vmap: It looks like you're attempting to "
    .. "use a Tensor in some data-dependent control flow. We don't support "
    .. "that yet, please file an issue at "
    .. "https://github.com/pytorch/pytorch/issues .")
end

-- The class with a method for each rule and a property for each fact.
local function source()
  local out = {SOURCE}
  for _, name in ipairs(util.sorted_keys(RULE)) do
    out[#out + 1] = ("    def %s(self, *a, **k): return _apply(%q, self, *a, "
      .. "**k)\n"):format(name, name)
  end
  for _, name in ipairs(util.sorted_keys(FACT)) do
    out[#out + 1] = ("    @property\n    def %s(self): return _fact(self, %q)\n")
      :format(name, name)
  end
  return table.concat(out)
end

local function define()
  if class then return end
  local env = {vars = setmetatable({
    _fact = builtin(function (a) return FACT[a[2]](a[1]) end, "_fact"),
    _truth = builtin(truth, "_truth"), _item = builtin(no_item, "_item"),
    _apply = builtin(function (a, kw)
      return apply(a[1], V.list({table.unpack(a, 2, a.n)}, a.n - 1), kw)
    end, "_apply")}, {__index = builtin_names})}
  eval.run(source(), env)
  class = env.vars._Batched
end

-- The name by which torch or F has a function, or nil.
local function name_of(f)
  for _, space in ipairs {spaces.torch, spaces.F} do
    for name, v in pairs(space) do
      if rawequal(v, f) and type(name) == "string" then return name end
    end
  end
  return nil
end

-- Calls of torch's functions with such tensors.
local function seen(f, args, kw)
  local any = false
  for i = 1, args.n do any = any or is_batched(args[i]) end
  local name = any and name_of(f)
  if not name then return false end
  return true, apply(name, args, kw)
end

-- ---- the library's own modules ----

-- While a function runs under vmap, what modules written in Lua call by F.name
-- takes such tensors as well.
local patches = 0
function M.patch()
  local saved = {}
  patches = patches + 1
  if patches == 1 then
    for name in pairs(RULE) do
      local plain = rawget(F, name)
      if plain ~= nil then
        saved[name] = plain
        F[name] = function (...)
          local any, n = false, select("#", ...)
          for i = 1, n do any = any or is_batched((select(i, ...))) end
          if not any then return plain(...) end
          local list, kw = {...}, nil
          local last = list[n]
          if type(last) == "table" and getmetatable(last) == nil then
            kw, n = V.dict(), n - 1
            last.inplace = nil          -- modules go on with the result
            for key, v in pairs(last) do V.dict_set(kw, key, v) end
          end
          for i = 1, n do if list[i] == nil then list[i] = None end end
          return apply(name, V.list({table.unpack(list, 1, n)}, n), kw)
        end
      end
    end
  end
  return setmetatable({}, {__close = function ()
    patches = patches - 1
    for name, plain in pairs(saved) do F[name] = plain end
  end})
end

-- What torch.func.grad needs of a tensor: a leaf with the hidden dim, for one
-- that is the same for all rows too; the whole of a result; a part of one.
function M.leaf(v)
  if M.size == nil then return nil end
  local t = whole(v)
  if is_batched(t) or not util.is_tensor(t) then return nil end
  if not is_batched(v) then
    t = t:unsqueeze(0):expand({M.size, table.unpack(v.shape)})
  end
  t = t:detach()
  t.requires_grad = true
  return wrap(t), t
end
M.is_batched, M.whole, M.wrap, M.ndim = is_batched, whole, wrap, ndim

-- ---- vmap ----

local function fail(text, ...)
  return util.raise("ValueError", text:gsub("%%<", "%%%%<"), ...)
end

local function shown(f)
  local ok, name = pcall(attrs.get, f, "__name__")
  return ok and type(name) == "string" and name or V.repr(f)
end

-- The dim to hide of each argument, or nil; their common size.
local function hidden(name, in_dims, args)
  local told = V.repr(in_dims)
  if type(in_dims) ~= "number" and not V.is_tuple(in_dims) then
    fail("vmap(%s, in_dims=%s, ...)(<inputs>): expected `in_dims` to be int or "
      .. "a (potentially nested) tuple matching the structure of inputs, got: "
      .. "<class '%s'>.", name, told, V.type_name(in_dims))
  end
  if args.n == 0 then
    fail("vmap(%s)(<inputs>): got no inputs. Maybe you forgot to add inputs, "
      .. "or you are trying to vmap over a function with no inputs. The latter "
      .. "is unsupported.", name)
  end
  local function spec(n) return ("*,\n  "):rep(n - 1) .. "*" end
  if V.is_tuple(in_dims) and in_dims.n ~= args.n then
    fail("vmap(%s, in_dims=%s, ...)(<inputs>): in_dims is not compatible with "
      .. "the structure of `inputs`. in_dims has structure TreeSpec(tuple, "
      .. "None, [%s]) but inputs has structure TreeSpec(tuple, None, [%s]).",
      name, told, spec(in_dims.n), spec(args.n))
  end
  local dims, sizes = {}, {}
  for i = 1, args.n do
    local d, v = in_dims, args[i]
    if V.is_tuple(in_dims) then d = in_dims[i] end
    if d ~= None then
      local n = ndim(v)
      if not util.is_tensor(v) and not is_batched(v) then
        fail("vmap(%s, in_dims=%s, ...)(<inputs>): Got in_dim=%d for an input "
          .. "but the input is of type <class '%s'>. We cannot vmap over "
          .. "non-Tensor arguments, please use None as the respective in_dim",
          name, told, d, V.type_name(v))
      elseif d < -n or d >= n then
        fail("vmap(%s, in_dims=%s, ...)(<inputs>): Got in_dim=%d for some "
          .. "input, but that input is a Tensor of dimensionality %d so "
          .. "expected in_dim to satisfy -%d <= in_dim < %d.", name, told, d, n,
          n, n)
      end
      dims[i] = d < 0 and d + n or d
      sizes[#sizes + 1] = V.items(attrs.get(v, "shape"))[dims[i] + 1]
    end
  end
  for _, s in ipairs(sizes) do
    if s ~= sizes[1] then
      fail("vmap: Expected all tensors to have the same size in the mapped "
        .. "dimension, got sizes [%s] for the mapped dimension",
        table.concat(sizes, ", "))
    end
  end
  return dims, sizes[1]
end

-- A result with the hidden dim where it is wanted.
local function opened(name, v, out_dim, size)
  if V.is_seq(v) then
    local out = {}
    for i = 1, v.n do
      local d = V.is_seq(out_dim) and out_dim[i] or out_dim
      out[i] = opened(name, v[i], d, size)
    end
    return V.is_tuple(v) and V.tuple(out, v.n) or V.list(out, v.n)
  elseif V.is_dict(v) and not is_batched(v) then
    local out = V.dict()
    for k, x in V.each(v) do
      V.dict_set(out, k, opened(name, x, out_dim, size))
    end
    return out
  elseif not is_batched(v) and not util.is_tensor(v) then
    fail("vmap(%s, ...): `%s` must only return Tensors, got type <class '%s'>. "
      .. "Did you mean to set out_dims= to None for output?", name, name,
      V.type_name(v))
  end
  local t = is_batched(v) and v.value
  if not t then                         -- the same for every row
    local sizes = V.items(attrs.get(v, "shape"))
    t = on(on(v, "unsqueeze", 0), "expand", size, table.unpack(sizes))
  end
  return out_dim == 0 and t or on(t, "movedim", 0, out_dim)
end

local function run(f, in_dims, out_dims, args, kw)
  define()
  local name = shown(f)
  local dims, size = hidden(name, in_dims, args)
  local inner = {}
  for i = 1, args.n do
    local v, d = args[i], dims[i]
    if d and d ~= 0 then v = on(v, "movedim", d, 0) end
    inner[i] = d and wrap(v) or v
  end
  local before = call.set_seen(seen)
  local outer = M.size
  M.size = size
  local out = table.pack(pcall(function ()
    local patched <close> = M.patch()           -- luacheck: ignore patched
    return V.call(f, V.list(inner, args.n), kw)
  end))
  M.size = outer
  call.set_seen(before)
  if not out[1] then error(out[2], 0) end
  return opened(name, out[2], out_dims, size)
end

-- vmap(func, in_dims=0, out_dims=0): func over one more dim.
M.vmap = builtin(function (a, kw)
  local f = argument(a, kw, 1, "func")
  local in_dims = argument(a, kw, 2, "in_dims", 0)
  local out_dims = argument(a, kw, 3, "out_dims", 0)
  return builtin(function (args, kwargs)
    return run(f, in_dims, out_dims, args, kwargs)
  end, "vmap")
end, "vmap")

return M
