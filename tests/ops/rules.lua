-- TEST: ranks={2,3,4} world=threads needs=data timeout=600
-- SPDX-License-Identifier: MIT
-- Validator: every rule on one mesh dimension, applied to real data, equals
-- one device; on 4 ranks, a 2 by 2 mesh, pairs of rules.  Inputs are placed exactly as the rule says: uneven and empty
-- shards (sizes 8, 7, 6, 5 over 2 and 3 ranks), partial values that differ
-- from rank to rank; so no redistribution hides the rule.  Operators with a
-- strategy of their own get every combination of placements instead.  Rules of PyTorch
-- that are wrong are kept and listed (known_wrong); one that is listed and
-- holds here fails too.  The quick set tries every second row; under a
-- sanitizer each operator has one sample, and of its rows every 4th is tried
-- (thread: of every 8th operator).

local sanitizer = os.getenv "DTREPL_SANITIZER"
local S = require "tests.ops.lib.samples"

local step = sanitizer and 4 or os.getenv "DTREPL_QUICK" and 2 or 1
-- Traced decompositions are checked where one is known to be wrong.
local listed = {}
for _, row in ipairs(dt.debug.known_wrong()) do listed[row.op] = true end

local world = dt.world_size()
local dims = world == 4 and {2, 2} or {world}
local mesh = dt.init_device_mesh("cpu", dims)
local coord = mesh:get_coordinate()
local only = arg and arg[1]

-- ---- one tensor placed as a rule's cell says ----

local FLOAT = {["torch.float32"] = true, ["torch.float64"] = true,
  ["torch.float16"] = true, ["torch.bfloat16"] = true}

-- Part r of n of the sum / mean / largest / smallest of which is t.
local PART = {}
function PART.sum(t, r, n)
  if r == 0 then return t - (n - 1) * 2 end
  return dt.full_like(t, 2)
end
function PART.avg(t, r, n) return t + (r - (n - 1) / 2) end
-- Element i is right in part i mod n, and 1 off elsewhere.
local function owned(t, r, n, off)
  local i = dt.arange(t:numel()):reshape(t.shape)
  return dt.where(i:remainder(n):eq(r), t, t + off)
end
function PART.max(t, r, n) return owned(t, r, n, -1) end
function PART.min(t, r, n) return owned(t, r, n, 1) end
function PART.product(t, r, n)
  if r == 0 then return t * 2.0 ^ (n - 1) end
  return dt.full_like(t, 0.5)
end

local function chunk(t, dim, r, n)
  local size = t.shape[dim + 1]
  local step = (size + n - 1) // n
  local from = math.min(r * step, size)
  return t:narrow(dim, from, math.min(step, size - from))
end

-- t with a cell ("S(0)", "P(max)") on each mesh dimension; nil and the reason
-- when it cannot be placed so.
local function place(t, cells)
  if cells[1] == "-" then return t end
  local name, part = tostring(t.dtype), t
  for m, cell in ipairs(cells) do
    local kind = cell:match("^P%((%l+)%)$")
    if kind then
      if not PART[kind]
         or not FLOAT[name] and not (kind == "sum" and name:match("int")) then
        return nil, cell .. " of " .. name
      end
      part = PART[kind](part, coord[m], dims[m])
    elseif cell ~= "R" and not cell:match("^S%(") then
      return nil, cell
    end
  end
  for m, cell in ipairs(cells) do
    local dim = cell:match("^S%((%d+)%)")
    if dim then part = chunk(part, tonumber(dim), coord[m], dims[m]) end
  end
  return dt.DTensor.from_local(part:contiguous(), mesh, cells,
    {run_check = false, shape = t.shape, stride = t:stride()})
end

-- ---- comparing with one device ----

local function flat(v, out)
  out = out or {}
  if type(v) == "table" and not require("dt.util").is_tensor(v) then
    for _, x in ipairs(v) do flat(x, out) end
  elseif require("dt.util").is_tensor(v) then
    out[#out + 1] = v
  end
  return out
end

-- A local call may fail on one rank only (an empty shard): all must know.
local function everywhere(ok)
  local t = dt.tensor({ok and 1 or 0})
  dt.distributed.all_reduce(t, {op = "min"})
  return t:item() == 1
end

local function is_dtensor(t) return t.placements ~= nil end

local function same_shape(a, b)
  return table.concat(a.shape, ",") == table.concat(b.shape, ",")
end

-- Does this rank hold as much as the result's placements say?  (Gathering
-- what does not is an error that ends all talk between the ranks.)
local function fits(g)
  local cells = {}
  for m, p in ipairs(g.placements) do
    local cell = tostring(p)
    if cell:match("^_S") then return true end
    cells[m] = cell:match("^S%(") and cell or "R"
  end
  local like = dt.distribute_tensor(dt.zeros(g.shape), mesh, cells)
  return same_shape(g:to_local(), like:to_local())
