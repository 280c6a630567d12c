-- SPDX-License-Identifier: MIT
-- dt/ties.lua: parameters that several modules share, before and after the
-- modules were wrapped: a shared one that became two is a trap (T24).

local dt = require "dt"

local M = {}

-- Names of the parameters of `module` that have more than one, by tensor:
-- a list of {{module, name, path}, ...}.
function M.of(module)
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
        dt._finding("UNTIED", p, ("%s and %s were one tensor"):format(
          places[1][3], places[i][3]))
      end
    end
  end
end

return M
