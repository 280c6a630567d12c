-- SPDX-License-Identifier: MIT
-- parity/compare.lua: what a program did against what PyTorch did: rows of
-- operators with specs, redistributions and collectives; and trees of facts
-- with numbers, each by the tolerance of its dtype.

local dt = require "dt"
local facts = require "parity.facts"

local M = {}

-- rtol and atol per dtype: PyTorch's assert_close.
local tolerance = {f64 = {1e-7, 1e-7}, f32 = {1.3e-6, 1e-5},
  bf16 = {1.6e-2, 1e-5}, f16 = {1e-3, 1e-5}}

-- A dtype that is not built in, and what stands for it.
local other_dtypes = {["torch.uint64"] = "i64"}

local function number(v)
  if type(v) ~= "table" then return v end
  if v.nan then return 0 / 0 end
  if v.inf then return v.inf > 0 and math.huge or -math.huge end
  return v
end

local function close(want, got, dtype)
  want, got = number(want), number(got)
  if want == got then return true end
  if type(want) ~= "number" or type(got) ~= "number" then return false end
  if want ~= want and got ~= got then return true end
  local t = tolerance[dtype]
  if not t then return want == got end
  return math.abs(want - got) <= t[2] + t[1] * math.abs(want)
end

local function text(v)
  local s = facts.encode(v)
  return #s > 160 and s:sub(1, 157) .. "..." or s
end

-- ---- facts ----

local function sums(list)
  local norm, sum = 0.0, 0.0
  for _, v in ipairs(list) do
    v = number(v)
    norm, sum = norm + v * v, sum + v
  end
  return math.sqrt(norm), sum
end

local function same_part(want, got, from, dtype, path, slack)
  for i, w in ipairs(want) do
    local g = got[from + i]
    if not close(w, g, dtype) and not (slack and type(w) == "number"
       and type(g) == "number" and math.abs(w - g) <= slack) then
      return ("%s[%d]: want %s, got %s"):format(path, from + i - 1, text(w),
        text(g))
    end
  end
end

-- A unit in the last place of numbers about 1.
local unit = {bf16 = 2 ^ -8, f16 = 2 ^ -11}

-- What parts that cancel may leave: the parts were rounded where they were
-- as large as the largest number there is, and PyTorch adds them in an order
-- that depends on where they lie.
local function largest(want)
  local most = 0
  for _, part in ipairs {want.data or {}, want.head or {}, want.tail or {}} do
    for _, v in ipairs(part) do
      v = math.abs(number(v))
      if v < math.huge and v > most then most = v end
    end
  end
  return most
end

