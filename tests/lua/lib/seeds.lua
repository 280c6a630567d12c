-- SPDX-License-Identifier: MIT
-- lib/seeds.lua: compare what happens with the recorded programs of
-- tests/parity/2.13/seeds: tensors, placements, collectives, errors.

local M = {passed = 0, failed = 0}

local folder = "tests/parity/2.13/seeds/"

-- Numbers of the data have 7 (seed1) or 9 digits; PyTorch's own tolerances
-- for float32 cover the other order of sums.
local RTOL, ATOL = 1e-5, 1e-5

-- All lines of a file by id; facts of this rank are merged in.
function M.load(name)
  local byid = {}
  for line in io.lines(folder .. name .. ".jsonl") do
    local rec = dt._json_decode(line)
    local mine = rec.per_rank and rec.per_rank[dt.rank() + 1]
    for key, value in pairs(mine or {}) do rec[key] = value end
    byid[rec.id] = rec
  end
  return byid
end

local function text(v)
  if type(v) == "table" then return require("dt.tensor.inspect")(v) end
  return tostring(v)
end

-- Count one check; a failure is printed.
function M.check(ok, what, got, want)
  if ok then
    M.passed = M.passed + 1
    return true
  end
  M.failed = M.failed + 1
  print("FAILED " .. what)
  if got ~= nil or want ~= nil then
    print("  got  " .. text(got))
    print("  want " .. text(want))
  end
  return false
end

local function flatten(v, out)
  if type(v) ~= "table" then out[#out + 1] = v
  else for _, x in ipairs(v) do flatten(x, out) end end
  return out
end

local function number(v)
  if v == true then return 1 elseif v == false then return 0 end
  return v
end

-- Are two lists of numbers the same within the tolerance?
function M.same_numbers(got, want, what)
  got, want = flatten(got, {}), flatten(want, {})
  if #got ~= #want then
    return M.check(false, what .. ": how many", #got, #want)
  end
  for i = 1, #got do
    local a, b = number(got[i]), number(want[i])
    local same = a == b or math.abs(a - b) <= ATOL + RTOL * math.abs(b)
    if not same then
      return M.check(false, ("%s: element %d"):format(what, i - 1), a, b)
    end
  end
  return M.check(true, what)
end

local function list_text(list)
  local out = {}
  for i, v in ipairs(list) do out[i] = tostring(v) end
  return table.concat(out, " ")
end

-- A tensor against its record: kind, dtype, shape, placements, values.
function M.tensor(t, want, what)
  local is = dt.is_tensor(t)
  if not is then return M.check(false, what .. ": is a tensor", t, want) end
  local ok = M.check(t.is_dtensor == (want.dt ~= nil), what .. ": kind",
    t.is_dtensor and "dt" or "t", want.dt and "dt" or "t")
  M.check(t.dtype == dt[want.dt or want.t], what .. ": dtype", t.dtype,
    want.dt or want.t)
  M.check(list_text(t.shape) == list_text(want.shape), what .. ": shape",
    list_text(t.shape), list_text(want.shape))
  if not ok then return end
  if want.pl then
    M.check(list_text(t.placements) == list_text(want.pl),
      what .. ": placements", list_text(t.placements), list_text(want.pl))
  end
  local part = t:detach()
  if t.is_dtensor then part = part:to_local() end
  if want.local_shape then
    M.check(list_text(part.shape) == list_text(want.local_shape),
      what .. ": local shape", list_text(part.shape),
      list_text(want.local_shape))
  end
  if want["local"] or want.values then
    M.same_numbers(part:tolist(), want["local"] or want.values,
      what .. ": values")
  end
end

-- Many tensors by name.
function M.tensors(get, wants, what)
  for name, want in pairs(wants) do
    local t = get(name)
    if type(want) == "table" and (want.dt or want.t) then
      M.tensor(t, want, what .. " " .. name)
    else
      if t.is_dtensor then t = t:detach():full_tensor() end
      M.same_numbers(t:detach():tolist(), want, what .. " " .. name)
    end
  end
end

-- Names of collectives without the way PyTorch calls them.
local plain = {allreduce_ = "all_reduce", _allgather_base_ = "all_gather",
  all_gather_into_tensor = "all_gather", scatter_ = "scatter",
  reduce_scatter_tensor = "reduce_scatter", broadcast_ = "broadcast",
  _reduce_scatter_base_ = "reduce_scatter"}

local function coll_text(c)
  local op = c.op
  return ("%s %d->%d [%s]"):format(plain[op] or op, c.bytes_in, c.bytes_out,
    table.concat(c.group, ","))
end

-- Run f; returns its result (or nil), its error, and its collectives.
function M.run(f)
  local events, result, err = dt.debug.record(f)
  local colls = {}
  for _, e in ipairs(events) do
    if e.kind == "COLL" then
      e.op = e.coll
      colls[#colls + 1] = e
    end
  end
  return result, err, colls
end

-- Collectives in order: kind, bytes, group, reduction.
function M.collectives(got, want, what)
  local a, b = {}, {}
  for i, c in ipairs(got) do a[i] = coll_text(c) end
  for i, c in ipairs(want) do b[i] = coll_text(c) end
  local x, y = table.concat(a, "; "), table.concat(b, "; ")
  M.check(x == y, what .. ": collectives", x, y)
  for i, c in ipairs(want) do
    if c.reduce and got[i] then
      M.check(got[i].reduce == c.reduce, what .. ": reduction", got[i].reduce,
        c.reduce)
    end
  end
end

-- An error object against {"class", "text"}.
function M.raises(err, want, what)
  if type(err) ~= "table" then
    return M.check(false, what .. ": raises", err, want.text)
  end
  M.check(err.class == want.class, what .. ": class", err.class, want.class)
  M.check(err.torch == want.text, what .. ": text", err.torch, want.text)
end

-- Does the run fail exactly when the record says so?  True when it worked.
function M.outcome(rec, err, what)
  if rec.raises then
    M.raises(err, rec.raises, what)
    return false
  end
  return M.check(err == nil, what .. ": works",
    type(err) == "table" and err.torch or err, "no error")
end

-- The last line, and the exit code.
function M.finish()
  print(("%d passed, %d failed"):format(M.passed, M.failed))
  if M.failed > 0 then os.exit(1) end
end

return M
