-- SPDX-License-Identifier: MIT
-- python/typed.lua: lines as they are typed at a prompt of Python.

local lexer = require "python.lexer"

local M = {}

local blocks = {["@"] = true, ["async"] = true, class = true, def = true,
  ["for"] = true, ["if"] = true, match = true, try = true, ["while"] = true,
  with = true}

-- Is more to come?  As in Python's own shell: inside brackets and strings, after
-- a backslash, and a statement with a block goes on to an empty line; one whose
-- block is on its own line is whole.  `pasted`: lines that came at once are all
-- there is of a block.
function M.needs_more(text, pasted)
  local ok, tokens = pcall(lexer.tokens, text)
  if not ok then
    return type(tokens) == "table" and tokens.reason == "ends early"
  end
  if text:find("\\$") then return true end
  if pasted then return false end
  local first = tokens[1]
  if not blocks[first[2]] or text:find("\n%s*$") then return false end
  if first[2] == "@" or text:find("\n") then return true end
  return tokens[#tokens - 2][2] == ":"    -- before the line's end and the text's
end

return M
