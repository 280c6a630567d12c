-- SPDX-License-Identifier: MIT
-- torch/vmap.lua: torch.vmap for Python programs.
--
-- As in PyTorch the function is called once, with tensors that hide one
-- dimension; every operator on them becomes one on the whole tensors, by a
-- rule of the operator.  So DTensors keep their placements.  An operator
-- without a rule here runs row by row (vmap_rows.lua), or is refused by name.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local spaces = require "torch.spaces"
local builtin_names = require "python.builtin_names"
local attrs = require "python.attrs"
local call = require "python.call"
local eval = require "python.eval"
local F = require "dt.functional"
local spatial = require "dt.functional.spatial"

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
    def __getattr__(self, name): return _other(self, name)
    def __getitem__(self, at): return _rows("__getitem__", self, at)
    def __setitem__(self, at, v): _rows("__setitem__", self, at, v)
    def __and__(self, o): return _rows("__and__", self, o)
    def __or__(self, o): return _rows("__or__", self, o)
    def __invert__(self): return _rows("__invert__", self)
    def __eq__(self, o): return _apply("eq", self, o)
    def __ne__(self, o): return _apply("ne", self, o)
    def __hash__(self): return id(self)
    def __len__(self): return self.shape[0]
    def __iter__(self): return iter([self[i] for i in range(len(self))])
    def __rtruediv__(self, o): return _apply("reciprocal", self) * o
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

local function whole(v) return is_batched(v) and v.value or v end

-- Dims that the function sees.
local function ndim(v)
  if is_batched(v) then return ndim(v.value) - 1 end
  return util.is_tensor(v) and v.ndim or 0
end

local function wrap(value)
  local v = V.call(class, V.list({value}, 1))
  rawset(v, "ndim", ndim(v))            -- for modules in Lua: they ask no property
  return v
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
    for i = 2, args.n do                -- of an outer vmap, beside one that is not
      if is_batched(list[i]) and not is_batched(list[1]) then
        return wrap(RULE[name](V.list(list, args.n), kw))
      end
    end
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

-- f by its name without a rule: row by row (vmap_rows.lua).
local rows = require "torch.vmap_rows" {wrap = wrap, is_batched = is_batched,
  mode = function () return M.randomness, M.size end}

for _, name in ipairs {"flatten", "unflatten"} do       -- modules in Lua call them
  RULE[name] = function (args, kw) return whole(rows.method(name, args, kw)) end
end

local function apply(name, args, kw, f)
  local rule = RULE[name]
  if not rule or rows.has_tensor(kw) then       -- rules take tensors by place
    return rows.apply(name, f or spaces.F[name] or spaces.torch[name], args, kw)
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
    _other = builtin(function (a) return rows.other(a[1], a[2]) end, "_other"),
    _rows = builtin(function (a)
      return rows.method(a[1], V.list({table.unpack(a, 2, a.n)}, a.n - 1))
    end, "_rows"),
    _truth = builtin(truth, "_truth"), _item = builtin(no_item, "_item"),
    _apply = builtin(function (a, kw)
      return apply(a[1], V.list({table.unpack(a, 2, a.n)}, a.n - 1), kw)
    end, "_apply")}, {__index = builtin_names})}
  eval.run(source(), env)
  class = env.vars._Batched
end

-- The name by which torch or F has a function, or nil.
local function name_of(f)
  for _, space in ipairs {spaces.torch, spaces.F, spaces.torch.linalg,
      spaces.torch.special, spaces.torch.fft} do
    for name, v in pairs(space) do
      if rawequal(v, f) and type(name) == "string" then return name end
    end
  end
  return nil
end

-- Calls of torch's functions with such tensors.
local function seen(f, args, kw)
  if M.size and rows.is_draw(f, args, kw) then return rows.draw(f, args, kw) end
  if not rows.has_batched(args) and not (kw and rows.has_batched(kw)) then
    return false
  end
  local name = name_of(f)
  if not name then return false end
  return true, apply(name, args, kw, f)
end

-- ---- the library's own modules ----

