-- SPDX-License-Identifier: MIT
-- torch/diagnose.lua: dt.diagnose for those who start it, as the program
-- `dtrepl diagnose` and at the prompt: with the reader of Python, which tells
-- what the code in a report does.

local code = require "dt.diagnose.code"
local cli = require "dt.diagnose.cli"
local prompt = require "dt.diagnose.prompt"
local parser = require "python.parser"
local free = require "python.free"

code.set_parser(parser.parse, free.names)

return setmetatable({import = prompt.import, fixes = prompt.fixes,
  explain = prompt.explain}, {__call = function (_, tool, args)
  return cli(tool, args)
end})
