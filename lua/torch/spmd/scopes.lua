-- SPDX-License-Identifier: MIT
-- torch/spmd/scopes.lua: spmd_types' blocks in Python programs: the current
-- mesh, typecheck, no_typecheck, local, local_map, trace and the filter of
-- tracebacks.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local args = require "python.args"
local asserts_py = require "torch.spmd.assert"
local values = require "torch.spmd.values"
local asserts = require "dt.spmd.assert"
local axes = require "dt.spmd.axes"
local say = require "dt.spmd.say"
local state = require "dt.spmd.state"
local trace = require "dt.spmd.trace"

local core = dt._spmd
local F = {}
local None, def, given = dt.None, args.def, args.given

-- A context manager of two functions.
local function scope(enter, leave)
  local token
  return attrs.namespace {
    __enter__ = function ()
      token = table.pack(enter())
      return None
    end,
    __exit__ = function ()
      leave(table.unpack(token, 1, token.n))
      return false
    end}
end

-- ---- the current mesh ----

local function size_of(id) return core.axis_info(id).size end

-- Where an axis begins: the outermost one has the largest stride.
local function stride_of(id)
  local part = core.axis_info(id).layout[1]
  return part and part[2] or 0
end

local function group_text(v)
  local name = V.type_name(v)
  return name == "ProcessGroup" and "torch._C._distributed_c10d.ProcessGroup"
    or name
end