-- While a function runs under vmap, what modules written in Lua call by F.name
-- takes such tensors as well.
local function taking(name, plain)
  return function (...)
    local any, n = false, select("#", ...)
    local list, kw = {...}, nil
    for i = 1, n do any = any or is_batched(list[i]) end
    local last = list[n]
    while n > 0 and list[n] == nil do n = n - 1 end
    local named = type(last) == "table" and getmetatable(last) == nil
    if named then
      for _, v in pairs(last) do any = any or is_batched(v) end
    end
    if not any then return plain(...) end
    if named then
      kw, n = V.dict(), n - 1
      last.inplace = nil                -- modules go on with the result
      for key, v in pairs(last) do V.dict_set(kw, key, V.from_lua(v)) end
    end
    for i = 1, n do list[i] = V.from_lua(list[i]) end
    return apply(name, V.list({table.unpack(list, 1, n)}, n), kw)
  end
end

local patches = 0
function M.patch()
  local saved = {}
  patches = patches + 1
  if patches == 1 then
    for _, space in ipairs {F, spatial} do
      saved[space] = {}
      for name, plain in pairs(space) do
        if type(plain) == "function" then saved[space][name] = plain end
      end
      for name, plain in pairs(saved[space]) do
        space[name] = taking(name, plain)
      end
    end
  end
  return setmetatable({}, {__close = function ()
    patches = patches - 1
    for space, names in pairs(saved) do
      for name, plain in pairs(names) do space[name] = plain end
    end
  end})
end

-- What torch.func.grad needs of a tensor: a leaf with the hidden dim, for one
-- that is the same for all rows too; the whole of a result; a part of one.
-- own(t): the leaf that stands for a whole tensor.
function M.leaf(v, own)
  if M.size == nil then return nil end
  local t = whole(v)
  if is_batched(t) or not util.is_tensor(t) then return nil end
  if not is_batched(v) then
    t = t:unsqueeze(0):expand({M.size, table.unpack(v.shape)})
  end
  t = own(t)
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

local function is_box(v)
  return not is_batched(v) and (V.is_seq(v) or V.is_dict(v) and not V.is_set(v))
end

