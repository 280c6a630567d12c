-- SPDX-License-Identifier: MIT
-- parity/spmd_common.lua: what the suites about SPMD types share: lines for
-- this world, meshes by name, the order in which JSON has a table's keys,
-- comparison of values over ranks.

local dt = require "dt"
local facts = require "parity.facts"

local M = {}

M.dtypes = {f32 = dt.float32, f64 = dt.float64, bf16 = dt.bfloat16,
  f16 = dt.float16, i64 = dt.int64, i32 = dt.int32, u8 = dt.uint8,
  b8 = dt.bool, c64 = dt.complex64}

-- The keys of the object that follows `"name":` in a JSON text (of strings
-- and numbers only), in their order; nil without one.
function M.keys(text, name, from)
  local at = text:find('"' .. name .. '":%s*{', from or 1)
  if not at then return nil end
  local body, list = text:match("{(.-)}", at), {}
  for key in body:gmatch('"([^"]+)":') do list[#list + 1] = key end
  return list
end

-- mesh_of(text, line): {names, sizes, n}.
function M.mesh_of(text, line)
  local names, sizes, n = M.keys(text, "mesh"), {}, 1
  for i, name in ipairs(names) do
    sizes[i] = line.mesh[name]
    n = n * sizes[i]
  end
  return {names = names, sizes = sizes, n = n}
end

-- f(text, line, mesh) for the lines of a file that want this many ranks;
-- what it gives (nil: right) is reported under the line's id.
function M.each(path, only, f)
  local report = {}
  for text in io.lines(path) do
    local id = text:match('"id":%s*"(.-[^\\])"')
    if only == "" or id:find(only, 1, true) then
      local line = dt._json_decode(text)
      local mesh = M.mesh_of(text, line)
      if mesh.n == dt.world_size() then
        report[#report + 1] = {what = line.id, why = f(text, line, mesh)}
      end
    end
  end
  return report
end

-- ---- values ----

function M.differs(what, want, got)
  local a, b = facts.encode(want), facts.encode(got)
  if a ~= b then return ("%s: want %s, got %s"):format(what, a, b) end
end

-- A tensor's numbers on this rank.
function M.numbers(t)
  local list = {}
  local flat = t:detach():to(dt.float64):reshape(-1)
  for i = 1, flat:numel() do
    local v = flat:select(0, i - 1):item()
    list[i] = math.tointeger(v) or v
  end
  return {shape = {table.unpack(t.shape)}, data = list}
end

local function same_list(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do if a[i] ~= b[i] then return false end end
  return true
end

-- Values of all ranks against {"all": …} or {"ranks": […]}.
function M.compare_values(what, want, ranks)
  for r, got in ipairs(ranks) do
    local w = want.all or want.ranks[r]
    if got == dt.None or not same_list(w.shape, got.shape)
       or not same_list(w.data, got.data) then
      return ("%s on rank %d: want %s, got %s"):format(what, r - 1,
        facts.encode(w), facts.encode(got))
    end
  end
end

-- Class and text of an error, addresses left out; facts were taken on a group
-- without a network.
function M.failure(e)
  if type(e) ~= "table" then
    return {class = "RuntimeError", text = tostring(e)}
  end
  local text = (e.message or ""):gsub("0x%x+", "0xADDR")
    :gsub("ProcessGroupGloo::", "FakeProcessGroup::")
  return {class = e.class, text = text}
end

-- The package's words: what follows them is ours.
function M.words(text)
  local at = text:find("\n\n  where the types come from", 1, true)
  return at and text:sub(1, at - 1) or text
end

function M.compare_error(want, got)
  if not got then
    return ("no error, want %s: %s"):format(want.class, want.text)
  end
  local text = M.words(got.text)
  if want.class ~= got.class or want.text ~= text then
    return ("error: want %s: %s, got %s: %s"):format(want.class, want.text,
      tostring(got.class), text)
  end
end

return M
