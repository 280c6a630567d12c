-- SPDX-License-Identifier: MIT
-- dt/debug/grads.lua: dt.debug.grads: placements of leaves and of their
-- gradients side by side; reductions that are missing or made twice.

local dt = require "dt"
local page = require "dt.debug.page"
local trace = require "dt.debug.trace"

local M = {}

local function list(v) return v and table.concat(v, " ") or "plain" end

-- Collectives that reduce, per mesh dimension, of the backward operators that
-- lead to the gradient `id`, counted.
local function reductions(made, id)
  local count, done, todo = {}, {}, {id}
  while #todo > 0 do
    local at = made[table.remove(todo)]
    if at and at.e.backward and not done[at.e] then
      done[at.e] = true
      for _, c in ipairs(at.e.collectives) do
        if c.op:find("reduce", 1, true) then
          local key = c.mesh_dim
          count[key] = (count[key] or 0) + 1
        end
      end
      -- One path only: a gradient that sums branches is reduced in each.
      if #at.e.inputs == 1 and at.e.inputs[1].id then
        todo[#todo + 1] = at.e.inputs[1].id
      end
    end
  end
  return count
end

local function look(row, made)
  local f, g = row.forward, row.gradient
  local notes = {}
  if row.reduced_by then return notes end
  local function add(code, fmt, ...)
    notes[#notes + 1] = {code = code, text = fmt:format(...)}
  end
  if f.placements and not g.placements then
    add("grad-plain", "the gradient of a distributed leaf is plain")
  elseif g.placements then
    for m, p in ipairs(g.placements) do
      local dim = page.dim_name(g.mesh, m)
      local own = f.placements and f.placements[m] or "R"
      if p:match("P%(") then
        add("grad-not-reduced", "%s on %s: not reduced yet; to_local() reads "
          .. "one part of it", p, dim)
      elseif f.placements and p ~= own then
        add("grad-other-placement", "%s on %s where the leaf is %s", p, dim,
          own)
      end
    end
    for dim, n in pairs(reductions(made, row.grad_id)) do
      if n > 1 then
        add("grad-reduced-twice", "reduced %d times on %s", n, dim)
      end
    end
  end
  if table.concat(f.shape, ",") ~= table.concat(g.shape, ",") then
    add("grad-shape", "the shapes differ")
  end
  return notes
end

-- Do all ranks have the same leaves?  Stages of a pipeline do not, and what one
-- rank alone compares the others would wait for.  Collective.
local function same_leaves(rows)
  local own = {}
  for i, r in ipairs(rows) do
    own[i] = ("%s %s %s %s"):format(table.concat(r.forward.shape, ","),
      r.forward.placements ~= nil, r.gradient.placements ~= nil,
      r.reduced_by or "")
  end
  own = table.concat(own, ";")
  for _, theirs in ipairs(dt.debug.from_all(own)) do
    if theirs ~= own then return false end
  end
  return true
end

-- Plain gradients of leaves that are equal on all ranks must be equal too.
-- Agreed: every rank has the same rows.
local function plain_differ(row, seq)
  if row.forward.placements or row.gradient.placements or row.reduced_by
     or dt.debug.no_data() then return end
  local leaf = dt.debug.revive(row.id, seq)
  local g = row.grad_id and dt.debug.revive(row.grad_id, seq)
  local have = dt.debug.from_all(leaf and g and "1" or "0")
  for _, h in ipairs(have) do if h == "0" then return end end
  local same_leaf = dt.debug.same_bits(leaf)
  local same_grad, groups = dt.debug.same_bits(g)
  if same_leaf and not same_grad then
    return {code = "grad-not-reduced", text = "the leaf is equal on all ranks, "
      .. "its gradient differs between ranks " .. groups
      .. (dt.debug.stop() and ": nothing has reduced it so far"
        or ": a reduction is missing")}
  end
end

local function text(d)
  if #d.rows == 0 then return "no gradient has reached a leaf yet" end
  local rows = {{"leaf", "shape", "forward", "gradient", ""}}
  for _, r in ipairs(d.rows) do
    local first = true
    for _, n in ipairs(#r.findings > 0 and r.findings or {{text = ""}}) do
      rows[#rows + 1] = first and {r.name or "#" .. r.id,
        "{" .. table.concat(r.forward.shape, ", ") .. "}",
        list(r.forward.placements), list(r.gradient.placements),
        n.text ~= "" and n.text or r.reduced_by and "reduced by "
          .. r.reduced_by or ""} or {"", "", "", "", n.text}
      first = false
    end
  end
  local n, out = #d.found, {page.columns(rows, "")}
  for _, r in ipairs(d.rows) do n = n + #r.findings end
  for _, f in ipairs(d.found) do
    out[#out + 1] = ("%s %s:%d %s: %s"):format(f.code, f.file, f.line, f.tensor,
      f.title)
  end
  out[#out + 1] = ("%d %s, %d finding%s"):format(#d.rows,
    #d.rows == 1 and "leaf" or "leaves", n, n == 1 and "" or "s")
  return table.concat(out, "\n")
end

-- Findings of the program that speak of gradients.
local function found_of_gradients()
  local out = {}
  for _, f in ipairs(dt.debug.findings()) do
    if f.severity ~= "note" and (f.title .. f.cause):find("gradient", 1, true) then
      out[#out + 1] = f
    end
  end
  return out
end

-- dt.debug.grads(): {rows = {{id, name, param, forward, gradient, count,
-- reduced_by, findings = {{code, text}}}}, found}: a row for each leaf that a
-- gradient reached, and those of dt.debug.findings() that are about gradients.
-- What fully_shard takes from a leaf it reduces itself, over its own
-- dimension and, where they are addends, over those of tensor parallelism.
-- Collective: plain gradients are compared between ranks.
function M.grads()
  local entries = dt.debug.entries()
  local made = trace.makers(entries)
  local by_storage, last = {}, 0
  for _, e in ipairs(entries) do
    last = math.max(last, e.seq)
    if e.backward then
      for _, v in ipairs(e.outputs) do
        if v.id then by_storage[v.storage] = v.id end
      end
    end
  end
  local rows, names = dt.debug.gradients(), page.names()
  local fsdp = package.loaded["dt.fsdp.param"]
  local taken = fsdp and fsdp.taken() or {}
  for _, r in ipairs(rows) do
    r.name = r.name or names[r.id]
    r.grad_id = by_storage[r.storage]
    r.reduced_by = taken[r.id] and "fully_shard" or nil
    r.findings = look(r, made)
  end
  local comparable = same_leaves(rows)
  for _, r in ipairs(rows) do
    local more = comparable and plain_differ(r, last + 1)
    if more then r.findings[#r.findings + 1] = more end
  end
  return page.new({rows = rows, found = found_of_gradients()}, text)
end

return M