-- A tree of lists, tuples and dicts, as PyTorch prints its structure.
local function spec_text(v, indent)
  if not is_box(v) then return "*" end
  local parts, keys, inner = {}, None, indent .. "  "
  if V.is_dict(v) then
    keys = {}
    for k, x in V.each(v) do
      keys[#keys + 1], parts[#parts + 1] = k, spec_text(x, inner)
    end
    keys = V.list(keys)
  else
    for i = 1, v.n do parts[i] = spec_text(v[i], inner) end
  end
  return ("TreeSpec(%s, %s, [%s])"):format(V.is_dict(v) and "dict"
    or V.is_tuple(v) and "tuple" or "list", V.repr(keys),
    table.concat(parts, ",\n" .. inner))
end

-- walk(d, v, leaf): the tree v with leaf(x, dim) in place of each x of it whose
-- dim `d`, a number or a tree of them, says; nil where the trees differ.
local walk

local function walk_dict(d, v, leaf)
  local out = V.dict()
  if type(d) == "table" and not (V.is_dict(d)
      and select(2, V.items(d)) == select(2, V.items(v))) then
    return nil
  end
  for k, x in V.each(v) do
    local own = d
    if type(d) == "table" then own = V.dict_get(d, k) end
    local new
    if own ~= nil then new = walk(own, x, leaf) end
    if new == nil then return nil end
    V.dict_set(out, k, new)
  end
  return out
end

local function walk_seq(d, v, leaf)
  local out = {}
  if type(d) == "table" and not (V.is_seq(d) and d.n == v.n
      and V.is_tuple(d) == V.is_tuple(v)) then
    return nil
  end
  for i = 1, v.n do
    out[i] = walk(type(d) == "table" and d[i] or d, v[i], leaf)
    if out[i] == nil then return nil end
  end
  return (V.is_tuple(v) and V.tuple or V.list)(out, v.n)
end

function walk(d, v, leaf)
  if d == None then return v end
  if not is_box(v) then
    if is_box(d) then return nil end
    return leaf(v, d)
  end
  return (V.is_dict(v) and walk_dict or walk_seq)(d, v, leaf)
end

local function check_given(name, told, in_dims, args)
  if math.type(in_dims) ~= "integer" and not V.is_tuple(in_dims) then
    fail("vmap(%s, in_dims=%s, ...)(<inputs>): expected `in_dims` to be int or "
      .. "a (potentially nested) tuple matching the structure of inputs, got: "
      .. "%s.", name, told,
      V.str(V.call(attrs.get(builtin_names, "type"), V.list {in_dims})))
  end
  if args.n == 0 then
    fail("vmap(%s)(<inputs>): got no inputs. Maybe you forgot to add inputs, "
      .. "or you are trying to vmap over a function with no inputs. The latter "
      .. "is unsupported.", name)
  end
end

local function check_dim(name, told, v, d)
  local at = ("vmap(%s, in_dims=%s, ...)(<inputs>): Got in_dim=%s for "):format(
    name, told, V.str(d))
  if math.type(d) ~= "integer" then
    fail("%san input but in_dim must be either an integer dimension or None.",
      at)
  elseif not util.is_tensor(v) and not is_batched(v) then
    fail("%san input but the input is of type %s. We cannot vmap over "
      .. "non-Tensor arguments, please use None as the respective in_dim", at,
      V.str(V.call(attrs.get(builtin_names, "type"), V.list {v})))
  end
  local n = ndim(v)
  if d < -n or d >= n then
    fail("%ssome input, but that input is a Tensor of dimensionality %d so "
      .. "expected in_dim to satisfy -%d <= in_dim < %d.", at, n, n, n)
  end
  return d < 0 and d + n or d
end

-- The arguments with the dims hidden that in_dims says, and their common size.
local function hidden(name, in_dims, args)
  local told = V.str(in_dims)
  check_given(name, told, in_dims, args)
  local all, dims, sizes = V.tuple({table.unpack(args, 1, args.n)}, args.n), {},
    {}
  if not walk(in_dims, all, function (v, d)
    d = check_dim(name, told, v, d)
    dims[#dims + 1] = d
    sizes[#sizes + 1] = V.items(attrs.get(v, "shape"))[d + 1]
    return v
  end) then
    fail("vmap(%s, in_dims=%s, ...)(<inputs>): in_dims is not compatible with "
      .. "the structure of `inputs`. in_dims has structure %s but inputs has "
      .. "structure %s.", name, told, spec_text(in_dims, ""),
      spec_text(all, ""))
  end
  if #sizes == 0 then
    fail("vmap: Expected at least one Tensor to vmap over")
  end
  for _, s in ipairs(sizes) do
    if s ~= sizes[1] then
      fail("vmap: Expected all tensors to have the same size in the mapped "
        .. "dimension, got sizes [%s] for the mapped dimension",
        table.concat(sizes, ", "))
    end
  end
  local next = 0
  return walk(in_dims, all, function (v)
    next = next + 1
    if dims[next] ~= 0 then v = on(v, "movedim", dims[next], 0) end
    return wrap(v)
  end), sizes[1]
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
    fail("vmap(%s, ...): `%s` must only return Tensors, got type %s. "
      .. "Did you mean to set out_dims= to None for output?", name, name,
      V.str(V.call(attrs.get(builtin_names, "type"), V.list {v})))
  end
  local t = is_batched(v) and v.value
  if not t then                         -- the same for every row
    local sizes = V.items(attrs.get(v, "shape"))
    t = on(on(v, "unsqueeze", 0), "expand", size, table.unpack(sizes))
  end
  return out_dim == 0 and t or on(t, "movedim", 0, out_dim)
end

local function run(f, in_dims, out_dims, randomness, args, kw)
  define()
  local name = shown(f)
  local inner, size = hidden(name, in_dims, args)
  local before = call.set_seen(seen)
  local outer, drawn = M.size, M.randomness
  M.size, M.randomness = size, randomness
  local out = table.pack(pcall(function ()
    local patched <close> = M.patch()           -- luacheck: ignore patched
    return V.call(f, V.list(V.items(inner), args.n), kw)
  end))
  M.size, M.randomness = outer, drawn
  call.set_seen(before)
  if not out[1] then error(out[2], 0) end
  return opened(name, out[2], out_dims, size)
end

-- vmap(func, in_dims=0, out_dims=0): func over one more dim.
M.vmap = builtin(function (a, kw)
  local f = argument(a, kw, 1, "func")
  local in_dims = argument(a, kw, 2, "in_dims", 0)
  local out_dims = argument(a, kw, 3, "out_dims", 0)
  local randomness = argument(a, kw, 4, "randomness", "error")
  if not rows.MODES[randomness] then
    util.raise("RuntimeError", "Only allowed values for randomness are 'error', "
      .. "'different', or 'same'. Got %s", V.str(randomness))
  end
  return builtin(function (args, kwargs)
    return run(f, in_dims, out_dims, randomness, args, kwargs)
  end, "vmap")
end, "vmap")

return M
