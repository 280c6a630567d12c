-- SPDX-License-Identifier: MIT
-- dt/diagnose/messages.lua: repros that follow from the words of a message
-- alone: the names, sizes, placements and ranks that it prints are those of
-- the program, and nothing that decides the outcome is made up.
--
-- A row is {pattern, write}: what PyTorch prints, and a function of the report
-- and the captures that gives a scene as pyscenes.lua has them, or nil where
-- the captures cannot be brought about.  Only names and numbers that a pattern
-- let through get into a program.

local refused = require "dt.diagnose.messages_calls"
local checks = require "dt.diagnose.messages_checks"
local evidence = require "dt.diagnose.evidence"
local groups = require "dt.diagnose.messages_groups"
local mixed = require "dt.diagnose.messages_mixed"
local modules = require "dt.diagnose.messages_modules"
local operators = require "dt.diagnose.messages_operators"
local programs = require "dt.diagnose.programs"

local MAX_ELEMENTS <const> = programs.MAX_ELEMENTS
local MAX_RANKS <const> = 1 << 12
local integer, integers = programs.integer, programs.integers
local product, tuple = programs.product, programs.tuple
local quoted, names_in = programs.quoted, programs.names_in
local mesh_line, line = programs.mesh_line, programs.line
local fix, anew = programs.fix, programs.anew
local scene, placements = programs.scene, programs.placements
local placed, ranks_or = programs.placed, programs.ranks_or
local leading = programs.leading

local M = {}

-- ---- meshes ------------------------------------------------------------

local rows = {}

