-- SPDX-License-Identifier: MIT
-- lib/samples.lua: samples of operators (dt.samples), and a walk over
-- all overloads.

local M = setmetatable({}, {__index = require "dt.testing.samples"})

-- all() -> list of overloads, in a fixed order, with what the tables say.
function M.all()
  local list = {}
  for _, packet in ipairs(dt._op_names()) do
    local ns, base = packet:match("([^.]+)%.(.+)")
    local names = {}
    for name, o in pairs(dt.ops[ns][base]) do
      if type(o) == "table" and o._op then names[#names + 1] = name end
    end
    table.sort(names)
    for _, name in ipairs(names) do
      local op = dt.ops[ns][base][name]
      list[#list + 1] = {op = op, info = dt.debug.op_info(op)}
    end
  end
  return list
end

return M