-- A tensor's numbers: in full, or by norm, sum, head and tail.  Sums over
-- ranks that were made in a low dtype are as exact as that dtype.
local function same_tensor(want, got, path, low)
  local room_low = low and want.dt == "f32" and unit[low] * largest(want)
  local dtype, data = low and want.dt == "f32" and low or want.dt, got.data
  if want.dt ~= got.dt or text(want.shape) ~= text(got.shape) then
    return ("%s: want %s %s, got %s %s"):format(path, want.dt,
      text(want.shape), tostring(got.dt), text(got.shape))
  end
  if want.data then
    if #want.data ~= #data then
      return ("%s: want %d numbers, got %d"):format(path, #want.data, #data)
    end
    return same_part(want.data, data, 0, dtype, path, room_low)
  end
  local why = same_part(want.head or {}, data, 0, dtype, path, room_low)
    or same_part(want.tail or {}, data, #data - #(want.tail or {}), dtype,
      path, room_low)
  if why then return why end
  local norm, sum = sums(data)
  local slack = dtype == "f64" and "f64" or dtype
  if want.norm and not close(want.norm, norm, slack) then
    return ("%s.norm: want %s, got %s"):format(path, text(want.norm),
      text(norm))
  end
  local t = tolerance[dtype]
  local room = t and t[2] * math.sqrt(#data) + t[1] * (norm * (#data) ^ 0.5) or 0
  if want.sum and math.abs(number(want.sum) - sum) > room then
    return ("%s.sum: want %s, got %s"):format(path, text(want.sum), text(sum))
  end
end

local function is_tensor_facts(v)
  return type(v) == "table" and v.dt and v.shape and (v.data or v.norm)
end

-- First difference of two trees, or nil.  `dtype` is that of the run, `low`
-- that of its reductions where it is a lower one.
function M.tree(want, got, dtype, path, low)
  if type(want) == "table" and (want.nan or want.inf) then
    want = number(want)
  end
  if type(got) == "table" and (got.nan or got.inf) then got = number(got) end
  if type(want) ~= "table" then
    if path:find("_max_abs_diff_from", 1, true) then return nil end
    if math.type(want) == "float" and close(want, got, dtype) then
      return nil
    end
    if want == got or other_dtypes[want] == got then return nil end
    return ("%s: want %s, got %s"):format(path, text(want), text(got))
  end
  if type(got) ~= "table" then
    return ("%s: want %s, got %s"):format(path, text(want), text(got))
  end
  if is_tensor_facts(want) and is_tensor_facts(got) then
    return same_tensor(want, got, path, low)
  end
  if type(want.spec) == "table" then    -- a number that has a dtype of its own
    dtype = low or want.spec.t or want.spec.dt or dtype
  end
  if want.text and want.class then
    if want.class ~= got.class or want.text ~= got.text then
      return ("%s: want %s %s, got %s %s"):format(path, want.class,
        want.text, tostring(got.class), tostring(got.text))
    end
  end
  if #want ~= #got then
    return ("%s: want %d items, got %d"):format(path, #want, #got)
  end
  for key, w in pairs(want) do
    local g = got[key]
    if g == nil then g = dt.None end
    local why = M.tree(w, g, dtype, path .. "." .. tostring(key), low)
    if why then return why end
  end
end

-- ---- rows ----

local function is_spec(v)
  return type(v) == "table" and (v.dt ~= nil or v.t ~= nil) and v.shape ~= nil
end

-- Placements as text; a mask partial without what it masks.
local function pl_text(pl)
  local out = {}
  for i, p in ipairs(pl) do out[i] = p:gsub("^MaskP%(.*$", "MaskP(sum)") end
  return table.concat(out)
end

local function spec_text(v, names)
  if v.t then return "t: " .. v.t .. text(v.shape) .. (v.stride
    and text(v.stride) or "") end
  local mesh = v.mesh and table.concat(v.mesh, ",") or names
  return "dt: " .. (other_dtypes[v.dt] or v.dt) .. text(v.shape) .. pl_text(v.pl)
    .. (v.stride and text(v.stride) or "")
    .. (mesh ~= names and " on " .. mesh or "")
end

-- All tensors of a value as one text, in order.
local function specs_of(v, names, out)
  if type(v) ~= "table" then return end
  if is_spec(v) then
    out[#out + 1] = spec_text(v, names)
    return
  end
  for i = 1, #v do specs_of(v[i], names, out) end
end

local function specs_text(v, names)
  local out = {}
  specs_of(v, names, out)
  return table.concat(out, ", ")
end

local function redist_text(row)
  local out = {}
  for i, r in ipairs(row.redist or {}) do
    local src, dst = pl_text(r.src), pl_text(r.dst)
    if src ~= dst then
      out[#out + 1] = ("%s%s->%s"):format(r.implicit and r.arg
        and (r.arg .. ":") or "",
        src, dst)
    end
    out[i] = out[i]
  end
  return table.concat(out, " ")
end

local function group_text(g)
  if g.ranks then return table.concat(g.ranks, "-") end
  return table.concat(g, ",")
end

-- A sum is not named: what C++ starts (DDP's reducer) has no reduction in the
-- trace.
local function coll_text(row)
  local out = {}
  for i, c in ipairs(row.coll or {}) do
    out[i] = ("%s(%s %d>%d%s)"):format(c.op, group_text(c.group), c.bytes_in,
      c.bytes_out, c.reduce and c.reduce ~= "sum" and " " .. c.reduce or "")
  end
  return table.concat(out, " ")
end

-- A row as text: what must be equal.
function M.row_text(row, names)
  local parts = {row.op}
  if not row.op:find("^c10d%.") and not row.op:find("^_c10d_functional%.") then
    parts[#parts + 1] = "(" .. specs_text(row["in"] or {}, names) .. ")"
    parts[#parts + 1] = "-> " .. (row.error and "error"
      or specs_text(row.out or {}, names))
  end
  local r, c = redist_text(row), coll_text(row)
  if r ~= "" then parts[#parts + 1] = "{" .. r .. "}" end
  if c ~= "" then parts[#parts + 1] = "[" .. c .. "]" end
  return table.concat(parts, " ")
end

-- distribute_tensor detaches the plain tensor before it sends it.
local function before_sending(row, after)
  return row.plain and row.op == "aten.detach.default" and after
    and after.op:find("^c10d%.[bs][rc].*_%.default$")
end

-- Rows that are not compared: waits (nothing is asynchronous here), what gloo
-- does inside a reduce-scatter, and what comes before a broadcast.
function M.kept(rows)
  local out = {}
  local gloo = 0
  for i, row in ipairs(rows) do
    if row.op == "torchao.float8.wide"
       or row.op == "_c10d_functional.wait_tensor.default"
       or row.op == "_c10d_functional._wrap_tensor_autograd.default"
       or before_sending(row, rows[i + 1])
       or (row.phase == "init" and row.plain and not row.coll) then
      gloo = gloo                               -- dropped
    elseif gloo > 0 and row.plain and (row.op == "aten.split.Tensor"
      or row.op == "aten.copy_.default") then
      gloo = gloo - 1
    else
      gloo = row.op == "c10d._reduce_scatter_base_.default" and 2 or 0
      out[#out + 1] = row
    end
  end
  return out
end

local function by_phase(rows)
  local groups, order = {}, {}
  for _, row in ipairs(rows) do
    local key = row.step .. " " .. row.phase
    if not groups[key] then
      groups[key] = {}
      order[#order + 1] = key
    end
    table.insert(groups[key], row)
  end
  return groups, order
end

-- Compare one phase; returns the first difference, and how many rows agree.
local function same_phase(want, got, key, names)
  local n = math.max(#want, #got)
  for i = 1, n do
    local w = want[i] and M.row_text(want[i], names) or "(nothing)"
    local g = got[i] and M.row_text(got[i], names) or "(nothing)"
    if w ~= g then
      return ("step %s row %d of %d: want %s, got %s"):format(key, i, #want, w,
        g), i - 1
    end
  end
  return nil, n
end

-- First difference of the rows; phases that were left out of the file are
-- compared with the one they were equal to.
function M.rows(want, got, summary, names)
  local joined = table.concat(names or {}, ",")
  local w, order = by_phase(M.kept(want))
  local g = by_phase(M.kept(got))
  local why, good, total = nil, 0, 0
  for _, key in ipairs(order) do
    local y, k = same_phase(w[key], g[key] or {}, key, joined)
    why, good, total = why or y, good + k, total + #w[key]
  end
  for _, left in ipairs(summary.steps_left_out or {}) do
    local same = left.equal_to_step
    if type(same) == "number" and w[same .. " " .. left.phase] then
      local key = left.step .. " " .. left.phase
      why = why or same_phase(w[same .. " " .. left.phase], g[key] or {}, key,
        joined)
    end
  end
  return why, good, total
end

-- Collectives alone: their order within a phase, with groups and bytes.
function M.collectives(want, got, _, names)
  local function only(rows)
    local out = {}
    for _, row in ipairs(rows) do
      if row.coll then
        for _, c in ipairs(row.coll) do
          out[#out + 1] = {op = "collective", phase = row.phase,
            step = row.step, coll = {c}}
        end
      end
    end
    return out
  end
  return M.rows(only(want), only(got), {}, names)
end

return M
