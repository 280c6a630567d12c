-- SPDX-License-Identifier: MIT
-- python/keywords.lua: the words of the language that are no names, in the order
-- of keyword.kwlist.

local M = {list = {}, set = {}}

for word in ([[False None True and as assert async await break class continue
  def del elif else except finally for from global if import in is lambda
  nonlocal not or pass raise return try while with yield]]):gmatch "%S+" do
  M.list[#M.list + 1], M.set[word] = word, true
end

return M
