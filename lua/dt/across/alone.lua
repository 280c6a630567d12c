-- SPDX-License-Identifier: MIT
-- dt/across/alone.lua: a program that has ended runs once more, on one rank
-- and without files, in a process of its own; only its record is wanted.
-- Arguments: seconds that it may take, the record's file, options and program.
--
-- Exit status: 0 the record is there, 1 it is not.

return function (tool, args)
  local argv = {tool.program(), "--alone", args[2], "--color", "never",
    "--no-history", table.unpack(args, 3)}
  local _, code = tool.run(argv, "", tonumber(args[1]))
  return code == 0 and 0 or 1
end