local function row(pattern, write) rows[#rows + 1] = {pattern, write} end

local function too_large(_, world, ranks)
  world, ranks = integer(world), integer(ranks)
  if not world or not ranks or ranks <= world or ranks > MAX_RANKS then
    return nil
  end
  return scene(world, "", "", ("init_device_mesh(\"cpu\", (%d,))"):format(ranks),
    {fix("as many ranks as the mesh has",
      ("init_device_mesh(\"cpu\", (%d,))"):format(world))})
end

row("bigger than default world size (%d+), but found (%d+) ranks", too_large)
row("bigger than default world size, but found (%d+) ranks", function (r, n)
  n = integer(n)
  return n and n >= 2 and too_large(r, ("%d"):format(n // 2), ("%d"):format(n))
end)

-- A string in parentheses is no tuple: its letters are taken for names.
row("mesh_shape and mesh_dim_names should have same length! Found "
  .. "len%(mesh_dim_names%): (%d+) and len%(mesh_shape%):%s?(%d+)",
  function (r, given, dims)
  given, dims = integer(given), integer(dims)
  if not given or not dims or given > 40 or dims < 1 or dims > 6 then
    return nil
  end
  local name = dims == 1 and r.doc.flat:match
    "mesh_dim_names=%([\"']([%a_][%w_]*)[\"']%)"
  local shape, right, wrong = {}, {}, {}
  for i = 1, dims do
    shape[i], right[i] = i <= 3 and 2 or 1, ("d%d"):format(i - 1)
  end
  for i = 1, given do wrong[i] = ("d%d"):format(i - 1) end
  local ranks = math.tointeger(product(shape))
  if name and #name == given then
    return scene(ranks, "", "", mesh_line(shape, nil):gsub("%)\n$",
      (", mesh_dim_names=(%q))"):format(name)), {
      fix("a tuple of one name needs its comma", (mesh_line(shape, {name})
        :gsub("\n$", "")))})
  end
  return scene(ranks, "", "", (mesh_line(shape, wrong):gsub("\n$", "")), {
    fix("one name for each dimension", (mesh_line(shape, right)
      :gsub("\n$", "")))})
end)

-- A mesh of the names that the message says there are.
local function named(names)
  local shape = {}
  for i = 1, #names do shape[i] = i <= 3 and 2 or 1 end
  return mesh_line(shape, names), math.tointeger(product(shape))
end

local function slice(names)
  return #names == 1 and ("mesh[%q]"):format(names[1])
    or ("mesh[%s]"):format(quoted(names):sub(2, -2))
end

row("Invalid mesh_dim_names? %(?(.-)%)? specified%. Valid mesh_dim_names are "
  .. "[%[%(](.-)[%]%)]", function (_, asked, valid)
  asked, valid = names_in(asked), names_in(valid)
  if #asked == 0 or #valid == 0 or #valid > 6 then return nil end
  local lines, ranks = named(valid)
  return scene(ranks, "", lines, slice(asked), {
    fix("a name the mesh has", slice {valid[1]})})
end)

row("Invalid mesh_dim_names? %(?(.-)%)? specified%. Mesh dim indices should be "
  .. "in ascending order", function (_, asked)
  asked = names_in(asked)
  if #asked < 2 or #asked > 6 then return nil end
  local valid = {}
  for i, name in ipairs(asked) do valid[#asked + 1 - i] = name end
  local lines, ranks = named(valid)
  return scene(ranks, "", lines, slice(asked), {
    anew("name the dimensions in the mesh's own order", lines .. slice(valid))})
end)

row("Mesh dimension '([%a_][%w_]*)' does not exist.-mesh_dim_names=%((.-)%)",
  function (_, asked, valid)
  valid = names_in(valid)
  if #valid == 0 or #valid > 6 then return nil end
  local lines, ranks = named(valid)
  return scene(ranks, "", lines, ("mesh.get_group(%q)"):format(asked), {
    fix("a name the mesh has", ("mesh.get_group(%q)"):format(valid[1]))})
end)

row("Cannot slice a DeviceMesh without mesh_dim_names!", function ()
  return scene(4, "", mesh_line {2, 2}, "mesh[\"tp\"]", {
    anew("name the dimensions when the mesh is made",
      mesh_line({2, 2}, {"dp", "tp"}) .. "mesh[\"tp\"]")})
end)

-- The shape of a mesh of n dimensions with at most eight ranks.
local function small_mesh(n)
  local shape = {}
  for i = 1, n do shape[i] = i <= 3 and 2 or 1 end
  return shape
end

row("Found the DeviceMesh have (%d+) dimensions", function (_, n)
  n = integer(n)
  if not n or n < 2 or n > 6 then return nil end
  local shape = small_mesh(n)
  return scene(math.tointeger(product(shape)), "", mesh_line(shape),
    "mesh.get_group()", {fix("name the dimension", "mesh.get_group(0)")})
end)

row("`?placements`? must have the same length as `?device_mesh%.ndim`?! Found "
  .. "placements length: (%d+), and device_mesh%.ndim: (%d+)",
  function (_, given, dims)
  given, dims = integer(given), integer(dims)
  if not given or not dims or given > 8 or dims < 1 or dims > 6 then
    return nil
  end
  local shape = small_mesh(dims)
  local call = "distribute_tensor(torch.ones(8, 4), mesh, [Replicate()] * %d)"
  return scene(math.tointeger(product(shape)), "", mesh_line(shape),
    call:format(given), {fix("one placement for each mesh dimension",
      call:format(dims))})
end)

row("Cannot distribute a DTensor with placements (%b()) to a different "
  .. "placements ([%(%[].-)%. do you want", function (_, from, to)
  local have, partial = placements(from)
  local want = placements(to)
  if not have or not want or #have > 3 then return nil end
  local shape = {}
  for i = 1, #have do shape[i] = 2 end
  local bracket = to:sub(1, 1) == "[" and "[%s]" or #want == 1 and "(%s,)"
    or "(%s)"
  local goal = bracket:format(table.concat(want, ", "))
  return scene(1 << #have, "", mesh_line(shape) .. placed(have, partial),
    "distribute_tensor(x, mesh, " .. goal .. ")", {
    fix("redistribute", "x.redistribute(mesh, " .. goal .. ")")})
end)

row("Cannot distribute a DTensor with device mesh .- to a different device "
  .. "mesh", function ()
  local lines = "from torch.distributed.device_mesh import DeviceMesh\n"
  return scene(4, lines, "first = DeviceMesh(\"cpu\", [0, 1])\n"
    .. "second = DeviceMesh(\"cpu\", [2, 3])\n"
    .. "x = distribute_tensor(torch.ones(8, 4), first, [Shard(0)])\n",
    "distribute_tensor(x, second, [Shard(0)])", {
    fix("gather, then distribute on the new mesh",
      "distribute_tensor(torch.ones(8, 4), second, [Shard(0)])")})
end)

row("[Cc]an ?not redistribute from (.-) to (.-), redistributing to Partial is",
  function (_, from, to)
  local have, partial = placements(from)
  local want = placements(to)
  if not have or not want or #have ~= #want or #have > 3 then return nil end
  local shape = {}
  for i = 1, #have do shape[i] = 2 end
  return scene(1 << #have, "", mesh_line(shape) .. placed(have, partial),
    ("x.redistribute(mesh, [%s])"):format(table.concat(want, ", ")), {
    fix("ask for Replicate", ("x.redistribute(mesh, [Replicate()] * %d)")
      :format(#have))})
end)

row("Found shape:[%a%.]*%(?([%[%(][%d, ]+[%]%)])%)?, stride:None", function (r,
  shape)
  local sizes = integers(shape)
  if #sizes == 0 or product(sizes) > MAX_ELEMENTS then return nil end
  local ranks = ranks_or(r, 2)
  local stride, step = {}, 1
  for i = #sizes, 1, -1 do
    stride[i] = step
    step = step * sizes[i]
  end
  local call = "DTensor.from_local(part, mesh, [Shard(0)], shape=%s%s)"
  local size = r.doc.flat:find("shape:torch.Size", 1, true)
    and ("torch.Size([%s])"):format(table.concat(sizes, ", ")) or tuple(sizes)
  return scene(ranks, "", line(ranks, "dp") .. ("part = torch.ones(%s)"
    .. ".tensor_split(%d)[dist.get_rank()]\n"):format(table.concat(sizes, ", "),
    ranks), call:format(size, ""), {fix("pass shape and stride of the whole "
    .. "tensor", call:format(size, ", stride=" .. tuple(stride)))})
end)

row("Inconsistent tensor metadata %(including shape and stride%) across ranks",
  function (r)
  local ranks = ranks_or(r, 2)
  local call = "DTensor.from_local(part, mesh, [Shard(0)], %s)"
  local rows_of_all = 2 * ranks + 1                -- one rank has one more
  return scene(ranks, "", line(ranks, "dp") .. ("part = torch.ones(%d, 4)"
    .. ".tensor_split(%d)[dist.get_rank()]\n"):format(rows_of_all, ranks),
    call:format "run_check=True", {fix("shape and stride of the whole, and no "
    .. "check", call:format(("shape=(%d, 4), stride=(4, 1)"):format(
    rows_of_all)))})
end)

-- ---- views -------------------------------------------------------------

local function view_mesh(index, size)
  local shape = {}
  for i = 1, index do shape[i] = 1 end
  shape[index + 1] = size
  local places = ("Replicate(), "):rep(index)
  return mesh_line(shape), places
end

row("Cannot flatten unevenly sharded tensor: dimension (%d+) %(size (%d+)%) is "
  .. "not evenly divisible by mesh dimension (%d+) %(size (%d+)%)",
  function (_, dim, size, index, ranks)
  dim, size, index, ranks = integer(dim), integer(size), integer(index),
    integer(ranks)
  if not ranks or dim > 8 or index > 4 or size > 1 << 16 then return nil end
  local mesh, before = view_mesh(index, ranks)
  local call = ("view(%s%d)"):format(leading(dim), 2 * size)
  return scene(ranks, "", mesh .. ("x = distribute_tensor(torch.ones(%s%d, 2), "
    .. "mesh, [%sShard(%d)])\n"):format(leading(dim), size, before, dim),
    "x." .. call, {
    fix("shard the leftmost dimension first", ("x.redistribute(mesh, [Shard(0)]"
      .. " + [Replicate()] * %d).%s"):format(index, call)),
    fix("replicate first", ("x.redistribute(mesh, [Replicate()] * %d).%s")
      :format(index + 1, call))})
end)

row("Attempted to flatten unevenly sharded dimension (%d+), which would require",
  function (_, dim)
  dim = integer(dim)
  if not dim or dim > 6 then return nil end
  local call = ("view(%s28)"):format(leading(dim))
  local made = "x = distribute_tensor(torch.ones(%s%d, %d), mesh, [Shard(%d)])\n"
  return scene(2, "", line(2, "dp") .. made:format(leading(dim), 7, 4, dim),
    "x." .. call, {
    fix("replicate, view, shard again", "x.redistribute(mesh, [Replicate()])."
      .. call),
    fix("a size that the ranks divide, by padding", made:format(leading(dim), 14,
      2, dim) .. "x." .. call)})
end)

row("Cannot unflatten unevenly sharded tensor: output dimension (%d+) %(size "
  .. "(%d+)%) is not evenly divisible by mesh dimension (%d+) %(size (%d+)%)",
  function (_, dim, size, index, ranks)
  dim, size, index, ranks = integer(dim), integer(size), integer(index),
    integer(ranks)
  if not ranks or dim > 8 or index > 4 or size > 1 << 16 or ranks > MAX_RANKS
  then
    return nil
  end
  local mesh, before = view_mesh(index, ranks)
  local call = ("view(%s%d, %d)"):format(leading(dim), size, ranks)
  return scene(ranks, "", mesh .. ("x = distribute_tensor(torch.ones(%s%d), "
    .. "mesh, [%sShard(%d)])\n"):format(leading(dim), size * ranks, before, dim),
    "x." .. call, {fix("replicate, reshape, shard again", ("x.redistribute("
      .. "mesh, [Replicate()] * %d).%s"):format(index + 1, call))})
end)

-- ---- global shapes and local parts -------------------------------------

local calls = {add = "+", sub = "-", mul = "*", div = "/"}

-- Two sizes whose ratio is a number of ranks: a whole tensor and a part.
row("size of tensor a %((%d+)%) must match the size of tensor b %((%d+)%) at "
  .. "non%-singleton dimension (%d+)", function (r, a, b, dim)
  a, b, dim = integer(a), integer(b), integer(dim)
  if not a or not b or not dim or dim > 6 or a == 0 or b == 0 or a == b then
    return nil
  end
  local large, small = math.max(a, b), math.min(a, b)
  local ranks = large // small
  if large % small ~= 0 or ranks < 2 or ranks > 64 or large > 1 << 20 then
    return nil
  end
  local base = r.op and r.op:match "^aten%.(%l+)_?%."
  local sign = calls[base or "add"]
  if not sign then return nil end
  local first = a == large and "x" or "x_sharded.to_local()"
  local second = a == large and "x_sharded.to_local()" or "x"
  return scene(ranks, "", line(ranks, "tp") .. ("x = torch.ones(%s%d)\n"
    .. "x_sharded = distribute_tensor(x, mesh, [Shard(%d)])\n"):format(
    leading(dim), large, dim), ("%s %s %s"):format(first, sign, second), {
    fix("bring both to one side, both whole", ("x %s x_sharded.full_tensor()")
      :format(sign)),
    fix("both as parts: slice the plain one the same way", ("x.tensor_split("
      .. "mesh.size(), %d)[mesh.get_local_rank()] %s x_sharded.to_local()")
      :format(dim, sign))})
end)

-- A sequence that the ranks do not divide, cut, and its parts taken for equal
-- ones: the first rank counts its own, larger part once for each rank.
row("size of tensor a %((%d+)%) must match the size of tensor b %((%d+)%) at "
  .. "non%-singleton dimension (%d+)", function (r, a, b, dim)
  a, b, dim = integer(a), integer(b), integer(dim)
  if not a or not b or not dim or dim > 6 or math.max(a, b) > 1 << 20 then
    return nil
  end
  local large, small = math.max(a, b), math.min(a, b)
  for ranks in pairs(evidence.counts(r)) do
    local part = (small + ranks - 1) // ranks
    if ranks >= 2 and ranks <= 8 and large > small and part * ranks == large
      and r.doc.flat:find "Parallel" then
      local ones = ("torch.ones(%s%d)"):format(leading(dim), small)
      local made = ("h = DTensor.from_local(part, mesh, [Shard(%d)], "
        .. "run_check=False%%s)\n"):format(dim)
      local call = a == large and "torch.ones(h.shape) + " .. ones
        or ones .. " + torch.ones(h.shape)"
      local sizes = ("(%s%d)"):format(leading(dim), small)
      local strides = ("(%s1)"):format(("%d, "):format(small):rep(dim))
      local cut = ("distribute_tensor(%s, mesh, [Shard(%d)])"):format(ones, dim)
      return scene(ranks, "", line(ranks, "tp") .. "part = " .. cut
        .. ".to_local()\n", made:format "" .. call, {
        fix("keep DTensors between the modules: use_local_output=False", "h = "
          .. cut .. "\n" .. call),
        fix("say the shape of the whole", made:format((",\n    shape=%s, "
          .. "stride=%s"):format(sizes, strides)) .. call)})
    end
  end
end)

-- Two sizes that differ by one: the parts of a tensor cut unevenly.
row("size of tensor a %((%d+)%) must match the size of tensor b %((%d+)%) at "
  .. "non%-singleton dimension (%d+)", function (r, a, b, dim)
  a, b, dim = integer(a), integer(b), integer(dim)
  local base = r.op and r.op:match "^aten%.(%l+)_?%." or "add"
  if not dim or dim > 6 or math.abs(a - b) ~= 1 or a + b > 1 << 20
    or math.min(a, b) < 2 or not calls[base] then
    return nil
  end
  local order = a > b and "first %s last" or "last %s first"
  local cut = "first, last = distribute_tensor(\n    torch.ones(%s%d), mesh, "
    .. "[Shard(%d)]).full_tensor().chunk(2, %d)\n"
  local call = order:format(calls[base])
  return scene(2, "", line(2, "fsdp") .. cut:format(leading(dim), a + b, dim,
    dim), call, {fix("pad to a multiple of the number of ranks",
      cut:format(leading(dim), a + b + 1, dim, dim) .. call)})
end)

row("size mismatch, got input %((%d+)%), mat %((%d+)x(%d+)%), vec %((%d+)%)",
  function (_, rows_of, height, width, vec)
  rows_of, height, width, vec = integer(rows_of), integer(height),
    integer(width), integer(vec)
  if not vec or vec == 0 or rows_of ~= height or width % vec ~= 0 then
    return nil
  end
  local ranks = width // vec
  if ranks < 2 or ranks > 64 or height * width > MAX_ELEMENTS then return nil end
  return scene(ranks, "", line(ranks, "tp") .. ("w = torch.ones(%d, %d)\n"
    .. "v = distribute_tensor(torch.ones(%d), mesh, [Shard(0)])\n"):format(
    height, width, width), "torch.mv(w, v.to_local())", {
    fix("the whole tensor", "torch.mv(w, v.full_tensor())")})
end)

row("a and b must have same reduction dim, but got %[(%d+), (%d+)%] X "
  .. "%[(%d+), (%d+)%]", function (_, m, inner, size, n)
  m, inner, size, n = integer(m), integer(inner), integer(size), integer(n)
  if not n or size > 1 << 16 or n > 1 << 12 or m > 1 << 12 or n == 0 then
    return nil
  end
  -- The first rank's part of `size` columns is counted once for each rank.
  for ranks = 2, 8 do
    if (size + ranks - 1) // ranks * ranks == inner and inner ~= size then
      local net = ("model = nn.Sequential(nn.Linear(4, %d, bias=False), "
        .. "nn.Linear(%d, %d, bias=False))\n"):format(size, size, n)
      local plan = "parallelize_module(model, mesh, {\"0\": ColwiseParallel(%s)"
        .. ", \"1\": RowwiseParallel()})\nmodel(torch.ones(%d, 4))"
      return scene(ranks, "from torch.distributed.tensor.parallel import (\n"
        .. "    ColwiseParallel, RowwiseParallel, parallelize_module)\n",
        line(ranks, "tp") .. net, plan:format("", m), {
        fix("keep DTensors along the chain",
          plan:format("use_local_output=False", m))})
    end
  end
  -- A part of the inner dimension, taken for all of it.
  local ranks = inner > 0 and size // inner or 0
  if ranks < 2 or ranks > 64 or inner * ranks ~= size then return nil end
  local call = "DTensor.from_local(part, mesh, [%s]) @ w"
  return scene(ranks, "", line(ranks, "tp") .. ("part = torch.ones(%d, %d)\n"
    .. "w = distribute_tensor(torch.ones(%d, %d), mesh, [Replicate()])\n")
    :format(m, inner, size, n), call:format "Replicate()", {
    fix("say that the tensor is a part: Shard of its inner dimension",
      call:format "Shard(1)")})
end)

row("value tensor of shape %[([%d, ]+)%] cannot be broadcast to indexing "
  .. "result of shape %[([%d, ]+)%]", function (_, value, result)
  local have, want = integers(value), integers(result)
  if #have == 0 or #want == 0 or product(want) > MAX_ELEMENTS
    or product(have) > MAX_ELEMENTS then
    return nil
  end
  local ranks = want[1] // math.max(have[1], 1)
  if have[1] * ranks ~= want[1] or ranks < 2 or ranks > 64 then return nil end
  for i = 2, math.max(#have, #want) do
    if have[i] ~= want[i] then return nil end
  end
  local sizes = table.concat(want, ", ")
  local call = "torch.index_put(x, [rows], %s)"
  return scene(ranks, "", line(ranks, "tp") .. ("x = torch.zeros(%s)\n"
    .. "rows = torch.arange(%d)\n"
    .. "values = distribute_tensor(torch.ones(%s), mesh, [Shard(0)])\n")
    :format(sizes, want[1], sizes), call:format "values.to_local()", {
    fix("replicate values, index and mask first",
      call:format "values.full_tensor()")})
end)

-- ---- choosing ----------------------------------------------------------

-- The text of `r`, with the messages that a release prints as a tuple of strings
-- joined to one: `('no mesh!', 'Found 2.')`.
local function joined(r)
  local flat = r.doc.flat
  return flat:find("', ", 1, true) and flat:gsub("(%p)%s?['\"], ['\"]", "%1 ") or flat
end

-- The scene of what `r` prints, or nil.
function M.find(r)
  local flat = joined(r)
  for _, list in ipairs {rows, mixed, modules, operators, groups, checks, refused} do
    for _, entry in ipairs(list) do
      local found = {r.doc.flat:match(entry[1])}
      if #found == 0 and flat ~= r.doc.flat then found = {flat:match(entry[1])} end
      local s = #found > 0 and entry[2](r, table.unpack(found))
      if s then return s end
    end
  end
end

return M
