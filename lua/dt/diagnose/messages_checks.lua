-- SPDX-License-Identifier: MIT
-- dt/diagnose/messages_checks.lua: repros of messages that others print before
-- PyTorch could: a library's check of sizes (the cut it guards against is shown);
-- and of those that name two meshes, or a path of modules.  Rows as
-- in messages.lua; `expects` is what a scene raises where it is not the report's
-- text, `behind` says that a check of somebody else's stood before it, `warns`
-- that what it says is a warning.

local programs = require "dt.diagnose.programs"

local integer, line, fix, anew = programs.integer, programs.line, programs.fix,
  programs.anew
local mesh_line, scene = programs.mesh_line, programs.scene

local rows = {}

local function row(pattern, write) rows[#rows + 1] = {pattern, write} end

-- ---- a library's own check ------------------------------------------------

local MAX_HEADS <const>, MAX_DEGREE <const> = 1024, 64

local function gcd(a, b)
  while b > 0 do a, b = b, a % b end
  return a
end

local CHECK <const> = "a cut through an attention head, which the library's own "
  .. "check stands before: a view into heads that the ranks do not divide"

-- `heads` over `degree` ranks.  Each head is as wide as there are ranks, so that
-- the projection divides and the heads alone decide.
local function heads_over(_, heads, degree)
  heads, degree = integer(heads), integer(degree)
  if not heads or not degree or heads < 1 or heads > MAX_HEADS or degree < 2
    or degree > MAX_DEGREE or heads % degree == 0 then
    return nil
  end
  local made = ("k = distribute_tensor(torch.ones(1, 1, %d), %%s, [Shard(2)])\n")
    :format(heads * degree)
  local call = ("k.view(1, 1, %d, %d)"):format(heads, degree)
  local fits = gcd(heads, degree)
  local s = scene(degree, "", line(degree, "tp") .. made:format "mesh", call, {
    anew("choose a tp degree that divides num_key_value_heads",
      mesh_line({degree // fits, fits}, {"dp", "tp"})
      .. made:format 'mesh["tp"]' .. call),
    fix("replicate, reshape, shard again",
      ("k.redistribute(mesh, [Replicate()]).view(1, 1, %d, %d)"):format(heads,
        degree))})
  s.behind = CHECK
  s.expects = "divisible by"
  return s
end

row("attention heads %((%d+)%) must be divisible by tensor parallel size %((%d+)%)",
  heads_over)
row("num_[%a_]*heads[%s=:%(]*(%d+)%)? must be divisible by [%a_%s]+[%(=:%s]*(%d+)",
  heads_over)
row("num_[%a_]*heads[%s=:%(]*(%d+)%)? is not divisible by [%a_%s]+[%(=:%s]*(%d+)",
  heads_over)
-- It does not say of what: layers, batches and words are counted in it, too.
row("AssertionError: (%d+) is not divisible by (%d+)", function (r, heads, degree)
  local is_of_heads = r.class and r.class.id == "tp-heads-not-divisible"
  return is_of_heads and heads_over(r, heads, degree) or nil
end)

-- ---- two meshes -------------------------------------------------------------

local MAX_RANKS <const> = 64

local function product_of(mesh)
  local n = 1
  for _, size in ipairs(mesh.shape) do n = n * size end
  return n
end

local function has_names(mesh)
  for i in ipairs(mesh.shape) do
    local name = mesh.names and mesh.names[i]
    if type(name) ~= "string" or not name:find "^[%a_][%w_]*$" then return false end
  end
  return #mesh.shape > 0
end

-- mesh["a"], mesh["a", "b"]
local function sliced(from, names)
  return #names == 1 and ("%s[%q]"):format(from, names[1])
    or ("%s[%s]"):format(from, programs.quoted(names):sub(2, -2))
end

-- A line that makes `mesh` under this name in a world of `ranks`: whole, a slice
-- of the other one where that has its dimensions, or of one with an outer
-- dimension for the ranks it lacks.
local function line_of(mesh, name, other, other_name, ranks)
  local n = product_of(mesh)
  if n == ranks then return mesh_line(mesh.shape, mesh.names, name) end
  local at = {}
  for i, axis in ipairs(other.names) do at[axis] = other.shape[i] end
  local inside = true
  for i, axis in ipairs(mesh.names) do
    inside = inside and at[axis] == mesh.shape[i]
  end
  if inside then
    return ("%s = %s\n"):format(name, sliced(other_name, mesh.names))
  end
  if ranks % n ~= 0 then return nil end
  local shape, names = {ranks // n, table.unpack(mesh.shape)},
    {"outer", table.unpack(mesh.names)}
  return mesh_line(shape, names, "world") .. ("%s = %s\n"):format(name,
    sliced("world", mesh.names))
end

-- Both meshes of the report under the names of_a and of_b, and the ranks.
local function both_meshes(r)
  local a, b = r.meshes[1], r.meshes[2]
  if not a or not b or not has_names(a) or not has_names(b) then return nil end
  local n, m = product_of(a), product_of(b)
  local ranks = math.max(n, m)
  if ranks < 2 or ranks > MAX_RANKS then return nil end
  local first = n >= m and line_of(a, "of_a", b, "of_b", ranks)
    or line_of(b, "of_b", a, "of_a", ranks)
  local second = n >= m and line_of(b, "of_b", a, "of_a", ranks)
    or line_of(a, "of_a", b, "of_b", ranks)
  return first and second and first .. second, ranks, #a.shape, #b.shape
end

local function cut_first(dims)
  return "[Shard(0)" .. (", Replicate()"):rep(dims - 1) .. "]"
end

-- Norms of parameters on two meshes are stacked.
row("All operands in aten%.stack%.default must have the same mesh, but got",
  function (r)
  local lines, ranks, a, b = both_meshes(r)
  if not lines then return nil end
  local made = "%s = nn.Parameter(distribute_tensor(torch.ones(64, 4), of_%s, %s))\n"
    .. "%s.grad = torch.ones_like(%s)\n"
  return scene(ranks, "", lines .. made:format("a", "a", cut_first(a), "a", "a")
    .. made:format("b", "b", cut_first(b), "b", "b"),
    -- the message names the later one's mesh first
    "nn.utils.clip_grad_norm_([b, a], 1.0)", {
    fix("a norm for each mesh, then combine",
      "n1 = nn.utils.get_total_norm([a.grad]).full_tensor()\n"
      .. "n2 = nn.utils.get_total_norm([b.grad]).full_tensor()\n"
      .. "total = (n1 ** 2 + n2 ** 2).sqrt()")})
end)

-- ---- a plan's key -------------------------------------------------------------

-- Lines that put `made` into `model` under a path of modules.
local function nested(path, made)
  local last = path[#path]
  return ("owner = model\nfor part in %q.split(\".\")[:-1]:\n"
    .. "    owner.add_module(part, nn.Module())\n    owner = getattr(owner, part)\n"
    .. "owner.add_module(%q, %s)\n"):format(table.concat(path, "."), last, made)
end

-- The warning about a key that names no module, as an error: it is all that shows.
row("Parallelize plan key ['\"]([%w_%.%*]+)['\"] could not be resolved: no submodule "
  .. "matching token ['\"]([%w_%*]+)['\"] in module ([%a_][%w_]*)",
  function (r, key, token, class)
  local before, made = {}, {}
  for t in key:gmatch "[^%.]+" do
    if t == token then break end
    before[#before + 1] = t == "*" and "0" or t
  end
  if #before > 6 or token == "*" or key == token and #before > 0 then return nil end
  made[1] = ("class %s(nn.Module):\n    pass\n\n\n"):format(class)
  made[2] = #before == 0 and ("model = %s()\n"):format(class)
    or "model = nn.Module()\n" .. nested(before, class .. "()")
  local plan = "parallelize_module(model, mesh, {%q: ColwiseParallel()})"
  local right = table.concat(before, ".")
  right = (right == "" and "" or right .. ".") .. "linear"
  local owner = #before == 0 and "model"
    or ("model.get_submodule(%q)"):format(table.concat(before, "."))
  local ranks = programs.ranks_or(r, 2)
  local s = scene(ranks, "import warnings\n"
    .. "from torch.distributed.tensor.parallel import ColwiseParallel, "
    .. "parallelize_module\n\n\n", table.concat(made)
    .. line(ranks, "tp") .. "warnings.simplefilter(\"error\")\n",
    plan:format(key), {
    fix("correct the path", ("%s.linear = nn.Linear(4, 4)\n")
      :format(owner) .. plan:format(right))})
  s.warns = true
  return s
end)

return rows
