-- SPDX-License-Identifier: MIT
-- dt/debug/doctor.lua: dt.debug.doctor: which placements are valid for an
-- operator, found by trying.
--
-- On one mesh dimension each tensor input is Replicate, sharded along one of
-- its dimensions, or a part of a sum.  For each combination the operator runs
-- on the inputs of each of 2 and 3 pretend ranks (uneven parts; asymmetric
-- addends), and the results are put together in every way a placement can say:
-- equal everywhere (R), joined along a dimension (S), summed, averaged,
-- largest, smallest (P).  A combination is valid when each output has such a
-- way for both numbers of ranks.  Nothing is communicated: every rank does all.

local dt = require "dt"
local page = require "dt.debug.page"
local sample = require "dt.testing.samples"

local M = {}

local MOST = 512                -- combinations tried
local FLOAT = {["torch.float32"] = true, ["torch.float64"] = true,
  ["torch.float16"] = true, ["torch.bfloat16"] = true}

local function is_tensor(v) return require("dt.util").is_tensor(v) end

-- ---- parts -------------------------------------------------------------

local function chunk(t, dim, r, n)
  local size = t.shape[dim + 1]
  local step = (size + n - 1) // n
  local from = math.min(r * step, size)
  return t:narrow(dim, from, math.min(step, size - from)):contiguous()
end

-- What rank r of n holds of t under a cell; nil when it cannot be placed so.
local function part(t, cell, r, n)
  if cell == "R" then return t:clone() end
  local dim = cell:match("^S%((%d+)%)$")
  if dim then return chunk(t, tonumber(dim), r, n) end
  if not FLOAT[tostring(t.dtype)] then return nil end
  if r == 0 then return t - (n - 1) * 2 end
  return dt.full_like(t, 2)
end

-- ---- putting results together ------------------------------------------

