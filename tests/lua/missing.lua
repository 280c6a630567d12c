-- TEST: ranks={2,4} world={threads,mpi} needs=data same=1
-- SPDX-License-Identifier: MIT
-- Operators of the user's own: define, missing strategy and its report, rules,
-- gradients, and every error a definition or a rule can make.

local T = require "tests.lua.lib.check"

local mesh = dt.init_device_mesh("cpu", {dt.world_size()},
  {mesh_dim_names = {"tp"}})
local p = dt.arange(32, {dtype = dt.f32}):view(8, 4)
local x = dt.distribute_tensor(p, mesh, {Shard(0)})

dt.library.define("my::twice(Tensor x, float k=2.0) -> Tensor", {
  impl = function (t, k) return t * k end,
  backward = function (ctx, g) return g * ctx.args[2] end,
})
local twice = dt.ops.my.twice.default

local function missing()
  T.close(twice(p), (p * 2):tolist()[1] and p * 2, "on plain tensors")
  local e = T.raises("MISSING", "Operator my.twice.default does not have a "
    .. "sharding strategy registered.", function ()
      local y = twice(x) return y end)
  T.eq(e.class, "NotImplementedError", "class")
  local text = tostring(e)
  T.has(text, "no sharding strategy for my.twice.default", "head")
  T.has(text, "arg 0 x", "argument")
  T.has(text, "Shard(0)        valid", "the doctor tried rows")
  T.has(text, "Shard(1)        valid", "and columns")
  T.has(text, "dt.register_sharding(dt.ops.my.twice.default", "Lua to paste")
  T.has(text, "@register_sharding(torch.ops.my.twice.default)", "Python")
  print(text)
end

-- An operator that may not be cut along the dimension it sums.
local function doctor_says_no()
  dt.library.define("my::rowsum(Tensor x) -> Tensor", {
    impl = function (t) return t - t:sum(1, true) end})
  local e = T.raises("MISSING", "my.rowsum.default", function ()
    local y = dt.ops.my.rowsum.default(x) return y end)
  local text = tostring(e)
  T.has(text, "Shard(0)        valid", "rows can be cut")
  T.has(text, "Shard(1)        not valid", "columns cannot")
end

local function rules()
  dt.register_sharding("my::twice", function (t)
    local list = {{{Replicate()}, {Replicate(), dt.None}}}
    for d = 0, t.ndim - 1 do
      list[#list + 1] = {{Shard(d)}, {Shard(d), dt.None}}
    end
    return list
  end)
  local w = x:detach():requires_grad_()
  local y = twice(w, 3.0)
  T.eq(tostring(y.placements[1]), "S(0)", "cut as the input")
  T.close(y:full_tensor():detach(), p * 3, "values")
  y:sum():backward()
  T.close(w.grad:full_tensor(), dt.full({8, 4}, 3.0), "gradient")
  T.raises("MIXED", "my.twice2.default", function ()
    dt.library.define("my::twice2(Tensor a, Tensor b) -> Tensor", {
      impl = function (a, b) return a + b end})
    local z = dt.ops.my.twice2.default(x, p)
    return z
  end)
end

local function bad_definitions()
  local define = dt.library.define
  T.raises("PARSE", 'expected "::"', define, "garbage((", {impl = print})
  T.raises("VALUE", "same name and overload name", define,
    "my::twice(Tensor x) -> Tensor", {impl = print})
  T.raises("VALUE", "same name and overload name", define,
    "aten::add.Tensor(Tensor x) -> Tensor", {impl = print})
  T.raises("TYPE", "how.impl must be a function", define,
    "my::z(Tensor x) -> Tensor", {})
  T.raises("TYPE", "schema must be a string", define, 3, {})
  define("my::raises(Tensor x) -> Tensor",
    {impl = function () error("inside") end})
  T.raises("LUA", "inside", dt.ops.my.raises.default, p)
  define("my::number(Tensor x) -> Tensor", {impl = function () return 3 end})
  T.raises("TYPE", "result 0 of the implementation is a number",
    dt.ops.my.number.default, p)
  define("my::shape(Tensor x) -> Tensor", {
    impl = function (t) return t:sum() end, meta = function (t) return t end})
  T.raises("SHAPE", "another shape than its meta function said",
    dt.ops.my.shape.default, p)
  define("my::nested(Tensor x) -> Tensor", {
    impl = function (t) return twice(t, 2.0) + 1 end})
  T.close(dt.ops.my.nested.default(p), p * 2 + 1, "operators within operators")
end

local function bad_rules()
  local register = dt.register_sharding
  T.raises("KEY", "my.nope.default", register, "my::nope", print)
  dt.library.define("my::rs(Tensor x) -> Tensor",
    {impl = function (t) return t + 0 end})
  local rs = dt.ops.my.rs.default
  local function with(part, rule)
    register("my::rs", rule)
    T.raises("PROP", part, function () local y = rs(x) return y end)
  end
  with("not iterable", function () return nil end)
  with("input_specs(0) != strategies(1", function ()
    return {{{Shard(0)}, {}}} end)
  with('"Q"', function () return {{{"Q"}, {Shard(0)}}} end)
  with("from the rule", function () error("from the rule") end)
  with("no valid sharding strategy", function () return {} end)
  with("one side is a number", function () return {{3, 4}} end)
  register("my::rs", function () return {{{Replicate()}, {Replicate()}}} end)
  T.eq(tostring(rs(x).placements[1]), "R", "a rule can be replaced")
end

missing()
doctor_says_no()
rules()
bad_definitions()
bad_rules()
T.finish()