-- What is given as a mesh: its axes outermost first, names in order.
local function read_mesh(v)
  local ids, names = {}, {}
  if util.is_mesh(v) then
    if not v.mesh_dim_names then
      util.raise("ValueError", "set_current_mesh() requires a DeviceMesh with "
        .. "named dimensions (mesh_dim_names)")
    end
    ids = axes.of_mesh(v)
    for i, name in ipairs(v.mesh_dim_names) do names[i] = {name, ids[i]} end
    return ids, names, v
  elseif V.is_dict(v) then
    for name, axis in V.each(v) do
      if not values.MeshAxis.test(axis) then
        -- A group has a size, and fails at what is asked next.
        util.raise("AttributeError", "'%s' object has no attribute '%s'",
          group_text(axis), axes.of_group(axis) and "layout" or "size")
      end
      ids[#ids + 1] = values.axis_id(axis)
      names[#names + 1] = {name, ids[#ids]}
    end
  else
    if type(v) == "table" and axes.of_group(v) and not V.is_seq(v) then
      util.raise("TypeError", "'%s' object is not iterable", group_text(v))
    end
    local items, n = V.items(v)
    for i = 1, n do
      ids[i] = values.MeshAxis.of.call(V.list {items[i]}).axis_id
    end
  end
  table.sort(ids, function (a, b) return stride_of(a) > stride_of(b) end)
  return ids, names
end

-- The axes of more than one rank, each once.
local function larger(ids)
  local out, had = {}, {}
  for _, id in ipairs(ids) do
    if size_of(id) > 1 and not had[id] then out[#out + 1] = id end
    had[id] = true
  end
  return out
end

local function tuple_text(list)
  local out = {}
  for i, v in ipairs(list) do out[i] = V.repr(v) end
  return "(" .. table.concat(out, ", ") .. (#out == 1 and ",)" or ")")
end

local function axis_names(ids)
  local out = {}
  for i, id in ipairs(ids) do out[i] = core.axis_info(id).name end
  return "(" .. table.concat(out, ", ") .. ")"
end

-- The local axes as numbers: the outermost ones of the mesh.
local function read_local(given_axes, ids, names)
  local items, n = V.items(given_axes)
  local by_name, unknown, out, known = {}, {}, {}, {}
  for i, pair in ipairs(names) do
    by_name[pair[1]] = pair[2]
    known[i] = pair[1]
  end
  for i = 1, n do
    local v = items[i]
    local id = type(v) == "string" and by_name[v]
      or type(v) ~= "string" and values.axis_id(v)
    if not id then unknown[#unknown + 1] = v else out[#out + 1] = id end
  end
  if #unknown > 0 then
    util.raise("ValueError", "local_axes contains names not present in this "
      .. "mesh: %s; available names: %s", tuple_text(unknown),
      tuple_text(known))
  end
  local is_local, over = {}, false
  for _, id in ipairs(out) do is_local[id] = true end
  for _, id in ipairs(ids) do
    if is_local[id] and over then
      util.raise("ValueError", "local_axes must come before all global axes in "
        .. "outer-to-inner mesh order; got local_axes=%s for mesh=%s",
        axis_names(out), axis_names(ids))
    end
    over = over or not is_local[id]
  end
  return out
end

local function enter_mesh(a)
  local ids, names, device
  local before = state.mesh()
  if given(a.axes) then
    ids, names, device = read_mesh(a.axes)
    local sorted = larger(ids)
    table.sort(sorted, function (x, y)
      return core.axis_info(x).name < core.axis_info(y).name
    end)
    asserts.check_orthogonal(sorted)
  elseif not before then
    util.raise("RuntimeError", "set_current_mesh() without axes requires a "
      .. "current mesh")
  else
    ids, names, device = before.axes, before.names or {}, before.device_mesh
  end
  local by_name = {}
  for _, pair in ipairs(names) do by_name[pair[1]] = pair[2] end
  ids = larger(ids)
  local token = state.set_mesh(ids, {by_name = by_name, device_mesh = device,
    local_axes = given(a.local_axes) and read_local(a.local_axes, ids, names)
    or {}})
  state.mesh().names, state.mesh().device_mesh = names, device
  return token
end

F.set_current_mesh = def("set_current_mesh", {"axes?", "*", "local_axes?"},
  function (a)
    return scope(function () return enter_mesh(a) end, state.leave_mesh)
  end)

F.current_mesh = def("current_mesh", {}, function ()
  local mesh = state.mesh()
  return mesh and asserts_py.frozen(mesh.axes) or None
end)

local function names_of(all)
  local mesh = state.mesh()
  if not mesh then return None end
  local d = V.dict()
  for _, pair in ipairs(mesh.names or {}) do
    if all or size_of(pair[2]) > 1 then
      V.dict_set(d, pair[1], values.axis(pair[2]))
    end
  end
  return d
end
F.current_mesh_names = def("current_mesh_names", {}, function ()
  return names_of(false)
end)
F.current_mesh_all_names = def("current_mesh_all_names", {}, function ()
  return names_of(true)
end)

-- ---- modes ----

F.is_type_checking = def("is_type_checking", {}, function ()
  return state.on()
end)

local function mode(v)
  if given(v) then return V.truth(v) end
end

F.typecheck = def("typecheck", {"strict_mode?", "local?"}, function (a)
  return scope(function ()
    local calls = trace.calls
    if not state.inside() then trace.calls = trace.on end
    local strict
    if given(a.strict_mode) then strict = a.strict_mode == "strict" end
    return state.enter {strict = strict,
      ["local"] = mode(a["local"])}, calls
  end, function (token, calls)
    state.leave(token)
    trace.calls = calls
  end)
end)

-- f() with a mode; what leaves it is run in any case.
local function within(enter, leave, f, ...)
  local token = enter()
  local out = table.pack(pcall(f, ...))
  leave(token)
  if not out[1] then error(out[2], 0) end
  return out[2]
end

local function enter_local()
  return state.on() and state.enter {["local"] = true} or false
end
local function leave_local(token)
  if token then state.leave(token) end
end
local function pause() return state.on() and state.pause() or false end
local function resume(token)
  if token then state.resume(token) end
end

F["local"] = def("local", {}, function ()
  return scope(enter_local, leave_local)
end)

-- ---- boundaries ----

local Infer = setmetatable({shown = "Infer"}, {__name = "_InferType",
  opaque = true, __tostring = function () return "Infer" end})
F.Infer = Infer

local function wrong(name, ...)
  util.raise("SpmdTypeError", "local_map[%s]: %s", name, (...):format(
    select(2, ...)))
end

-- "NoneType", "spmd_types.types.PartitionSpec"
local function class_text(v)
  local own = type(v) == "table" and (values.is_spec(v)
    and "spmd_types.types.PartitionSpec" or v == Infer
    and "spmd_types.runtime._InferType")
  return own or V.type_name(v)
end

local function is_pair(spec)
  return V.is_tuple(spec) and not values.is_spec(spec) and spec.n == 2
    and V.is_dict(spec[1]) and (spec[2] == None or values.is_spec(spec[2]))
end

local function check_leaf(name, kind, v, spec)
  if not util.is_tensor(v) then
    if spec ~= None then
      wrong(name, "a %s is not a tensor but its %s_types leaf = %s", kind, kind,
        V.repr(spec))
    end
    return
  end
  if spec == None then
    wrong(name, "a %s is a tensor but its %s_types leaf is None (non-tensor "
      .. "expected)", kind, kind)
  end
  local types, dims = spec, None
  if values.is_spec(spec) then
    types, dims = V.dict(), spec
  elseif is_pair(spec) then
    types, dims = spec[1], spec[2]
  elseif not V.is_dict(spec) then
    wrong(name, "invalid spec leaf %s; expected a per-axis dict, a (dict, "
      .. "PartitionSpec | None) tuple, a PartitionSpec, or None.",
      V.repr(spec))
  end
  asserts_py.assert_type(v, V.list({types}, 1), dims)
end

local check_tree

-- What PyTorch says of trees that differ.
local function no_match(name, kind, ...)
  wrong(name, "%s_types pytree structure does not match %s: Node %s", kind,
    kind, (...):format(select(2, ...)))
end

local function is_box(v)
  return V.is_list(v) or V.is_dict(v)
    or V.is_tuple(v) and rawget(v, "called") == nil
end

local function keys_text(d, other)
  local list = {}
  for k in V.each(d) do
    if V.dict_get(other, k) == nil then list[#list + 1] = V.repr(k) end
  end
  return #list > 0 and "{" .. table.concat(list, ", ") .. "}" or nil
end

local function check_dict(name, kind, v, spec)
  local missing, more = keys_text(v, spec), keys_text(spec, v)
  if missing or more then
    no_match(name, kind, "keys mismatch%s%s.", missing and "; missing key(s): "
      .. missing or "", more and "; unexpected key(s): " .. more or "")
  end
  for k, x in V.each(v) do
    check_tree(name, kind, x, V.dict_get(spec, k))
  end
end

-- Leaves are where the values have them, whatever the types have there.
check_tree = function (name, kind, v, spec)
  if not is_box(v) then
    if spec == Infer then
      wrong(name, "%s_types contains Infer at a leaf; only the bare value of "
        .. "in_types may be Infer.", kind)
    end
    check_leaf(name, kind, v, spec)
    return
  end
  if not is_box(spec) or V.type_name(spec) ~= V.type_name(v) then
    no_match(name, kind, "type mismatch; expected <class '%s'>, but got <class "
      .. "'%s'>.", V.type_name(v), is_box(spec) and V.type_name(spec)
      or class_text(spec))
  elseif V.is_dict(v) then
    check_dict(name, kind, v, spec)
  elseif v.n ~= spec.n then
    no_match(name, kind, "arity mismatch; expected %d, but got %d.", v.n, spec.n)
  end
  for i = 1, V.is_dict(v) and 0 or v.n do
    check_tree(name, kind, v[i], spec[i])
  end
end

local function is_callable(f)
  return V.is_function(f) or type(f) == "function" or type(f) == "table"
    and not util.is_tensor(f) and (f.call ~= nil or getmetatable(f) ~= nil
    and getmetatable(f).__call ~= nil)
end

local function name_of(f)
  return type(f) == "table" and (rawget(f, "qualname") or rawget(f, "name"))
    or "<lambda>"
end

-- f with its inputs and outputs compared with trees of types; inside the mode
-- is what `enter` makes it.
local function bounded(f, ins, outs, enter, leave)
  local name = name_of(f)
  return V.builtin(function (a, kw)
    if not state.on() then return V.call(f, a, kw) end
    if ins ~= Infer then
      check_tree(name, "input", V.tuple({table.unpack(a, 1, a.n)}, a.n), ins)
    end
    local v = within(enter, leave, V.call, f, a, kw)
    check_tree(name, "output", v, outs)
    return v
  end, name)
end

F.local_map = def("local_map", {"*", "in_types?", "out_types"}, function (a)
  return V.builtin(function (b)
    if not is_callable(b[1]) then
      util.raise("AttributeError", "'%s' object has no attribute "
        .. "'__qualname__'", V.type_name(b[1]))
    end
    return bounded(b[1], a.in_types == nil and Infer or a.in_types,
      a.out_types, enter_local, leave_local)
  end, "local_map")
end)

F.no_typecheck = def("no_typecheck", {"fn?", "**kwargs"}, function (a)
  local named = #a.kwargs.keys > 0
  if given(a.fn) then
    if not V.is_function(a.fn) and type(a.fn) ~= "function" or named then
      util.raise("TypeError", "no_typecheck(fn) requires a callable and no "
        .. "type specifications")
    end
    return V.builtin(function (b, kw)
      return within(pause, resume, V.call, a.fn, b, kw)
    end, name_of(a.fn))
  end
  if not named then return scope(pause, resume) end
  local outs = V.dict_get(a.kwargs, "out_types")
  if outs == nil then
    util.raise("TypeError", "out_types is required for typed no_typecheck")
  end
  local ins = V.dict_get(a.kwargs, "in_types")
  return V.builtin(function (b)
    return bounded(b[1], ins == nil and Infer or ins, outs, pause, resume)
  end, "no_typecheck")
end)

F.register_no_typecheck = def("register_no_typecheck", {"fn"}, function (a)
  if getmetatable(a.fn) ~= V.func_mt then
    util.raise("TypeError", "register_no_typecheck: %s is not a Python "
      .. "function", V.repr(a.fn))
  end
  local f, body = a.fn, a.fn.body
  f.body = function (...)
    return (function (token, ...)
      resume(token)
      return ...
    end)(pause(), body(...))
  end
  return f
end)

-- ---- trace, filter ----

F.trace = def("trace", {"enabled?"}, function (a)
  local now = a.enabled == nil or V.truth(a.enabled)
  return scope(function ()
    local before = trace.on
    trace.on = now
    return before
  end, function (before) trace.on = before end)
end)

local MODES = {off = true, auto = true, tracebackhide = true,
  quiet_remove_frames = true, remove_frames = true}

F.traceback_filtering = def("traceback_filtering", {"mode?"}, function (a)
  local want = a.mode or "auto"
  if not MODES[want] then
    util.raise("ValueError", "Invalid traceback filtering mode: %s. Valid "
      .. "modes: ['auto', 'off', 'quiet_remove_frames', 'remove_frames', "
      .. "'tracebackhide']", V.repr(want))
  end
  return scope(function ()
    local before = say.filtering
    say.filtering = want == "auto" and "quiet_remove_frames" or want
    return before
  end, function (before) say.filtering = before end)
end)

return {functions = F, within = within, pause = pause, resume = resume}
