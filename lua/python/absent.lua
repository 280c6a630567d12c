-- SPDX-License-Identifier: MIT
-- python/absent.lua: what a program imports and dtrepl does not have.
-- Repros import much that they never use: a name may be there, be passed
-- on, annotate; what is called or derived from is said with its line.  An
-- import inside try raises as in Python: the program has an answer to it.

local dt = require "dt"
local V = require "python.values"

local M = {}

local function refuse(name, line)
  local e = dt.error("NOTIMPL", ("%s, imported on line %d, is not part of "
    .. "dtrepl"):format(name, line), "NotImplementedError")
  e.reason, e.lacks = "absent", name
  error(e, 0)
end

-- make(name, line): a value for torch.fx.Tracer, imported on that line.
function M.make(name, line)
  return setmetatable({absent = name, line = line, __name__ = name,
    shown = ("<'%s': not part of dtrepl>"):format(name),
    test = function () return false end,
    call = function () return refuse(name, line) end}, V.builtin_mt)
end

-- name(v): what is absent, or nil.
function M.name(v) return type(v) == "table" and rawget(v, "absent") or nil end

-- get(v, name): v.name.
function M.get(v, name) return M.make(v.absent .. "." .. name, v.line) end

-- refuse(v): raise, with what and where.
function M.refuse(v) return refuse(v.absent, v.line) end

-- import(f, name, line, guarded): what f() gives; when there is no such module
-- or name, something that stands for it, unless the import is `guarded` or it
-- is a file of the program that cannot import something.
function M.import(f, name, line, guarded)
  local ok, v = pcall(f)
  if ok then return v end
  local e = require("python.exceptions").exception(v)
  local of_file = type(v) == "table" and v.raised_in
  if guarded or of_file or (e.class ~= "ModuleNotFoundError" and e.class ~= "ImportError")
  then
    error(v, 0)
  end
  return M.make(name, line)
end

return M
