-- SPDX-License-Identifier: MIT
-- python/std/init.lua: modules of Python's own library that are read when a
-- program first names them, and by which file here.  Those that are not listed
-- are needed by every program and are read at the start.

local attrs = require "python.attrs"

attrs.provide_late {
  _absent = "python.std.absent",
  _json = "python.std.json",
  _regex = "python.std.regex",
  _turns = "python.std.turns",
  _weak = "python.std.weak",
  ast = "python.std.ast",
  enum = "python.std.enum",
  hashlib = "python.std.hashlib",
  itertools = "python.std.itertools",
  math = "python.std.math",
  operator = "python.std.operator",
  random = "python.std.random",
  struct = "python.std.struct",
}
