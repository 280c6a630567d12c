-- SPDX-License-Identifier: MIT
-- dt/debug/page.lua: answers of the debugger: data that print as a page.

local dt = require "dt"
local util = require "dt.util"

local M = {}

-- The table `data`, which prints as what `text(data)` returns.  Keys and
-- values stay plain data, so it can be written as JSON.
function M.new(data, text)
  return setmetatable(data, {__tostring = function (d)
    return (text(d):gsub("\n+$", ""))
  end})
end

-- Raise an error of the debugger by the name of its code ("COMMAND").
function M.fail(code, fmt, ...)
  local text = select("#", ...) > 0 and fmt:format(...) or fmt
  error(dt.error(code, text), 0)
end

-- 1536 -> "1.5 kB"
function M.bytes(n)
  local units, u = {"B", "kB", "MB", "GB", "TB"}, 1
  while n >= 1024 and u < #units do n, u = n / 1024, u + 1 end
  if n == math.floor(n) then return ("%d %s"):format(n, units[u]) end
  return ("%.1f %s"):format(n, units[u])
end

-- Rows of cells as lines with aligned columns, two blanks between.
function M.columns(rows, indent)
  local wide = {}
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do
      wide[i] = math.max(wide[i] or 0, utf8.len(cell) or #cell)
    end
  end
  local lines = {}
  for _, row in ipairs(rows) do
    local parts = {}
    for i, cell in ipairs(row) do
      local pad = i < #row and wide[i] - (utf8.len(cell) or #cell) or 0
      parts[i] = cell .. (" "):rep(pad)
    end
    lines[#lines + 1] = ((indent or "") .. table.concat(parts, "  "))
      :gsub("%s+$", "")
  end
  return table.concat(lines, "\n")
end

-- A flat list as nested lists of a shape.
function M.nest(list, shape)
  local at = 0
  local function level(d)
    local out = {}
    for i = 1, shape[d] do
      if d == #shape then
        at = at + 1
        out[i] = list[at]
      else
        out[i] = level(d + 1)
      end
    end
    return out
  end
  return level(1)
end

-- "repro.lua:14", "" when unknown.
function M.place(e)
  if not e.line or e.line == 0 then return "" end
  return ("%s:%d"):format(e.file, e.line)
end

-- Id of what a person means: a tensor, or the name of a variable.
function M.id(x)
  if type(x) == "string" then
    local id = dt.debug.name_id(x)
    if not id then M.fail("KEY", "no tensor was called %s", x) end
    return id, x
  end
  if not util.is_tensor(x) then
    M.fail("TYPE", "wanted a tensor or the name of a variable, not %s",
      x == nil and "nil: nothing has that name" or type(x))
  end
  return (dt.debug.id(x))
end

-- A result of the prompt's (_, _1, _2, ...): no name that anybody gave.
local function is_result(name) return name:find("^_%d*$") ~= nil end
M.is_result = is_result

-- What the last line called a tensor is noted with the next operator: until
-- then it is a global.
local function global_name(id)
  local found
  for name, v in pairs(_G) do
    if type(name) == "string" and util.is_tensor(v) and not is_result(name)
       and dt.debug.id(v) == id and (not found or name < found) then
      found = name
    end
  end
  return found
end

-- The last name that held tensor `id`, or nil; a name given in the script goes
-- before a result of the prompt's.
function M.name_of(id)
  local names, result = dt.debug.names(), nil
  for i = #names, 1, -1 do
    if names[i].id == id then
      if not is_result(names[i].name) then return names[i].name end
      result = result or names[i].name
    end
  end
  return global_name(id) or result
end

-- {[id] = its name as name_of gives it}: for many at once.
function M.names()
  local of = {}
  for _, n in ipairs(dt.debug.names()) do
    if not of[n.id] or is_result(of[n.id]) or not is_result(n.name) then
      of[n.id] = n.name
    end
  end
  return of
end

-- Position (from 1) of a mesh dimension given by name or number from 0.
function M.mesh_dim(mesh, dim)
  if type(dim) == "string" then
    for i, name in ipairs(mesh.names) do if name == dim then return i end end
    local n = tonumber(dim)
    if n then return M.mesh_dim(mesh, math.tointeger(n) or n) end
  elseif math.type(dim) == "integer" and dim >= 0 and dim < #mesh.shape then
    return dim + 1
  end
  M.fail("KEY", "the mesh has no dimension %s", tostring(dim))
end

function M.dim_name(mesh, m) return mesh.names[m] or "dim " .. (m - 1) end

-- Rank 0 writes; all learn how it went.
function M.write(file, text)
  local said = ""
  if dt.rank() == 0 or dt.debug.no_data() then
    local ok, err = pcall(dt._write_file, file, text)
    said = ok and "ok" or type(err) == "table" and err.message or tostring(err)
  end
  local all = dt.debug.from_all(said)
  if all[1] ~= "ok" then M.fail("IO", "%s", (all[1]:gsub("%%", "%%%%"))) end
end

return M