local function flat(v, out)
  if is_tensor(v) then
    out[#out + 1] = v
  elseif type(v) == "table" then
    for _, x in ipairs(v) do flat(x, out) end
  end
  return out
end

local function same_shape(a, b)
  return table.concat(a.shape, ",") == table.concat(b.shape, ",")
end

local function close(a, b)
  if not same_shape(a, b) or tostring(a.dtype) ~= tostring(b.dtype) then
    return false
  end
  if a:numel() == 0 then return true end
  if not FLOAT[tostring(a.dtype)] then return a:eq(b):all():item() end
  local x, y = a:to(dt.float64), b:to(dt.float64)
  local most = y:nan_to_num(0, 0, 0):abs():max():item()
  local rtol = ({["torch.float16"] = 2e-3, ["torch.bfloat16"] = 2e-2,
    ["torch.float32"] = 1e-5})[tostring(a.dtype)] or 1e-7
  return dt.allclose(x, y, {rtol = rtol, atol = rtol * math.max(1, most),
    equal_nan = true})
end

local function fold(parts, f)
  local acc = parts[1]
  for i = 2, #parts do acc = f(acc, parts[i]) end
  return acc
end

-- Do the parts, put together as the cell says, give `want`?
local function gives(parts, cell, want)
  local n = #parts
  if cell == "R" then
    for _, p in ipairs(parts) do if not close(p, want) then return false end end
    return true
  end
  local dim = cell:match("^S%((%d+)%)$")
  if dim then
    dim = tonumber(dim)
    for r, p in ipairs(parts) do
      if #p.shape ~= #want.shape
         or not close(p, chunk(want, dim, r - 1, n)) then
        return false
      end
    end
    return true
  end
  for _, p in ipairs(parts) do
    if not same_shape(p, want) then return false end
  end
  if not FLOAT[tostring(want.dtype)] then return false end
  local all
  if cell == "P(sum)" then all = fold(parts, function (a, b) return a + b end)
  elseif cell == "P(avg)" then
    all = fold(parts, function (a, b) return a + b end) / n
  elseif cell == "P(max)" then
    all = fold(parts, function (a, b) return dt.maximum(a, b) end)
  else all = fold(parts, function (a, b) return dt.minimum(a, b) end) end
  return close(all, want)
end

local function out_cells(want)
  local cells = {"R"}
  for d = 0, #want.shape - 1 do cells[#cells + 1] = ("S(%d)"):format(d) end
  for _, p in ipairs {"P(sum)", "P(avg)", "P(max)", "P(min)"} do
    cells[#cells + 1] = p
  end
  return cells
end

-- ---- trying ------------------------------------------------------------

local function run(op, args, kw)
  local res = table.pack(pcall(sample.call, op, args, kw))
  if not res[1] then
    local e = res[2]
    return nil, type(e) == "table" and e.message or tostring(e)
  end
  return flat({table.unpack(res, 2, res.n)}, {})
end

-- Results of each of n pretend ranks, or nil and why.
local function ranks_run(op, args, kw, row, n)
  local all = {}
  for r = 0, n - 1 do
    local impossible
    local a, k = sample.map(args, kw, function (t, i)
      local p = part(t, row[i], r, n)
      impossible = impossible or p == nil
      return p or t
    end)
    if impossible then return nil, "not of this dtype" end
    local res, why = run(op, a, k)
    if not res then return nil, why end
    all[r + 1] = res
  end
  return all
end

local function column(all, i)
  local out = {}
  for r, res in ipairs(all) do out[r] = res[i] end
  return out
end

-- Placements of the outputs that hold for a row of the inputs, or nil and why.
local function try_row(op, args, kw, row, want)
  local cells = {}
  for i, w in ipairs(want) do cells[i] = out_cells(w) end
  for _, n in ipairs {2, 3} do
    local all, why = ranks_run(op, args, kw, row, n)
    if not all then return nil, why end
    for i, w in ipairs(want) do
      local parts, left = column(all, i), {}
      if #parts < n then return nil, "an output is missing" end
      for _, c in ipairs(cells[i]) do
        if gives(parts, c, w) then left[#left + 1] = c end
      end
      cells[i] = left
      if #left == 0 then return nil, "the parts do not make up the whole" end
    end
  end
  local out = {}
  for i, left in ipairs(cells) do out[i] = left[1] end
  return out
end

-- All placements of the inputs, those with fewer kinds first.
local function combinations(args, kw)
  local tensors = {}
  sample.map(args, kw, function (t) tensors[#tensors + 1] = t return t end)
  local rows = {{}}
  for _, t in ipairs(tensors) do
    local cells, longer = {"R"}, {}
    for d = 0, #t.shape - 1 do
      if t.shape[d + 1] > 1 then cells[#cells + 1] = ("S(%d)"):format(d) end
    end
    if FLOAT[tostring(t.dtype)] and #tensors <= 4 then
      cells[#cells + 1] = "P(sum)"
    end
    for _, row in ipairs(rows) do
      for _, c in ipairs(cells) do
        if #longer < MOST then
          longer[#longer + 1] = {table.unpack(row)}
          table.insert(longer[#longer], c)
        end
      end
    end
    rows = longer
  end
  return rows, tensors
end

-- ---- backward ----------------------------------------------------------

-- Placement of each input's gradient, given the outputs': sharded like the
-- input; a part of a sum where the input is whole and an output is not; whole
-- where everything is.
local function grad_cells(row)
  local split = false
  for _, c in ipairs(row.outputs) do split = split or c ~= "R" end
  local out = {}
  for i, c in ipairs(row.inputs) do
    out[i] = c:match("^S") and c or c == "R" and split and "P(sum)" or "R"
  end
  return out
end

-- Is that right?  Gradients of sum(out * k) with k known, on each pretend rank,
-- put together.  nil when the operator has no gradient here.
local function backward_holds(op, args, kw, row, tensors)
  local function grads(a, k, pick)
    local leaves = {}
    local x, y = sample.map(a, k, function (t, i)
      if not FLOAT[tostring(t.dtype)] then return t end
      leaves[i] = t:detach():clone():requires_grad_()
      return leaves[i]
    end)
    local res = run(op, x, y)
    if not res then return nil end
    local loss
    for i, o in ipairs(res) do
      if FLOAT[tostring(o.dtype)] and o.requires_grad then
        local k2 = pick(i)
        if k2 and same_shape(o, k2) then
          local term = (o * k2):sum()
          loss = loss and loss + term or term
        end
      end
    end
    if not loss or not pcall(function () loss:backward() end) then
      return nil
    end
    local out = {}
    for i, leaf in pairs(leaves) do out[i] = leaf.grad end
    return out
  end
  local want_out = run(op, args, kw)
  local weights = {}
  for i, o in ipairs(want_out) do
    if FLOAT[tostring(o.dtype)] then
      weights[i] = sample.tensor("f32", o.shape, 7 + i):to(o.dtype)
    end
  end
  local want = grads(args, kw, function (i) return weights[i] end)
  if not want then return nil end
  for _, c in ipairs(row.inputs) do if c:match("^P") then return nil end end
  local cells = grad_cells(row)
  for _, n in ipairs {2, 3} do
    local all = {}
    for r = 0, n - 1 do
      local a, k = sample.map(args, kw, function (t, i)
        return part(t, row.inputs[i], r, n)
      end)
      all[r + 1] = grads(a, k, function (i)
        local cell = row.outputs[i]
        if not weights[i] then return nil end
        return cell:match("^S") and part(weights[i], cell, r, n)
          or (cell == "R" or cell == "P(sum)") and weights[i] or nil
      end)
      if not all[r + 1] then return nil end
    end
    for i in ipairs(tensors) do
      if want[i] then
        local parts = column(all, i)
        if #parts < n or not gives(parts, cells[i], want[i]) then
          return false
        end
      end
    end
  end
  return true
end

-- ---- what is written ---------------------------------------------------

local function lua_cell(c)
  local d = c:match("^S%((%d+)%)$")
  if d then return ("Shard(%s)"):format(d) end
  local p = c:match("^P%((%a+)%)$")
  if p then return ('Partial("%s")'):format(p) end
  return "Replicate()"
end

-- Cells of the positional arguments: tensors their cell, others None.
local function arg_cells(args, row, none, open, close_)
  local n, out = 0, {}
  local function one(v)
    if is_tensor(v) then
      n = n + 1
      return lua_cell(row.inputs[n])
    end
    if type(v) == "table" and v ~= dt.None and getmetatable(v) == nil
       and flat(v, {})[1] then
      local list = {}
      for i, x in ipairs(v) do list[i] = one(x) end
      return open .. table.concat(list, ", ") .. close_
    end
    return none
  end
  for i = 1, args.n do out[i] = one(args[i]) end
  return table.concat(out, ", ")
end

local function outputs(row)
  local out = {}
  for i, c in ipairs(row.outputs) do out[i] = lua_cell(c) end
  return table.concat(out, ", ")
end

local function lua_rule(name, args, rows)
  local out = {("dt.register_sharding(dt.ops.%s, function(...)"):format(name),
    "  return {"}
  for _, r in ipairs(rows) do
    out[#out + 1] = ("    {{%s}, {%s}},"):format(outputs(r),
      arg_cells(args, r, "dt.None", "{", "}"))
  end
  out[#out + 1] = "  }"
  out[#out + 1] = "end)"
  return table.concat(out, "\n")
end

local function torch_rule(name, args, rows)
  local out = {
    "import torch",
    "from torch.distributed.tensor import Partial, Replicate, Shard",
    "from torch.distributed.tensor.experimental import register_sharding", "",
    ("@register_sharding(torch.ops.%s)"):format(name),
    "def rule(*args, **kwargs):", "    return ["}
  for _, r in ipairs(rows) do
    out[#out + 1] = ("        ([%s], [%s]),"):format(outputs(r),
      arg_cells(args, r, "None", "[", "]"))
  end
  out[#out + 1] = "    ]"
  return table.concat(out, "\n")
end

local function text(d)
  local out = {("%s(%s)"):format(d.op, d.sample)}
  local rows = {}
  for _, r in ipairs(d.valid) do
    rows[#rows + 1] = {table.concat(r.inputs, ", "), "->",
      table.concat(r.outputs, ", "), r.known == true and "has this rule"
        or r.known == false and "no rule yet" or "",
      r.backward and "backward " .. table.concat(r.gradients, ", ") or ""}
  end
  out[#out + 1] = page.columns(rows, "  ")
  out[#out + 1] = ("%d of %d placements are valid"):format(#d.valid, d.tried)
  for _, r in ipairs(d.wrong) do
    out[#out + 1] = ("its rule %s -> %s does NOT hold: %s"):format(
      table.concat(r.inputs, ", "), table.concat(r.outputs, ", "), r.why)
  end
  out[#out + 1] = "\n-- in Lua"
  out[#out + 1] = d.lua
  out[#out + 1] = "\n# in PyTorch"
  out[#out + 1] = d.torch
  if d.gradient_op then
    out[#out + 1] = ("\nits gradient is %s: :doctor %s"):format(d.gradient_op,
      d.gradient_op)
  end
  return table.concat(out, "\n")
end

-- ---- which operator, which inputs --------------------------------------

-- The overload a person means who names none: one with samples.
local function first_overload(ns, base)
  local names = {}
  for name, o in pairs(dt.ops[ns][base]) do
    if type(o) == "table" and o._op then names[#names + 1] = name end
  end
  table.sort(names, function (a, b)
    local x = #dt.debug.op_info(dt.ops[ns][base][a]).samples > 0
    local y = #dt.debug.op_info(dt.ops[ns][base][b]).samples > 0
    if x ~= y then return x end
    return a < b
  end)
  return names[1] and dt.ops[ns][base][names[1]]
end

local function find(name)
  local ns, base, over = name:match("^([%w_]+)%.([%w_]+)%.([%w_]+)$")
  if not ns then ns, base = name:match("^([%w_]+)%.([%w_]+)$") end
  if not ns then ns, base = "aten", name end
  local ok, op = pcall(function ()
    return dt.ops[ns][base][over or "default"]
  end)
  if (not ok or not op) and not over then
    ok, op = pcall(first_overload, ns, base)
  end
  if not ok or not op then
    page.fail("KEY", "no operator is called %s", name)
  end
  return op, dt.debug.op_info(op)
end

-- Inputs of the last recorded call of an operator, gathered.  Collective.
local function recorded(name)
  local entries = dt.debug.entries()
  for i = #entries, 1, -1 do
    local e = entries[i]
    if e.op == name and not e.call then
      local function arg(a)
        if type(a) ~= "table" or a == dt.None then return a end
        if a.slot then
          local v = e.inputs[a.slot]
          local t = v.id and dt.debug.revive(v.id, e.seq)
          if not t then return dt.None end
          return t.is_dtensor and t:full_tensor() or t
        end
        if a.dtype then return dt[(a.dtype:gsub("^torch%.", ""))] end
        if #a == 0 and next(a) ~= nil then return dt.None end
        local out = {}
        for k, x in ipairs(a) do out[k] = arg(x) end
        return out
      end
      local args, kw, any = {n = #e.args}, {}, false
      for k, a in ipairs(e.args) do args[k] = arg(a) end
      for k, a in pairs(e.kwargs) do
        local x = arg(a)
        if x ~= dt.None then kw[k], any = x, true end
      end
      return args, any and kw or nil, "the inputs of #" .. e.seq
    end
  end
end

local function rules_of(op, args, kw)
  local list = {op, table.unpack(args, 1, args.n)}
  if kw then list[#list + 1] = kw end
  local ok, rows = pcall(dt.debug.single_dim_rules,
    table.unpack(list, 1, args.n + (kw and 2 or 1)))
  return ok and rows or nil
end

local function key(row)
  return table.concat(row.inputs, ",") .. ">" .. table.concat(row.outputs, ",")
end

-- Rows the operator has already: are they valid, and are they all?
local function compare_rules(d, op, args, kw, want, valid_rows)
  local rules = rules_of(op, args, kw)
  if not rules then return end
  local has = {}
  for _, r in ipairs(rules) do has[key(r)] = true end
  for _, v in ipairs(valid_rows) do
    local all_r = not key(v):find("[SP]%(")
    v.known = has[key(v)] or all_r
  end
  for _, r in ipairs(rules) do
    local odd = false
    for _, c in ipairs(r.inputs) do
      odd = odd or not (c == "R" or c == "P(sum)" or c:match("^S%(%d+%)$"))
    end
    if not odd and #r.inputs > 0 then
      local out, why = try_row(op, args, kw, r.inputs, want)
      if not out and why == "the parts do not make up the whole" then
        d.wrong[#d.wrong + 1] = {inputs = r.inputs, outputs = r.outputs,
          why = why}
      end
    end
  end
end

local function gradient_of(name)
  for _, tail in ipairs {"_grad", "_backward"} do
    local ns, base = name:match("^([%w_]+)%.([%w_]+)")
    local ok, op = pcall(function ()
      return dt.ops[ns][base .. tail].default
    end)
    if ok and op then return ("%s.%s%s.default"):format(ns, base, tail) end
  end
end

local function examine(name, given)
  local op, info = find(name)
  local args, kw, what
  if given and given ~= "" then
    args, kw = sample.parse(given)
    what = given
  else
    args, kw, what = recorded(info.name)
    if not args and info.samples[1] then
      args, kw = sample.parse(info.samples[1])
      what = info.samples[1]
    end
  end
  if not args then
    page.fail("COMMAND", "%s has no samples and was not called: give inputs, "
      .. "as :doctor %s f32[6, 4]", info.name, info.name)
  end
  local plain = {sample.map(args, kw, function (t) return t:clone() end)}
  local want, why = run(op, plain[1], plain[2])
  if not want then
    page.fail("COMMAND", "%s fails on one device: %s", info.name,
      (why:gsub("%%", "%%%%")))
  end
  local rows, tensors = combinations(args, kw)
  local d = {op = info.name, sample = what, tried = #rows, valid = {},
    wrong = {}, decided_by = info.decided_by}
  for _, row in ipairs(rows) do
    local out = try_row(op, args, kw, row, want)
    if out and #tensors > 0 then
      local r = {inputs = row, outputs = out}
      local holds = dt.enable_grad(function ()
        return backward_holds(op, args, kw, r, tensors)
      end)
      if holds then
        r.backward, r.gradients = true, grad_cells(r)
      end
      d.valid[#d.valid + 1] = r
    end
  end
  compare_rules(d, op, args, kw, want, d.valid)
  d.lua = lua_rule(info.name, args, d.valid)
  d.torch = torch_rule(info.name, args, d.valid)
  d.gradient_op = gradient_of(info.name)
  return d
end

-- dt.debug.doctor(op[, inputs]): {op, sample, tried, valid = {{inputs, outputs,
-- known, backward, gradients}}, wrong, lua, torch}: op is a name
-- ("aten.mm.default"), inputs a text as "f32[6, 4], f32[4, 8]"; without them
-- the inputs of its last recorded call (Collective), else a sample of its own.
-- Without a name: the operator that failed last.
function M.doctor(name, inputs)
  if name == nil or name == "" then
    local f = dt.debug.failed()
    if not f then
      page.fail("COMMAND", "wanted an operator; none has failed")
    end
    name = f.op
  end
  if type(name) == "table" and name._op then
    name = dt.debug.op_info(name).name
  end
  if inputs == nil then
    local first, rest = name:match("^(%S+)%s+(.+)$")
    if first then name, inputs = first, rest end
  end
  return page.new(dt.debug.quietly(examine, name, inputs), text)
end

return M
