-- SPDX-License-Identifier: MIT
-- dt/diagnose/scenarios.lua: what the repro of a class does.
--
-- A scenario is {mesh=, setup={lines}, fail=, fixes={{text=, lua=}}, torch=,
-- ranks=, silent=}: `fail` must raise what the report says, each fix must not.
-- First what the report's own call allows (its arguments were parsed), then
-- the samples of its operator, then a fixed scene of the class.

local script = require "dt.diagnose.script"
local facts = require "dt.diagnose.facts"
local releases = require "dt.diagnose.release"
local switched = require "dt.diagnose.switched"

local M = {}

local function all_r(mesh) return ("R "):rep(#mesh.shape):sub(1, -2) end

local function placements(list) return table.concat(list, " ") end

local dtypes = {f32 = "float32", f64 = "float64", f16 = "float16",
  bf16 = "bfloat16", i64 = "int64", i32 = "int32", i16 = "int16", i8 = "int8",
  u8 = "uint8", bool = "bool", b8 = "bool", c64 = "complex64",
  c128 = "complex128", f8e4m3fn = "float8_e4m3fn"}

-- ---- the report's own call ---------------------------------------------

local MAX_ELEMENTS = 1 << 24

local function count(shape)
  local n = 1.0
  for _, s in ipairs(shape) do n = n * math.max(s, 1) end
  return n
end

-- Source of a value as PyTorch prints it, or nil.
local function literal(text)
  if text == "None" then return "dt.None" end
  if text == "True" or text == "False" then return text:lower() end
  if text:find "^%-?%d+$" or text:find "^%-?%d+%.%d*$"
    or text:find "^%-?%d+%.?%d*e%-?%d+$" then
    return text
  end
  local list = text:match "^%[([%d%s,%-]*)%]$"
  if list then return "{" .. list .. "}" end
  local dtype = text:match "^torch%.(%w+)$"
  if dtype and dtypes[dtype] == nil then
    for _, name in pairs(dtypes) do
      if name == dtype then return "dt." .. dtype end
    end
  end
end

-- Lines that make the arguments, and their names; nil when one cannot be made.
local function make_args(args, mesh)
  local lines, names, n = {}, {}, 0
  local function tensor(a)
    if not a.shape or count(a.shape) > MAX_ELEMENTS or #a.shape > 8 then
      return nil
    end
    n = n + 1
    local name = ("t%d"):format(n)
    local dtype = dtypes[a.dtype or "f32"] or "float32"
    local make = ("dt.ones(%s, {dtype = dt.%s})"):format(script.list(a.shape),
      dtype)
    if a.kind == "dtensor" then
      if #a.placements ~= #mesh.shape then return nil end
      lines[#lines + 1] = ("local %s = dt.distribute_tensor(%s, mesh, %q)")
        :format(name, make, placements(a.placements))
    else
      lines[#lines + 1] = ("local %s = %s"):format(name, make)
    end
    return name
  end
  for i, a in ipairs(args) do
    local name
    if a.kind == "list" then
      local items = {}
      for k, x in ipairs(a.items) do items[k] = tensor(x) end
      if #items ~= #a.items then return nil end
      name = "{" .. table.concat(items, ", ") .. "}"
    elseif a.kind == "value" then
      name = literal(a.text)
    else
      name = tensor(a)
    end
    if not name then return nil end
    names[i] = name
  end
  return lines, names, n
end

-- The mesh of the arguments: of the report, or of the length they need.
local function mesh_for(r)
  local want
  for _, a in ipairs(r.args) do
    local s = a.kind == "list" and a.items[1] or a
    if s and s.placements then want = want or #s.placements end
    if s and s.mesh and #r.meshes == 0 then r.meshes[1] = s.mesh end
  end
  local mesh = script.mesh_of(r, {shape = {2, 2}})
  if want and #mesh.shape ~= want then
    local shape = {}
    for i = 1, want do shape[i] = 2 end
    mesh = script.mesh_of({meshes = {}}, {shape = shape})
  end
  return mesh
end

-- Arguments by name, with distributed ones replicated.
local function replicated(names, mesh)
  local out = {}
  for i, name in ipairs(names) do
    out[i] = name:gsub("t%d+", function (t)
      return ("(%s.is_dtensor and %s:redistribute(mesh, %q) or %s)"):format(
        t, t, all_r(mesh), t)
    end)
  end
  return table.concat(out, ", ")
end

-- Arguments by name, with distributed ones gathered.
local function whole(names)
  local text = table.concat(names, ", ")
  return (text:gsub("t%d+", function (t)
    return ("(%s.is_dtensor and %s:full_tensor() or %s)"):format(t, t, t)
  end))
end

-- `body` where an operator may not move its inputs unasked.
local function explicitly(body)
  return ("dt._set_explicit_redist(2) local ok, e = pcall(function () %s end) "
    .. "dt._set_explicit_redist(0) if not ok then error(e, 0) end"):format(body)
end

local function from_call(r)
  local op = script.op_name(r.op)
  if not op or #r.args == 0 then return nil end
  local any = false
  for _, a in ipairs(r.args) do any = any or a.kind ~= "value" end
  if not any then return nil end
  local mesh = mesh_for(r)
  local lines, names = make_args(r.args, mesh)
  if not lines then return nil end
  local call = script.op_call(op)
  local fixes = {{text = "replicate the inputs first",
    lua = ("return %s(%s)"):format(call, replicated(names, mesh))}}
  if r.class.id == "dynamic-output-shape" then
    fixes[1] = {text = "go through the full tensor",
      lua = ("return %s(%s)"):format(call, whole(names))}
  end
  local base = op:match "^%w+%.([%w_]-)_%."
  if base then
    local out = op:gsub("_%.", ".")
    fixes[#fixes + 1] = {text = "the out-of-place form",
      lua = ("return %s(%s)"):format(script.op_call(out),
        table.concat(names, ", "))}
  end
  local fail = ("return %s(%s)"):format(call, table.concat(names, ", "))
  if r.class.id == "implicit-redistribution-forbidden" then
    fail, fixes = explicitly(fail), {{text = "redistribute explicitly before it",
      lua = explicitly(fixes[1].lua)}}
  end
  return {mesh = mesh, setup = lines, fail = fail, fixes = fixes}
end

-- ---- samples of the operator -------------------------------------------

local function aten_op(r)
  local op = script.op_name(r.op)
  return op and op:find "^aten%." and op or nil
end

-- One tensor of the sample stays plain.  When the message names no operator,
-- an addition shows it as well as any.
local function from_samples_mixed(r)
  local op = aten_op(r) or not r.op and "aten.add.Tensor"
  if not op or op:find "^npu" then return nil end
  local mesh = script.mesh_of(r, {shape = {4}, names = {"dp"}})
  local R = all_r(mesh)
  local setup = {
    ("local op = %s"):format(script.op_call(op)),
    ("local function spread(t) return dt.distribute_tensor(t, mesh, %q) end")
      :format(R),
    "local plain = 2",
    "local function mixed(t, i) return i == plain and t or spread(t) end"}
  return {mesh = mesh, setup = setup, fail = "return dt.testing.call_sample(op, mixed, 2)",
    fixes = {
      {text = "distribute the plain operand", lua = "return dt.testing.call_sample(op, spread, 2)"},
      {text = "run the region on local tensors", lua =
        "return dt.testing.call_sample(op, function (t) return spread(t):to_local() end, 2)"},
      {text = "implicit_replication, when it is equal on all ranks", lua =
        "return dt.implicit_replication(function () return dt.testing.call_sample(op, mixed, 2) "
        .. "end)"},
    }}
end

-- Lists that an operator takes behind its first and before what the overload says.
local more_lists <const> = {lerp = 1, addcmul = 2, addcdiv = 2}

-- List operators: their last argument follows from the overload.
local function foreach_call(r)
  local op = aten_op(r)
  local name, over = (op or ""):match "^aten%._foreach_([%w_]-)_?%.(%a+)$"
  if not over then return nil end
  local lists = (", {db, db}"):rep(more_lists[name] or 0)
  if over == "default" then return op, lists end
  if over == "Scalar" then return op, lists .. ", 2" end
  if over == "List" then return op, lists .. ", {db, db}" end
  if over == "Tensor" then return op, lists .. ", dt.tensor(2.0)" end
end

-- The release before the operator got its strategy.
local function release_without(r, op)
  local span = facts.ops().span[op]
  local order = releases.releases
  local mine = r.torch and r.torch.release
  if not span then return mine end
  local number = releases.number
  if mine and number(mine) < number(span[1]) then return mine end
  for i, name in ipairs(order) do
    if name == span[1] then return order[i - 1] or mine end
  end
end

-- The report's release where a switch is on in it, else a middle one of those in
-- which it is.
local function release_with(r, switch)
  local span = switched[switch]
  local first, last = releases.number(span[1]), releases.number(span[2])
  local mine = r.torch and r.torch.release
  local n = mine and releases.number(mine)
  return n and n >= first and n <= last and mine
    or releases.name((first + last) // 2)
end

local function from_foreach(r, is_mixed)
  local op, rest = foreach_call(r)
  if not op then return nil end
  local mesh = script.mesh_of(r, {shape = {4}, names = {"dp"}})
  local call = script.op_call(op)
  local function of(items, others)
    return ("return %s({%s}%s)"):format(call, items, others or rest)
  end
  return {mesh = mesh, torch = not is_mixed and release_without(r, op) or nil,
    setup = {"local a, b = dt.ones(8), dt.ones(8)",
      ("local da, db = dt.distribute_tensor(a, mesh, %q), "
        .. "dt.distribute_tensor(b, mesh, %q)"):format(all_r(mesh),
        all_r(mesh))},
    fail = of(is_mixed and "da, b" or "da, db"),
    fixes = {is_mixed and {text = "put the stragglers on the mesh",
        lua = of("da, db")} or nil,
      {text = is_mixed and "separate lists for plain and distributed tensors"
        or "run the region on local tensors",
        lua = of("a, b", (rest:gsub("db", "b")))}}}
end

local function from_samples_missing(r)
  local op = aten_op(r)
  if not op or r.op:find "^npu" then return nil end
  local mesh = script.mesh_of(r, {shape = {4}, names = {"tp"}})
  local R = all_r(mesh)
  local S = ("S(0)" .. (" R"):rep(#mesh.shape - 1))
  return {mesh = mesh, torch = release_without(r, op),
    setup = {
      ("local op = %s"):format(script.op_call(op)),
      ("local function spread(t) return dt.distribute_tensor(t, mesh, "
        .. "t.ndim > 0 and %q or %q) end"):format(S, R)},
    fail = "return dt.testing.call_sample(op, spread)",
    fixes = {
      {text = "run the region on local tensors", lua =
        ("return dt.testing.call_sample(op, function (t) return dt.distribute_tensor(t, mesh, "
        .. "%q):to_local() end)"):format(R)},
    }}
end

-- An operator nobody here has: defined for the purpose.
local function from_custom(r)
  local op = script.op_name(r.op)
  if not op or script.known_op(op) or op:find "^aten%." or op:find "fusion_attention"
    or op:find "^prims%." or op:find "%.out$" or op:find "^c10d%."
    or op:find "^_c10d" then
    return nil
  end
  local ns, base = op:match "^([^.]+)%.([^.]+)%."
  local mixed = r.class.id:find "^mixed" ~= nil
  local mesh = script.mesh_of(r, {shape = {4}, names = {"tp"}})
  local R = all_r(mesh)
  local call = ("dt.ops[%q][%q].default"):format(ns, base)
  local second = mixed and "b" or "db"
  return {mesh = mesh, setup = {
      ("dt.library.define(%q, {impl = function (a, b) return a + b end, meta "
        .. "= function (a) return dt.empty(a.shape) end})"):format(
        ("%s::%s(Tensor a, Tensor b) -> Tensor"):format(ns, base)),
      "local a, b = dt.ones(8, 4), dt.ones(8, 4)",
      ("local da, db = dt.distribute_tensor(a, mesh, %q), "
        .. "dt.distribute_tensor(b, mesh, %q)"):format(R, R)},
    fail = ("return %s(da, %s)"):format(call, second),
    fixes = {
      {text = "run the region on local tensors",
        lua = ("return %s(da:to_local(), db:to_local())"):format(call)},
      {text = "register the operator's sharding", before =
        ("dt.register_sharding(%s, function () return {{{Replicate()}, "
        .. "{Replicate(), Replicate()}}} end)"):format(call),
        lua = ("return %s(da, db)"):format(call)},
    }}
end

-- ---- fixed scenes ------------------------------------------------------

local scenes = setmetatable({}, {__index = require "dt.diagnose.scenes"})

scenes["submesh-of-submesh"] = function (r)
  local mesh = script.mesh_of(r, {shape = {2, 2, 2},
    names = {"ddp", "fsdp", "abcd"}})
  if #mesh.shape < 3 then
    mesh = script.mesh_of({meshes = {}}, {shape = {2, 2, 2},
      names = {"ddp", "fsdp", "abcd"}})
  end
  local a, b = mesh.names[1], mesh.names[2]
  return {mesh = mesh, torch = release_with(r, "SUBMESH_REFUSED"),
    setup = {("local slice = mesh[{%q, %q}]"):format(a, b)},
    fail = ("return slice[%q]"):format(b),
    fixes = {
      {text = "slice from the root mesh", lua = ("return mesh[%q]"):format(b)},
      {text = "two dimensions instead of three", lua =
        ('local flat = dt.init_device_mesh("cpu", {%d, 2}, {mesh_dim_names = '
        .. '{%q, %q}}); return flat[%q]'):format(mesh.size // 2, a, b, b)},
    }}
end

scenes["mixed-attention-operand"] = function (r)
  if r.op and not r.op:find "fusion_attention" then return nil end
  return {ranks = 4, device = "npu",
    mesh = script.mesh_of({meshes = {}}, {shape = {4}, names = {"cp"}}),
    setup = {'require "dt.npu"',
      "local attention = dt.ops.npu.npu_fusion_attention.default",
      "local function new() return dt.ones(2, 4, 8, 4) end",
      "local mask = dt.ones({8, 8}, {dtype = dt.bool}):tril():logical_not()",
      'local q, k, v = dt.distribute_tensor(new(), mesh, "S(2)"), '
        .. 'dt.distribute_tensor(new(), mesh, "S(2)"), '
        .. 'dt.distribute_tensor(new(), mesh, "S(2)")',
      'local dmask = dt.distribute_tensor(mask, mesh, "R")',
      "local R, None = Replicate(), dt.None"},
    fail = 'return attention(q, k, v, 4, "BNSD", mask, 0.5)',
    fixes = {
      {text = "every input distributed (then the strategy is missing)",
        lua = 'return attention(q, k, v, 4, "BNSD", dmask, 0.5)'},
      {text = "every input distributed and register_sharding for the operator",
        before = "dt.register_sharding(attention, function (_, _, _, _, _, m)"
          .. " return {{{R, R, R}, {R, R, R, None, None, m and R or None, "
          .. "None}}} end)",
        lua = 'return attention(q, k, v, 4, "BNSD", dmask, 0.5)'},
    }}
end

scenes["backend-op-missing"] = function (r)
  if not r.op or not r.op:find "fusion_attention" then return nil end
  local s = scenes["mixed-attention-operand"](r)
  s.fail = s.fixes[1].lua
  table.remove(s.fixes, 1)
  return s
end

scenes["xla-sharded-tensor"] = function ()
  return {ranks = 4, device = "xla",
    mesh = script.mesh_of({meshes = {}}, {shape = {4}, names = {"tp"}}),
    setup = {'local tp = require "dt.parallel"',
      'local Toy = nn.Module:extend("Toy")',
      "function Toy:__init__() self.a, self.b = nn.Linear(8, 16), "
        .. "nn.Linear(16, 4) end",
      "function Toy:forward(x) return self.b(F.relu(self.a(x))) end"},
    fail = "return tp.parallelize_module(Toy(), mesh, {a = "
      .. "tp.ColwiseParallel(), b = tp.RowwiseParallel()})",
    fixes = {
      {text = "place the parameters by hand", lua = [[
local m = Toy()
  local function put(layer, name, pl)
    layer[name] = nn.Parameter(dt.distribute_tensor(layer[name]:detach(), mesh,
      pl))
  end
  put(m.a, "weight", "S(0)") put(m.a, "bias", "S(0)")
  put(m.b, "weight", "S(1)") put(m.b, "bias", "R")
  return m(dt.distribute_tensor(dt.ones(2, 8), mesh, "R"))
]]}}}
end

-- The line of a mesh in Python.
local function python_mesh(mesh)
  local sizes, names = {}, {}
  for i, n in ipairs(mesh.shape) do
    sizes[i] = ("%d,"):format(n)
    names[i] = ("%q,"):format(mesh.names[i])
  end
  return ('mesh = init_device_mesh("cpu", (%s), mesh_dim_names=(%s))\n'):format(
    table.concat(sizes, " "), table.concat(names, " "))
end

-- The names the message says the mesh has, two ranks each (at most 8).
local function named_mesh(r)
  local said = r.doc.flat:match "Valid mesh_dim_names are [%[%(]([^%]%)]+)"
  local names, shape = {}, {}
  for name in (said or ""):gmatch "['\"]([%a_][%w_]*)['\"]" do
    names[#names + 1] = name
    shape[#shape + 1] = #shape < 3 and 2 or 1
  end
  if #names == 0 or #names > 6 then return nil end
  return script.mesh_of({meshes = {}}, {shape = shape, names = names})
end

-- The one name that was asked for; "nowhere" when several or none are named.
local function asked_name(r)
  local name = r.doc.flat:match
    "Invalid mesh_dim_names? %(?['\"]?%(?['\"]([%a_][%w_]*)['\"],?%)? specified"
  return name or "nowhere"
end

scenes["implicit-redistribution-forbidden"] = function ()
  return {ranks = 2, mesh = script.mesh_of({meshes = {}}, {shape = {2},
      names = {"tp"}}),
    setup = {'local x = dt.distribute_tensor(dt.ones(8, 8), mesh, "S(0)")',
      'local y = dt.distribute_tensor(dt.ones(8, 8), mesh, "S(1)")'},
    fail = explicitly "return x + y", fixes = {
      {text = "redistribute explicitly before it",
        lua = explicitly 'return x + y:redistribute(mesh, "S(0)")'}}}
end

scenes["invalid-mesh-dim-name"] = function (r)
  local mesh = named_mesh(r)
    or script.mesh_of(r, {shape = {2, 2}, names = {"dp", "tp"}})
  local asked = asked_name(r)
  for _, name in ipairs(mesh.names) do
    if name == asked then asked = "nowhere" end
  end
  return {mesh = mesh, fail = ("return mesh[%q]"):format(asked),
    python = python_mesh(mesh) .. ('mesh["%s"]\n'):format(asked), fixes = {
    {text = "a name the mesh has",
      lua = ("return mesh[%q]"):format(mesh.names[1])}}}
end

scenes["mesh-dim-required"] = function (r)
  local mesh = script.mesh_of(r, {shape = {2, 2}, names = {"dp", "tp"}})
  if #mesh.shape < 2 then return nil end
  return {mesh = mesh, fail = "return mesh:get_group()",
    python = python_mesh(mesh) .. "mesh.get_group()\n", fixes = {
    {text = "one axis", lua = ("return mesh[%q]:get_group()"):format(
      mesh.names[1])},
    {text = "name the dimension", lua = "return mesh:get_group(0)"}}}
end

scenes["mesh-larger-than-world"] = function ()
  return {ranks = 4, fail = 'return dt.init_device_mesh("cpu", {3, 3})',
    python = 'init_device_mesh("cpu", (3, 3))\n',
    fixes = {{text = "as many ranks as the mesh has",
      lua = 'return dt.init_device_mesh("cpu", {2, 2})'}}}
end

local function one_mesh(r)
  return script.mesh_of(r, {shape = {4}, names = {"tp"}})
end

scenes["redistribute-to-partial"] = function (r)
  local mesh = one_mesh(r)
  local P = "P(sum)" .. (" R"):rep(#mesh.shape - 1)
  return {mesh = mesh, setup = {
    ("local x = dt.distribute_tensor(dt.ones(8, 4), mesh, %q)"):format(
      all_r(mesh))},
    fail = ("return x:redistribute(mesh, %q)"):format(P), fixes = {
      {text = "ask for Replicate", lua = ("return x:redistribute(mesh, %q)")
        :format(all_r(mesh))}}}
end

scenes["redistribute-cross-mesh"] = function ()
  return {ranks = 4, setup = {
    'local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = '
      .. '{"a", "b"}})',
    'local x = dt.distribute_tensor(dt.ones(8, 4), mesh["a"], "S(0)")'},
    fail = 'return x:redistribute(mesh["b"], "R")', fixes = {
      {text = "gather, then distribute on the new mesh",
        lua = 'return dt.distribute_tensor(x:full_tensor(), mesh["b"], "R")'}}}
end

scenes["distribute-misuse"] = function (r)
  local mesh = one_mesh(r)
  local flat = r.doc.flat
  local R = all_r(mesh)
  if flat:find("leaf tensor", 1, true) then
    return {mesh = mesh, setup = {
      "local w = dt.ones(8, 4):requires_grad_()", "local x = w * 2"},
      fail = ("return dt.distribute_tensor(x, mesh, %q)"):format(R), fixes = {
        {text = "from_local inside the graph",
          lua = "return DTensor.from_local(x, mesh, " .. ("%q"):format(R)
            .. ")"}}}
  elseif flat:find("device_mesh.ndim", 1, true) then
    return {mesh = mesh, fail = ("return dt.distribute_tensor(dt.ones(8, 4), "
      .. "mesh, %q)"):format(R .. " R"), fixes = {
      {text = "one placement for each mesh dimension",
        lua = ("return dt.distribute_tensor(dt.ones(8, 4), mesh, %q)")
          :format(R)}}}
  end
  return {mesh = mesh, setup = {
    ("local x = dt.distribute_tensor(dt.ones(8, 4), mesh, %q)"):format(R)},
    fail = ("return dt.distribute_tensor(x, mesh, %q)"):format(
      "S(0)" .. (" R"):rep(#mesh.shape - 1)), fixes = {
      {text = "redistribute", lua = ("return x:redistribute(mesh, %q)")
        :format("S(0)" .. (" R"):rep(#mesh.shape - 1))}}}
end

scenes["clip-grad-cross-mesh"] = function ()
  return {ranks = 4, setup = {
    'local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = '
      .. '{"dp", "tp"}})',
    'local a = nn.Parameter(dt.distribute_tensor(dt.ones(8, 8), mesh, '
      .. '"S(0) R"))',
    'local b = nn.Parameter(dt.distribute_tensor(dt.ones(8), mesh["dp"], '
      .. '"S(0)"))',
    "a.grad, b.grad = dt.ones_like(a), dt.ones_like(b)"},
    fail = "return nn.utils.clip_grad_norm_({a, b}, 1.0)", fixes = {
      {text = "a norm for each mesh, then combine",
        lua = "local n1 = nn.utils.get_total_norm({a.grad}); local n2 = "
          .. "nn.utils.get_total_norm({b.grad}); return (n1:full_tensor()"
          .. ":pow(2) + n2:full_tensor():pow(2)):sqrt()"}}}
end

scenes["optimizer-cross-mesh"] = function ()
  return {ranks = 4, setup = {
    'local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = '
      .. '{"dp", "tp"}})',
    'local a = dt.distribute_tensor(dt.ones(4), mesh, "R R")',
    'local b = dt.distribute_tensor(dt.ones(4), mesh["dp"], "R")'},
    fail = "return dt.ops.aten.add.Tensor(a, b)", fixes = {
      {text = "put every parameter on one mesh",
        lua = "return dt.ops.aten.add.Tensor(a, dt.distribute_tensor("
          .. 'dt.ones(4), mesh, "R R"))'}}}
end

scenes["view-flatten-sharded-dim"] = function (r)
  -- uneven only where the message says so: evenly cut, newer releases run it
  local n = r.doc.flat:find("unevenly", 1, true) and 7 or 8
  return {ranks = 2, mesh = script.mesh_of({meshes = {}}, {shape = {2},
      names = {"tp"}}),
    setup = {('local x = dt.distribute_tensor(dt.ones(2, %d, 4), mesh, "S(1)")')
      :format(n)},
    fail = ("return x:view({%d})"):format(8 * n), fixes = {
      {text = "shard the leftmost dimension, or replicate, before the layer",
        lua = ('return x:redistribute(mesh, "S(0)"):view({%d})'):format(8 * n)},
      {text = "replicate first",
        lua = ('return x:redistribute(mesh, "R"):view({%d})'):format(8 * n)}}}
end

scenes["view-unflatten-uneven"] = function ()
  return {ranks = 4, mesh = script.mesh_of({meshes = {}}, {shape = {4},
      names = {"tp"}}),
    setup = {'local x = dt.distribute_tensor(dt.ones(4, 12), mesh, "S(1)")'},
    fail = "return x:view({4, 2, 6})", fixes = {
      {text = "replicate, reshape, shard again",
        lua = 'return x:redistribute(mesh, "R"):view({4, 2, 6})'},
      {text = "a first factor the mesh divides",
        lua = "return x:view({4, 4, 3})"}}}
end

-- The placements that the message says the input has, in Lua; and whether one
-- of them is partial.  nil: none, or some that are not read here.
local function stated_placements(flat)
  local said = flat:match "The input has placements? (%b())"
  if not said then return nil end
  local out, partial = {}, false
  for name, inner in said:sub(2, -2):gmatch "(_?%a+)(%b())" do
    local value = inner:match "%(d?i?m?=?([%w_]*)%)"
    if name == "Shard" and math.tointeger(tonumber(value)) then
      out[#out + 1] = ("Shard(%s)"):format(value)
    elseif name == "Replicate" then
      out[#out + 1] = "Replicate()"
    elseif name == "Partial" and value and value:find "^%a*$" then
      out[#out + 1] = ("Partial(%s)"):format(value == "" and ""
        or ("%q"):format(value))
      partial = true
    else
      return nil
    end
  end
  if #out == 0 or #out > 3 then return nil end
  return "{" .. table.concat(out, ", ") .. "}", #out, partial
end

-- The operator of the report, in place on a tensor of the placements it says;
-- where that does not raise, as its other operands are not known, clamp_.
local function inplace_of_report(r)
  local said, n, partial = stated_placements(r.doc.flat)
  local space, name, overload = (r.op or ""):match "^([%w_]+)%.([%w_]+)%.([%w_]+)$"
  if not said or not name or name == "clamp_" or not name:find "_$"
     or not script.known_op(r.op) then
    return nil
  end
  local shape = {}
  for i = 1, n do shape[i] = 2 end
  local first = partial and ("DTensor.from_local(t, mesh, %s)")
    or "dt.distribute_tensor(t, mesh, %s)"
  local all, ops = {}, "dt.ops[%q][%q][%q]"
  for i = 1, n do all[i] = "Replicate()" end
  -- The other operands: replicated, sharded otherwise, partial.
  local setup = {"local function others(t, how)",
    "  if how == 1 or t.ndim == 0 then return dt.distribute_tensor(t, mesh, {"
      .. table.concat(all, ", ") .. "}) end",
    ("  if how == 2 then return dt.distribute_tensor(t, mesh, {%s}) end")
      :format(table.concat(all, ", "):gsub("Replicate%(%)$", "Shard(t.ndim - 1)")),
    ("  return DTensor.from_local(t, mesh, {%s})")
      :format((table.concat(all, ", "):gsub("Replicate", "Partial"))),
    "end",
    "local function target(t, whole)",
    "  local x = " .. first:format(said),
    ("  return whole and x:redistribute(mesh, {%s}) or x"):format(
      table.concat(all, ", ")),
    "end",
    "local function call(op, whole)",
    "  for how = 1, 3 do",
    "    local k = 0",
    "    dt.testing.call_sample(op, function (t)",
    "      k = k + 1",
    "      return k == 1 and target(t, whole) or others(t, how)",
    "    end)", "  end", "end"}
  local plain = name:gsub("_$", "")
  local fixes = {}
  if script.known_op(space .. "." .. plain .. "." .. overload) then
    fixes[1] = {text = "the out-of-place form", lua = ("return call(%s)")
      :format(ops:format(space, plain, overload))}
  end
  fixes[#fixes + 1] = {text = "redistribute first, then write in place",
    lua = ("return call(%s, true)"):format(ops:format(space, name, overload))}
  return {ranks = 1 << n, mesh = script.mesh_of({meshes = {}}, {shape = shape}),
    setup = setup, fail = ("call(%s); return DTensor.from_local(dt.ones(4), "
      .. "mesh, {%s}):clamp_({min = 0, max = 10})"):format(ops:format(space,
      name, overload), (table.concat(all, ", "):gsub("Replicate", "Partial"))),
    fixes = fixes}
end

scenes["inplace-placement-change"] = function (r)
  local own = inplace_of_report(r)
  if own then return own end
  return {ranks = 4, mesh = script.mesh_of({meshes = {}}, {shape = {4},
      names = {"dp"}}),
    setup = {'local x = DTensor.from_local(dt.ones(4), mesh, {Partial()})'},
    fail = "return x:clamp_({min = 0, max = 10})", fixes = {
      {text = "the out-of-place form",
        lua = "return x:clamp({min = 0, max = 10})"},
      {text = "redistribute first",
        lua = 'return x:redistribute(mesh, "R"):clamp_({min = 0, max = 10})'}}}
end

scenes["tp-heads-not-divisible"] = function (r)
  local sizes, n = r.doc.flat:match
    "shape '%[([%d, %-]+)%]' is invalid for input of size (%d+)"
  if not sizes then return nil end         -- made-up sizes would decide it
  local view, known = {}, 1
  for s in sizes:gmatch "%-?%d+" do
    view[#view + 1] = math.tointeger(tonumber(s))
    if tonumber(s) > 0 then known = known * tonumber(s) end
  end
  n = math.tointeger(tonumber(n))
  if not n or n > MAX_ELEMENTS or #view > 8 then return nil end
  return {ranks = 1, setup = {("local k = dt.ones(%d)"):format(n)},
    fail = ("return k:view(%s)"):format(script.list(view)), fixes = {
      {text = "choose a tp degree that divides num_key_value_heads",
        lua = ("return dt.ones(%d):view(%s)"):format(known,
          script.list(view))}}}
end

scenes["from-local-uneven-shape"] = function ()
  return {ranks = 2, mesh = script.mesh_of({meshes = {}}, {shape = {2},
      names = {"dp"}}),
    setup = {"local x = dt.ones(dt.rank() == 0 and 3 or 2, 4)"},
    fail = "return DTensor.from_local(x, mesh, {Shard(0)}, {shape = {5, 4}})",
    fixes = {{text = "pass shape and stride of the whole tensor",
      lua = "return DTensor.from_local(x, mesh, {Shard(0)}, {shape = {5, 4}, "
        .. "stride = {4, 1}})"}}}
end

scenes["grad-norm-is-partial-dtensor"] = function ()
  return {ranks = 4, mesh = script.mesh_of({meshes = {}}, {shape = {4},
      names = {"dp"}}),
    silent = "item() of the norm is this rank's part: it differs from "
      .. "full_tensor()",
    setup = {'local g = dt.distribute_tensor(dt.ones(16), mesh, "S(0)")',
      "local n = dt.ops.aten.linalg_vector_norm.default(g, 2)"},
    fail = "assert(n:to_local():item() ~= n:full_tensor():item(), 'equal')",
    fixes = {{text = "reduce before reading, on all ranks",
      lua = "assert(n:full_tensor():item() == 4, 'not 4')"}}}
end

scenes["global-shape-as-local"] = function ()
  return {ranks = 4, mesh = script.mesh_of({meshes = {}}, {shape = {4},
      names = {"fsdp"}}),
    silent = "shape is global: a buffer of that shape is 4 times too large",
    setup = {'local x = dt.distribute_tensor(dt.ones(8), mesh, "S(0)")'},
    fail = "assert(x:numel() == 4 * x:to_local():numel())", fixes = {
      {text = "the local shape", lua = "return x:to_local() + "
        .. "dt.zeros(x:to_local().shape)"}}}
end

-- ---- choosing ----------------------------------------------------------

local mixed = {["mixed-tensor-dtensor"] = true,
  ["mixed-load-state-dict"] = true, ["mixed-fsdp2-non-forward-entry"] = true,
  ["mixed-activation-checkpoint-recompute"] = true,
  ["mixed-attention-operand"] = true, ["mixed-optimizer-group"] = true,
  ["cp-backend-or-mask"] = true, ["flex-attention-dtensor"] = true,
  ["inference-mode-composite"] = true, ["index-put-and-select"] = true}
local missing = {["missing-sharding-strategy"] = true,
  ["backend-op-missing"] = true, ["index-put-and-select"] = true,
  ["moe-router-full-dtensor"] = true, ["fp8-subclass-inside-dtensor"] = true,
  ["inference-mode-composite"] = true, ["mixed-attention-operand"] = true}

-- The scenario for a report, or nil.
function M.find(r)
  local id = r.class.id
  local dumped = r.op_how == "dump"             -- its text is not printed
  local said_mixed = r.doc.flat:find("got mixed", 1, true)
    or dumped and mixed[id]
  local said_missing = r.doc.flat:find("sharding strategy", 1, true)
    or dumped and missing[id]
  if r.op and r.op:find "^npu%.npu_fusion" then
    local s = scenes[said_missing and not said_mixed and "backend-op-missing"
      or "mixed-attention-operand"](r)
    if s then return s end
  end
  if said_mixed and mixed[id] then
    local s = from_foreach(r, true) or from_samples_mixed(r)
      or from_custom(r)
    if s then return s end
  elseif said_missing and missing[id] then
    local s = from_foreach(r, false) or from_samples_missing(r) or from_custom(r)
    if s then return s end
  end
  local s = not said_mixed and id ~= "hidden-redistribution" and from_call(r)
  if s then return s end
  return scenes[id] and scenes[id](r)
end

return M
