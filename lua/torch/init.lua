-- SPDX-License-Identifier: MIT
-- torch/init.lua: runs Python texts over torch on this engine: the part
-- of the language that reproductions and training programs are written in.
--
--   local py = require "torch"
--   local env = py.environment()
--   py.run("y = torch.ones(2, 3) @ torch.ones(3, 4)", env)
--   print(env.vars.y)

local eval = require "python.eval"
local names = require "torch.names"
local values = require "python.values"
require "torch.training"
require "torch.paths"

require("python.sources").set_tools {run = eval.run,
  environment = function () return names.environment() end}

return {run = eval.run, value = eval.value, last = eval.last, call = eval.call,
  environment = names.environment, names = names, values = values}
