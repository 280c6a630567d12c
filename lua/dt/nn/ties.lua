-- SPDX-License-Identifier: MIT
-- dt/nn/ties.lua: parameters that several modules share, before and after the
-- modules were wrapped: a shared one that became two is a trap (T24), also
-- where each module was wrapped by a call of its own.

local dt = require "dt"

local M = {}

-- What a call put in the place of a parameter: the parameter's name and the
-- call, by parameter.
local replaced = setmetatable({}, {__mode = "k"})
local calls = 0

-- Ties that were reported as lost: pairs of {module, name}.
local lost = {}

-- A wrapping call begins.
function M.begin() calls = calls + 1 end

local function report_lost(p, a, b, text)
  lost[#lost + 1] = {a, b, text}
  dt._finding("UNTIED", p, text)
end

-- A parameter is put into a module: what is tied again was not lost.
function M.tied()
  for i = #lost, 1, -1 do
    local a, b, text = table.unpack(lost[i])
    if a[1]._parameters.map[a[2]] == b[1]._parameters.map[b[2]] then
      table.remove(lost, i)
      dt._unfound("UNTIED", text)
    end
  end
end

-- Parameter `p`, called `name` in module `m`, is replaced by a distributed one:
-- did another call do so before?
function M.replace(p, m, name)
  local path = m._class.__name .. "." .. name
  local was = replaced[p]
  if was and was.call ~= calls then
    report_lost(p, was.place, {m, name}, ("%s and %s were one tensor, each was "
      .. "wrapped by a call of its own"):format(was.name, path))
  else
    replaced[p] = {name = path, call = calls, place = {m, name}}
  end
end

-- The script puts another parameter in the place of `p`, called `name` in module
-- `m`: did it so at another place of `p` before?
function M.assign(p, m, name)
  local path = m._class.__name .. "." .. name
  local was = replaced[p]
  if not was then
    replaced[p] = {name = path, call = calls, place = {m, name}, assigned = true}
  elseif was.assigned and (was.place[1] ~= m or was.place[2] ~= name) then
    report_lost(p, was.place, {m, name}, ("%s and %s were one tensor, each was "
      .. "replaced by another"):format(was.name, path))
  end
end

-- The parameter that the script put in the place of `p`; nil: none, or `p` is there again.
function dt._put_for(p)
  local was = replaced[p]
  local now = was and was.assigned and was.place[1]._parameters.map[was.place[2]]
  return now ~= p and now or nil
end

-- Names of the parameters of `module` that have more than one, by tensor:
-- a list of {{module, name, path}, ...}.  A wrapping call begins.
function M.of(module)
  M.begin()
  local by, order = {}, {}
  for path, sub in module:named_modules() do
    for name, p in sub._parameters:each() do
      if p then
        if not by[p] then
          by[p] = {}
          order[#order + 1] = by[p]
        end
        table.insert(by[p], {sub, name, (path == "" and "" or path .. ".")
          .. name})
      end
    end
  end
  local ties = {}
  for _, places in ipairs(order) do
    if #places > 1 then ties[#ties + 1] = places end
  end
  return ties
end

-- Tell of those that are several tensors now.
function M.check(ties)
  for _, places in ipairs(ties) do
    local first = places[1][1]._parameters.map[places[1][2]]
    for i = 2, #places do
      local p = places[i][1]._parameters.map[places[i][2]]
      if p ~= first then
        report_lost(p, places[1], places[i], ("%s and %s were one tensor"):format(
          places[1][3], places[i][3]))
      end
    end
  end
end

return M