end

-- Rounding of parts is relative to the largest number, not to each one; where
-- parts are added up (`got` is partial), to the largest in a part: of products of
-- parts it is five times that of the sum, and PyTorch's bf16 is off by as much.
-- A rule that is wrong is off by far more.
local RTOL = {["torch.float64"] = 1e-7, ["torch.float32"] = 1e-5,
  ["torch.float16"] = 2e-3, ["torch.bfloat16"] = 1.6e-2}
local function largest(t)
  return t:numel() == 0 and 0 or t:nan_to_num(0, 0, 0):abs():max():item()
end
local function tolerance(w, got)
  local rtol = RTOL[tostring(w.dtype)]
  if not rtol or w:numel() == 0 then return {equal_nan = true} end
  local most = largest(w)
  if is_dtensor(got) then
    for _, p in ipairs(got.placements) do
      if tostring(p) == "P(sum)" then most = math.max(most, largest(got:to_local())) end
    end
  end
  return {equal_nan = true, rtol = rtol, atol = rtol * math.max(1, most)}
end

-- All outputs are gathered first: ranks may disagree about the verdict.
local function differs(got, want)
  local full = {}
  for i, g in ipairs(got) do
    if not everywhere(not is_dtensor(g) or fits(g)) then
      return "local shapes are not what the placements say"
    end
    full[i] = is_dtensor(g) and g:full_tensor() or g
  end
  for i, w in ipairs(want) do
    if not full[i] then return "output missing" end
    local ok, err = pcall(dt.testing.assert_close, full[i], w,
                          tolerance(w, got[i]))
    if not ok then return tostring(err):match("[^\n]*") end
  end
end

local counts = {held = 0, wrong = 0, refused = 0, unplaced = 0, skipped = 0}
local failures, proved = {}, {}

local function row_text(row)
  local cells = {}
  for i, c in ipairs(row.inputs) do
    cells[i] = type(c) == "table" and table.concat(c, " ") or c
  end
  return table.concat(cells, ", ") .. " -> " .. table.concat(row.outputs, ", ")
end

