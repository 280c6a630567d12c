-- SPDX-License-Identifier: MIT
-- torch/mesh.lua: torch.distributed.device_mesh as Python sees it: the
-- class DeviceMesh, init_device_mesh, process groups of mesh dimensions, the
-- stack of meshes that `with mesh:` makes.  What a mesh may be is the
-- engine's matter (src/mesh); here are the arguments only Python can give.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local attributes = require "torch.attributes"
local args = require "python.args"

local M = {}
local None, given = dt.None, args.given
local def, method = args.def, args.method

-- ---- ranks as Python gives them ----

local function seq_of(v)
  if V.is_seq(v) then return v end
  if V.is_dict(v) or V.is_set(v) or type(v) == "table"
     and getmetatable(v) == nil then
    local items, n = V.items(v)
    return V.list(items, n)
  end
end

-- Nested lists of Python's as torch.tensor reads them: the sizes must fit.
local function nested(v, sizes, depth)
  if util.is_tensor(v) then v = V.from_lua(v:tolist()) end
  local seq = seq_of(v)
  if seq == nil then
    if type(v) == "string" then
      util.raise("ValueError", "too many dimensions 'str'")
    end
    if type(v) == "boolean" then return v and 1 or 0 end
    if type(v) ~= "number" then
      util.raise("TypeError", "object of type '%s' has no len()",
        V.type_name(v))
    end
    return math.tointeger(v >= 0 and math.floor(v) or math.ceil(v))
  end
  sizes[depth] = sizes[depth] or seq.n
  if sizes[depth] ~= seq.n then
    util.raise("ValueError", "expected sequence of length %d at dim %d (got "
      .. "%d)", sizes[depth], depth - 1, seq.n)
  end
  local out = {}
  for i = 1, seq.n do out[i] = nested(seq[i], sizes, depth + 1) end
  return out
end

local function ranks_of(mesh)
  if type(mesh) == "string" then
    util.raise("TypeError", "new(): invalid data type 'str'")
  elseif util.is_tensor(mesh) then
    if mesh.device == "meta" then
      util.raise("NotImplementedError", "Cannot copy out of meta tensor; no "
        .. "data!")
    end
    mesh = V.from_lua(mesh:tolist())
  end
  local sizes = {}
  return nested(mesh, sizes, 1), sizes
end

local function names_of(names)
  if not given(names) then return nil end
  local items, n = V.items(names)
  local out = {}
  for i = 1, n do out[i] = V.str(items[i]) end
  return out
end

-- ---- backends of dimensions ----

local known_backends = {gloo = true, nccl = true, mpi = true, ucc = true,
  xccl = true, fake = true}

-- One value of backend_override: a name, or a name with options.
local function check_backend(v)
  if V.is_tuple(v) then
    if given(v[2]) and type(v[2]) ~= "table" then
      util.raise("AttributeError", "'%s' object has no attribute '_timeout'",
        V.type_name(v[2]))
    end
    v = v[1]
  end
  if type(v) == "string" and not v:find(":", 1, true)
     and not known_backends[v:lower()] then
    dt._warn(("Device capability of %s unknown, assuming `cpu` and `cuda`. You "
      .. "can specify it in `device:backend` format in `init_process_group` "
      .. "call."):format(v))
    util.raise("AssertionError", "Unknown backend type %s", v)
  elseif given(v) and type(v) ~= "string" then
    util.raise("TypeError", "cannot unpack non-iterable %s object",
      V.type_name(v))
  end
end

