-- SPDX-License-Identifier: MIT
-- repl/help/lazy.lua: modules that learn their size from the first input; rows
-- as in layers.lua, made of those of what they become.

local layers = require "repl.help.layers"
local spatial = require "repl.help.spatial"

-- class that it becomes = {its first argument, arguments of an example, input}
local FORMS <const> = {
  {"Linear", "2", "dt.ones(3, 4)"},
  {"Conv1d", "4, 2", "dt.ones(1, 3, 5)"},
  {"Conv2d", "4, 2", "dt.ones(1, 3, 5, 5)"},
  {"Conv3d", "4, 2", "dt.ones(1, 3, 3, 3, 3)"},
  {"ConvTranspose1d", "4, 2", "dt.ones(1, 3, 5)"},
  {"ConvTranspose2d", "4, 2", "dt.ones(1, 3, 5, 5)"},
  {"ConvTranspose3d", "4, 2", "dt.ones(1, 3, 3, 3, 3)"},
  {"BatchNorm1d", "", "dt.randn(4, 3)"},
  {"BatchNorm2d", "", "dt.randn(2, 3, 4, 4)"},
  {"BatchNorm3d", "", "dt.randn(2, 3, 2, 2, 2)"},
  {"InstanceNorm1d", "", "dt.randn(2, 3, 4)"},
  {"InstanceNorm2d", "", "dt.randn(2, 3, 4, 4)"},
  {"InstanceNorm3d", "", "dt.randn(2, 3, 2, 2, 2)"},
}

local by_class = {}
for _, rows in ipairs {layers, spatial} do
  for _, row in ipairs(rows) do by_class[row[1]] = row end
end

local out = {}
for _, form in ipairs(FORMS) do
  local row = by_class[form[1]]
  local takes = row[3]:gsub("^[%w_]+, ", "")
  if form[1]:find("^InstanceNorm") then         -- as PyTorch has it
    takes = takes:gsub("(affine ?= ?)%a+", "%1True")
      :gsub("(track_running_stats ?= ?)%a+", "%1True")
  end
  out[#out + 1] = {"Lazy" .. form[1], "-", takes, "",
    "A " .. form[1] .. " that learns how many inputs it has from the first "
    .. "one; before that it has no parameters", row[6], form[2], form[3], ""}
end
return out