-- Rules of every mesh dimension: the row itself, or pairs of rows, a fixed
-- choice of them where all would take too long; fewer in the quick set, which
-- still meet every rule that is known to be wrong.
local PAIRS = os.getenv "DTREPL_QUICK" and not sanitizer and 2 or 8
local function spread(rows)
  local out = {}
  if #dims == 1 then
    for i, row in ipairs(rows) do
      out[i] = {outputs = row.outputs, inputs = {}}
      for k, c in ipairs(row.inputs) do out[i].inputs[k] = {c} end
    end
    return out
  end
  local total = #rows * #rows
  local step = math.max(1, total // PAIRS) | 1
  for k = 0, total - 1, step do
    local a, b = rows[k // #rows + 1], rows[k % #rows + 1]
    local row = {outputs = {"any"}, inputs = {}}
    for i, c in ipairs(a.inputs) do row.inputs[i] = {c, b.inputs[i]} end
    out[#out + 1] = row
  end
  return out
end

-- What the table of wrong rules says about the call, if anything.
local function decided(item, args, kw)
  local list = {table.unpack(args, 1, args.n)}
  if kw then list[args.n + 1] = kw end
  local ok, d = pcall(dt.debug.decide, item.op,
                      table.unpack(list, 1, args.n + (kw and 1 or 0)))
  return ok and d.known_wrong or nil
end

-- Faults of PyTorch since 2.14 that give parts which are not what the placements
-- say; a finding (DT1014) tells of each: t_ turns the parts and leaves the spec,
-- logsumexp numbers the dims as if the reduced ones were gone.
local function told_by_placements(item, args)
  local name = item.info.name
  return name == "aten.t_.default"
    or name == "aten.logsumexp.default" and args[3] == true
    or nil
end

local function try_row(item, args, kw, row, want)
  local unplaced
  local a, k = S.map(args, kw, function (t, i)
    local ok, v, why = pcall(place, t:clone(), row.inputs[i])
    if not ok or v == nil then unplaced = why or v or "?" end
    return ok and v or t
  end)
  if unplaced then
    counts.unplaced = counts.unplaced + 1
    return
  end
  local known = decided(item, a, k)
  local res = table.pack(pcall(S.call, item.op, a, k))
  if not everywhere(res[1]) then
    counts.refused = counts.refused + 1
    return nil, tostring(res[2]):match("[^\n]*")
  end
  local list = flat(table.pack(table.unpack(res, 2, res.n)))
  local ok, why = pcall(differs, list, want)
  if not ok then why = "gathering: " .. tostring(why):match("[^\n]*") end
  -- PyTorch refuses these too: a mask of the ids' shape meets another tensor.
  if why and why:find("The shape of the mask", 1, true) then
    counts.refused = counts.refused + 1
    return nil, why
  end
  local told = why and told_by_placements(item, args)
  if told then known = told end
  if why and known then proved[known] = true end
  return why, nil, known
end

local MANY = 256

-- Placements of every tensor in turn, the first slowest; all of them while
-- they are few, then without partial ones, then as many as there is time for.
local function combinations(args, kw)
  local ranks = {}
  S.map(args, kw, function (t)
    ranks[#ranks + 1] = #t.shape
    return t
  end)
  local partial = #ranks <= 2 and {"P(sum)", "P(avg)", "P(max)"} or {}
  local rows = {{}}
  for _, ndim in ipairs(ranks) do
    local cells = {"R", table.unpack(partial)}
    for d = 0, ndim - 1 do cells[#cells + 1] = ("S(%d)"):format(d) end
    local longer = {}
    for _, row in ipairs(rows) do
      for _, cell in ipairs(cells) do
        if #longer < MANY then
          longer[#longer + 1] = {table.unpack(row)}
          table.insert(longer[#longer], cell)
        end
      end
    end
    rows = longer
  end
  local out = {}
  for i, row in ipairs(rows) do out[i] = {inputs = row, outputs = {"any"}} end
  return out
end

-- Boundaries must be sorted.
local SORTED = {["aten.bucketize.Tensor"] = true}

local function check(item, text)
  local args, kw = S.parse(text)
  if SORTED[item.info.name] then args[2] = args[2]:sort() end
  local plain = {S.map(args, kw, function (t) return t:clone() end)}
  local res = table.pack(pcall(S.call, item.op, plain[1], plain[2]))
  if not res[1] then
    counts.skipped = counts.skipped + 1
    if only then print(item.info.name, text, "one device:", res[2]) end
    return
  end
  local want = flat(table.pack(table.unpack(res, 2, res.n)))
  local list = {item.op, table.unpack(args, 1, args.n)}
  if kw then list[#list + 1] = kw end
  local good, rows = pcall(dt.debug.single_dim_rules,
                           table.unpack(list, 1, args.n + (kw and 2 or 1)))
  if not good then
    counts.skipped = counts.skipped + 1
    return
  end
  if rows == nil then rows = combinations(args, kw) end
  rows = spread(rows)
  for k = 1, #rows, listed[item.info.name] and not sanitizer and 1 or step do
    local row = rows[k]
    local bad, refused, known = try_row(item, args, kw, row, want)
    if bad and known then
      counts.wrong = counts.wrong + 1
    elseif bad then
      failures[#failures + 1] = ("%s: %s  (%s): %s"):format(item.info.name,
        row_text(row), text, bad)
    elseif not refused then
      counts.held = counts.held + 1
    elseif only then
      print("refused", item.info.name, text, refused)
    end
  end
end

for n, item in ipairs(S.all()) do
  local i = item.info
  if sanitizer == "thread" and n % 8 ~= 1 then
    i = {name = "", random = true}
  end
  if (not only or i.name:find(only, 1, true)) and not i.random
     and not i.name:find("empty", 1, true)
     and (i.decided_by == "rules" or i.decided_by == "strategy"
       or listed[i.name]) then
    for k = 1, sanitizer and math.min(1, #i.samples) or #i.samples do
      check(item, i.samples[k])
    end
  end
end

print(("%d hold, %d known to be wrong, %d refused, %d not placeable, "
  .. "%d without an answer on one device"):format(counts.held, counts.wrong,
  counts.refused, counts.unplaced, counts.skipped))
if #failures > 0 then
  error(#failures .. " rules differ from one device:\n"
    .. table.concat(failures, "\n"), 0)
end
if not only and not sanitizer then
  assert(counts.held > 1000, "hardly any rule was checked")
  for _, row in ipairs(dt.debug.known_wrong()) do
    local due = row.example:find("2 by 2", 1, true) and 4 or 3
    assert(proved[row.what] or world ~= due, ("%s, wrong (%s): was never "
      .. "wrong here"):format(row.op, row.inputs))
  end
end
