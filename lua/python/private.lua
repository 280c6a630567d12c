-- SPDX-License-Identifier: MIT
-- python/private.lua: private names: __x in the body of class C means _C__x.
-- The words of the body are changed before it is read; a word keeps what was
-- written in the field `plain`, which keywords of calls are.

local M = {}

-- is(name): has it two underscores before it, and not behind?
function M.is(name)
  return name:find("^__") ~= nil and not name:find("__$")
end

-- name(class, name): what the private name means in a class of that name.
function M.name(class, name)
  local stem = class:match("^_*(.+)$")
  return stem and "_" .. stem .. name or name
end

-- mangle(tokens, first, class): the private names among the words from the first
-- on, up to the end of the block that opens there, or of its line.
function M.mangle(tokens, first, class)
  local depth = 0
  for i = first, #tokens do
    local t = tokens[i]
    local kind = t[1]
    if kind == "indent" then
      depth = depth + 1
    elseif kind == "dedent" then
      depth = depth - 1
      if depth == 0 then return end
    elseif kind == "newline" and depth == 0 and (tokens[i + 1] or {})[1]
       ~= "indent" then
      return
    elseif kind == "name" and M.is(t.plain or t[2]) then
      t.plain = t.plain or t[2]
      t[2] = M.name(class, t.plain)
    end
  end
end

return M
