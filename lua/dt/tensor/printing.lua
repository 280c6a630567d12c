-- SPDX-License-Identifier: MIT
-- dt/tensor/printing.lua: how values of tensors are printed, as in PyTorch.

local dt = require "dt"
local util = require "dt.util"

local M = {}

local names = {"precision", "threshold", "edgeitems", "linewidth", "profile",
  "sci_mode"}

local unlimited = (1 << 31) - 1
local profiles = {
  default = {4, 1000, 3, 80},
  short = {2, 1000, 2, 80},
  full = {4, unlimited, 3, 80},
}

-- dt.set_printoptions{precision = 4, threshold = 1000, edgeitems = 3,
-- linewidth = 80, profile = "default|short|full", sci_mode = true|false}:
-- digits after the point; from how many elements on a tensor is summarised;
-- elements shown at each edge then; columns; scientific notation always,
-- never, or (not given) where it is shorter.  What is not given stays.
function M.set_printoptions(...)
  local a = util.bind("set_printoptions", names, {}, ...)
  if a.profile ~= nil and a.profile ~= dt.None then
    local p = profiles[a.profile]
    if p then dt._printoptions(table.unpack(p)) end
  end
  local function given(v)
    if v == dt.None then return nil end
    if v == math.huge then return unlimited end
    return v
  end
  dt._printoptions(given(a.precision), given(a.threshold),
    given(a.edgeitems), given(a.linewidth), given(a.sci_mode))
end

-- dt.get_printoptions(): the options in force, by name.
function M.get_printoptions()
  local p, t, e, w, sci = dt._printoptions()
  return {precision = p, threshold = t == unlimited and math.huge or t,
    edgeitems = e, linewidth = w, sci_mode = sci}
end

return M