local function check_backends(backends, ndim, names)
  local rest = V.dict()
  if V.is_dict(backends) then
    for key in V.each(backends) do V.dict_set(rest, key, true) end
  end
  for i = 0, ndim - 1 do
    local name = names and names[i + 1]
    local by_name = name and V.dict_get(rest, name)
    if by_name and V.dict_get(rest, i) then
      util.raise("RuntimeError", "Found redundant dim index %d and name %s in "
        .. "backend_override", i, name)
    end
    V.dict_remove(rest, by_name and name or i)
  end
  if V.count(rest) > 0 then
    local keys = {}
    for key in V.each(rest) do keys[#keys + 1] = key end
    util.raise("RuntimeError", "Found invalid keys in backend_override: got "
      .. "%s, expected integers in range [0, %d) or one of %s",
      V.repr(V.list(keys)), ndim, V.repr(V.tuple(names or {})))
  end
  if V.is_dict(backends) then
    for _, v in V.each(backends) do check_backend(v) end
  end
end

-- ---- process groups ----

local group_mt = {__name = "ProcessGroup", __tostring = function (g)
  return ("<torch.distributed.distributed_c10d.ProcessGroup object at %p>")
    :format(g)
end}

local made = 0                      -- groups, as PyTorch counts them
local world                         -- the group of all ranks, once asked for
local groups = {}                   -- all of them, in the order they were made

-- A group is neither pickled nor copied.
local function refuse_pickling()
  util.raise("TypeError",
    "cannot pickle 'torch._C._distributed_c10d.ProcessGroup' object")
end

-- A new group of `ranks`; with mesh and mesh_dim where it came from, and its
-- name, where that is known.
local function new_group(mesh, dim, ranks, name)
  local group
  local function size() return #ranks end
  local function rank()
    for i, r in ipairs(ranks) do
      if r == dt.rank() then return i - 1 end
    end
    return -1
  end
  group = attrs.namespace(setmetatable({mesh = mesh, mesh_dim = dim,
    ranks = ranks, size = size, rank = rank, group_name = name or tostring(made),
    group_desc = made == 0 and "default_pg" or "undefined",
    bound_device_id = None, _get_backend_name = function () return "gloo" end,
    name = function () return "gloo" end,
    boxed = function () return group end,
    specials = {__reduce_ex__ = refuse_pickling}}, group_mt))
  if not name then made = made + 1 end
  groups[#groups + 1] = group
  return group
end

-- PyTorch makes the groups of all parts of a mesh with it, dimension by dimension,
-- and each has a number: those of this rank's get the names they have there.
local numbered = setmetatable({}, {__mode = "k"})
local function number_groups(mesh)
  if numbered[mesh] or mesh.ndim < 2 then return end
  local total, names, at = dt.world_size(), {}, mesh:get_coordinate()
  if mesh:size() ~= total or not at then return end
  for d = 1, mesh.ndim do
    local index, n = 0, total // mesh.shape[d]
    for k = 1, mesh.ndim do
      if k ~= d then index = index * mesh.shape[k] + at[k] end
    end
    if n > 1 then
      names[d - 1] = tostring(made + index)
      made = made + n
    end
  end
  numbered[mesh] = names
end

-- Forget all groups: the world they are of ends.
local of_meshes = {}                -- by their ranks
function M.forget_groups()
  made, world, groups, of_meshes = 0, nil, {}, {}
end

-- Is the default group there?  At the prompt it is "given", and a program that is
-- pasted there may still make it; one of its own begins without, and
-- init_process_group() or a mesh makes it.
local begun = "given"
function M.begin_default(on)
  local before = begun
  begun = on
  return before
end
function M.has_default() return begun ~= false end
function M.is_given() return begun == "given" end

-- What PyTorch says of a call that needs the default group.
function M.need_default()
  if not begun then
    util.raise("ValueError", "Default process group has not been initialized, "
      .. "please make sure to call init_process_group.")
  end
end

-- All groups; the one of that name.
function M.groups() return groups end
function M.group_named(name)
  for _, group in ipairs(groups) do
    if group.group_name == name then return group end
  end
end

-- The group of all ranks: there is one.
local function world_group()
  if not world then
    local n, ranks = dt.world_size(), {}
    for i = 0, n - 1 do ranks[i + 1] = i end
    world = new_group(dt.init_device_mesh("cpu", {n}), 0, ranks)
  end
  return world
end
M.world_group = world_group

-- The group of a mesh's dimension, the same one each time and for each part of
-- the mesh; one of all ranks in their order is the world's.
local function make_group(mesh, dim, ranks)
  world_group()
  local whole = #ranks == dt.world_size()
  for i, r in ipairs(ranks) do whole = whole and r == i - 1 end
  if whole then return world end
  local key = table.concat(ranks, " ")
  if not of_meshes[key] then
    number_groups(mesh)
    local names = numbered[mesh]
    of_meshes[key] = new_group(mesh, dim, ranks, names and names[dim])
  end
  return of_meshes[key]
end

-- What PyTorch calls the group of these ranks ("0 2"), which a mesh has.
function M.name_of_ranks(key)
  local ranks = {}
  for r in key:gmatch "%d+" do ranks[#ranks + 1] = tonumber(r) end
  if #ranks == dt.world_size() then return world_group().group_name end
  if of_meshes[key] then return of_meshes[key].group_name end
  for mesh, names in pairs(numbered) do
    for dim, name in pairs(names) do
      if table.concat(mesh:get_group(dim), " ") == key then return name end
    end
  end
  return key
end

local function is_group(v) return getmetatable(v) == group_mt end
M.is_group = is_group

-- The group of a list of world ranks.
function M.group_of(ranks)
  world_group()
  local mesh = dt.DeviceMesh("cpu", ranks)
  return new_group(mesh, 0, mesh:ranks())
end

-- ---- methods of a mesh ----

local of_mesh, methods = attributes.of_mesh, attributes.mesh_method

-- Meshes made with _init_backend=False: they have no groups.
local bare = setmetatable({}, {__mode = "k"})

local function check_groups(m)
  if bare[m] then
    util.raise("RuntimeError", "DeviceMesh process groups not initialized!")
  end
end

-- The ranks as a tensor of the mesh's shape.
function of_mesh.mesh(m)
  local shape = {}
  for i, n in ipairs(m.shape) do shape[i] = n end
  local ranks = m:ranks()
  if m.ndim == 0 then return dt.tensor(ranks[1], {dtype = dt.int32}) end
  return dt.tensor(ranks, {dtype = dt.int32}):view(shape)
end

function of_mesh.shape(m)
  return V.tuple({table.unpack(m.shape)}, m.ndim)
end

-- The layout: what it is called is all that is asked of it.
function of_mesh._layout(m)
  return attrs.namespace(setmetatable({sizes = V.size(m.shape)},
    {__name = "_MeshLayout"}))
end

function of_mesh.mesh_dim_names(m)
  local names = m.mesh_dim_names
  return names and V.tuple(names) or None
end

-- The mesh dimension of an argument, by number or name; nil when not given.
local function mesh_dim(v)
  if not given(v) then return nil end
  if type(v) ~= "string" and math.type(v) ~= "integer" then
    util.raise("AssertionError", "mesh_dim must be an int, got <class '%s'>",
      V.type_name(v))
  end
  return v
end

methods.get_group = method("DeviceMesh.get_group", {"mesh_dim?"},
  function (m, a)
    check_groups(m)
    local dim = mesh_dim(a.mesh_dim)
    local ranks = m:get_group(dim)
    if type(dim) == "string" then
      for i, name in ipairs(m.mesh_dim_names) do
        if name == dim then dim = i - 1 end
      end
      if type(dim) == "string" then          -- of a flattened mesh
        return make_group(dt.DeviceMesh(m.device_type, ranks), 0, ranks)
      end
    end
    dim = dim or 0
    if dim < 0 then dim = dim + m.ndim end
    return make_group(m, dim, ranks)
  end)

methods.get_all_groups = method("DeviceMesh.get_all_groups", {},
  function (m)
    local out = {}
    for i = 0, m.ndim - 1 do out[i + 1] = make_group(m, i, m:get_group(i)) end
    return V.list(out)
  end)

methods.get_local_rank = method("DeviceMesh.get_local_rank", {"mesh_dim?"},
  function (m, a)
    return V.from_lua(m:get_local_rank(mesh_dim(a.mesh_dim)))
  end)

methods.get_rank = method("DeviceMesh.get_rank", {}, dt.rank)

methods.get_coordinate = method("DeviceMesh.get_coordinate", {},
  function (m)
    local at = m:get_coordinate()
    return at and V.tuple(at) or None
  end)

methods.size = method("DeviceMesh.size", {"mesh_dim?"}, function (m, a)
  local dim = a.mesh_dim
  if given(dim) and math.type(dim) ~= "integer" then
    util.raise("TypeError", "tuple indices must be integers or slices, not %s",
      V.type_name(dim))
  end
  return m:size(given(dim) and dim or nil)
end)

methods._flatten = method("DeviceMesh._flatten", {"mesh_dim_name?",
  "backend_override?"}, function (m, a)
  return m:_flatten(given(a.mesh_dim_name) and V.str(a.mesh_dim_name) or nil)
end)

methods._unflatten = method("DeviceMesh._unflatten", {"dim", "mesh_sizes",
  "mesh_dim_names", "backend_override?"}, function (m, a)
  return m:_unflatten(a.dim, V.to_lua(a.mesh_sizes),
    names_of(a.mesh_dim_names))
end)

methods._get_all_submeshes = method("DeviceMesh._get_all_submeshes",
  {"mesh_dim_name"}, function (m, a)
  local dim = -1
  if m:get_group(a.mesh_dim_name) then
    for i, name in ipairs(m.mesh_dim_names) do
      if name == a.mesh_dim_name then dim = i - 1 end
    end
  end
  local n, ranks, inner = m:size(dim), m:ranks(), 1
  for i = dim + 1, m.ndim - 1 do inner = inner * m:size(i) end
  local out = {}
  for first = 0, #ranks - 1 do
    if first // inner % n == 0 then
      local mine = {}
      for k = 0, n - 1 do mine[k + 1] = ranks[first + k * inner + 1] end
      out[#out + 1] = dt.DeviceMesh(m.device_type, mine,
        {mesh_dim_names = {a.mesh_dim_name}})
    end
  end
  return V.list(out)
end)

local of_engine = {ndim = true, device_type = true,
  _get_root_mesh = true}

-- Any other name: the engine would take it for a dimension's.
setmetatable(of_mesh, {__index = function (_, name)
  if methods[name] or of_engine[name] then return nil end
  return function (m) attrs.missing(m, name) end
end})

-- mesh[index]: names of dimensions.
function M.slice(m, index)
  M.look_at_slice(m, index)
  if type(index) == "string" then return m[{index}] end
  if not m.mesh_dim_names then
    util.raise("RuntimeError", "Cannot slice a DeviceMesh without "
      .. "mesh_dim_names!")
  end
  if not V.is_seq(index) then
    if dt._switch("SUBMESH_REFUSED") ~= 0 then  -- before the index is read
      local _ = m[{m.mesh_dim_names[1]}]
    end
    util.raise("TypeError", "'%s' object is not iterable", V.type_name(index))
  end
  for i = 1, index.n do
    if type(index[i]) ~= "string" then
      util.raise("KeyError", "%s", V.repr(("Invalid mesh_dim_names %s "
        .. "specified. Valid mesh_dim_names are %s."):format(V.repr(index),
        V.repr(V.list {table.unpack(m.mesh_dim_names)}))))
    end
  end
  return m[V.to_lua(index)]
end

-- look_at_slice(mesh, index): who is told of m["tp"] before (torch.spmd.mesh).
M.look_at_slice = function () end

-- ---- with mesh: ----

local stack = {}

-- The mesh of the innermost `with`; an error when there is none.
function M.current()
  local m = stack[#stack]
  if m == nil then
    util.raise("RuntimeError", "No device mesh is currently active!")
  end
  return m
end

function M.enter(m)
  stack[#stack + 1] = m
  return m
end

function M.leave() stack[#stack] = nil end
local kind = attributes.kinds.mesh
kind.getitem, kind.enter, kind.leave = M.slice, M.enter, M.leave
require("dt.parallel").current_mesh = M.current

require("dt.nn.parallel")._need_group = M.need_default
require("dt.fsdp")._begin_group = function () begun = begun or true end

-- Forget what was not left: a program ended inside.
function M.reset() stack = {} end

-- ---- the class ----

local function new_mesh(a)
  local names = names_of(a.mesh_dim_names)
  if not given(a.mesh) then
    util.raise("TypeError", "The mesh argument is required except for PRIVATE "
      .. "USAGE ONLY!")
  elseif given(a._layout) or given(a._rank_map) then
    util.raise("TypeError", "Cannot provide _layout and/or _rank_map if "
      .. "passing explicit mesh")
  end
  local ranks, sizes = ranks_of(a.mesh)
  local over = a.backend_override
  if given(over) then
    local n = type(over) == "string" and #over or over.n or 0
    if n ~= #sizes then
      util.raise("ValueError", "backend_override should have the same length "
        .. "as the number of mesh dimensions, but got %d and %d.", n, #sizes)
    end
  end
  if names and #names < #sizes then
    util.raise("IndexError", "tuple index out of range")
  end
  if names then names = {table.unpack(names, 1, #sizes)} end
  if a._init_backend ~= false then begun = begun or true end
  local m = dt.DeviceMesh(V.str(a.device_type), ranks, {mesh_dim_names = names})
  if a._init_backend == false then bare[m] = true end
  return m
end

local function group_ranks(groups)
  if is_group(groups) then return groups end
  local items, n = V.items(groups)
  return nil, items, n
end

local function from_group(a)
  local one, _, n = group_ranks(a.group)
  local names = names_of(a.mesh_dim_names)
  local device = V.str(a.device_type)
  if one then
    if given(a.mesh) then
      local ranks = ranks_of(a.mesh)
      local same = type(ranks) == "table" and #ranks == #one.ranks
      for i, r in ipairs(same and ranks or {}) do
        same = same and r == one.ranks[i]
      end
      if not same then
        util.raise("ValueError", "Invalid mesh %s for ProcessGroup with ranks "
          .. "%s", V.str(a.mesh), util.python_text(one.ranks))
      end
    end
    return dt.DeviceMesh(device, {table.unpack(one.ranks)},
      {mesh_dim_names = names})
  end
  if n == 0 then
    util.raise("ValueError", "Expects at least one ProcessGroup to be passed")
  elseif not given(a.mesh) then
    util.raise("ValueError", "Must pass mesh if passing multiple "
      .. "ProcessGroups")
  elseif names == nil then
    util.raise("ValueError", "Must pass mesh_dim_names if passing multiple "
      .. "ProcessGroups")
  end
  local ranks, sizes = ranks_of(a.mesh)
  if #sizes ~= n then
    util.raise("ValueError", "Expects mesh with ndim equal to number of "
      .. "ProcessGroups but got mesh %s and %d ProcessGroups",
      util.python_text(ranks), n)
  end
  return dt.DeviceMesh(device, ranks, {mesh_dim_names = names})
end

M.DeviceMesh = args.class("DeviceMesh", {
  test = util.is_mesh,
  new = def("DeviceMesh.__init__", {"device_type", "mesh?", "*",
    "mesh_dim_names?", "backend_override?", "_init_backend?", "_rank?",
    "_layout?", "_rank_map?", "_root_mesh?"}, new_mesh, 1),
  from_group = def("DeviceMesh.from_group", {"group", "device_type", "mesh?",
    "*", "mesh_dim_names?"}, from_group),
  _concatenate = def("DeviceMesh._concatenate", {"device_mesh_list"},
    function (a)
      local items, n = V.items(a.device_mesh_list)
      local list = {}
      for i = 1, n do
        if not util.is_mesh(items[i]) then
          util.raise("AttributeError", "'%s' object has no attribute "
            .. "'_flatten_rank_map'", V.type_name(items[i]))
        end
        list[i] = items[i]
      end
      return dt.DeviceMesh._concatenate(list)
    end),
})

-- The name of a kind of device.
local function device_name(v)
  if type(v) ~= "string" then attrs.missing(v, "isalpha") end
  return v
end

M.init_device_mesh = def("init_device_mesh", {"device_type", "mesh_shape", "*",
  "mesh_dim_names?", "backend_override?"}, function (a)
  local names = names_of(a.mesh_dim_names)
  local items, n = V.items(a.mesh_shape)
  local shape = {}
  for i = 1, n do
    shape[i] = items[i]
    if math.type(shape[i]) ~= "integer" then
      util.raise("ValueError", "sizes %s and strides (1,) don't match",
        V.repr(a.mesh_shape))
    end
  end
  if given(a.backend_override) then
    check_backends(a.backend_override, n, names)
  end
  begun = begun or true
  local mesh = dt.init_device_mesh(device_name(a.device_type), shape,
    {mesh_dim_names = names})
  world_group()
  number_groups(mesh)           -- each mesh makes its own
  return mesh
end)

local function renamed(name, f)
  return V.builtin(function (a)
    dt._warn(("This %s API will be deprecated soon.Please use `%s` inside "
      .. "DeviceMesh instead."):format(name, name))
    return f(a)
  end, name)
end

M.module = attrs.namespace {
  DeviceMesh = M.DeviceMesh, init_device_mesh = M.init_device_mesh,
  _mesh_resources = attrs.namespace {
    get_current_mesh = V.builtin(M.current, "get_current_mesh"),
    get_root_mesh = renamed("get_root_mesh", function (a)
      return a[1]:_get_root_mesh()
    end),
    _get_all_submeshes = renamed("_get_all_submeshes", function (a)
      return methods._get_all_submeshes(a[1], V.list {a[2]})
    end),
  },
}
attrs.provide("torch.distributed.device_mesh", M.module)

return M
