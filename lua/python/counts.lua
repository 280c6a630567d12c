-- SPDX-License-Identifier: MIT
-- python/counts.lua: how many arguments methods of the types of data take, and
-- Python's words for another number.

local util = require "dt.util"
local V = require "python.values"

local M = {}

-- Methods whose words are "find() takes at most 3 arguments (4 given)".
local IN_BRACKETS = {}
for name in ([[find rfind index rindex count startswith endswith split rsplit
  splitlines encode decode expandtabs]]):gmatch "%S+" do
  IN_BRACKETS[name] = true
end

local function refuse(kind, name, least, most, n)
  local limit, word = most, "most"
  if n < least then limit, word = least, "least" end
  local s = limit == 1 and "" or "s"
  if most == 0 then
    util.raise("TypeError", "%s.%s() takes no arguments (%d given)", kind, name,
      n)
  elseif least == most and most == 1 then
    util.raise("TypeError", "%s.%s() takes exactly one argument (%d given)",
      kind, name, n)
  elseif least == most then
    util.raise("TypeError", "%s expected %d argument%s, got %d", name, most, s,
      n)
  elseif IN_BRACKETS[name] and kind ~= "list" and kind ~= "tuple" then
    util.raise("TypeError", "%s() takes at %s %d argument%s (%d given)", name,
      word, limit, s, n)
  end
  util.raise("TypeError", "%s expected at %s %d argument%s, got %d", name, word,
    limit, s, n)
end

-- check(kind, methods, spec): the methods of a type's table refuse another
-- number of arguments than spec says: lines of a name, the least, the most and
-- "kw", where keywords are taken.
function M.check(kind, methods, spec)
  for name, least, most, kw in spec:gsub(" kw", "=kw"):gmatch(
      "([%a_]+) (%d+) (%d+)=?(k?w?)") do
    local f = methods[name]
    least, most = tonumber(least), tonumber(most)
    if f then
      methods[name] = function (self, args, named, narrow)
        local n = args and args.n
        if n and (n < least or n > most) then
          refuse(kind, name, least, most, n)
        end
        if named and n and kw == "" and V.count(named) > 0 then
          util.raise("TypeError", "%s.%s() takes no keyword arguments", kind,
            name)
        end
        return f(self, args, named, narrow)
      end
    end
  end
end

-- What texts and bytes have in common.
M.OF_TEXT = [[capitalize 0 0 title 0 0 swapcase 0 0 lower 0 0 upper 0 0
  casefold 0 0 isalnum 0 0 isalpha 0 0 isascii 0 0 isdecimal 0 0 isdigit 0 0
  isidentifier 0 0 islower 0 0 isnumeric 0 0 isprintable 0 0 isspace 0 0
  istitle 0 0 isupper 0 0 find 1 3 rfind 1 3 index 1 3 rindex 1 3 count 1 3
  startswith 1 3 endswith 1 3 join 1 1 zfill 1 1 ljust 1 2 rjust 1 2
  center 1 2 replace 2 3 removeprefix 1 1 removesuffix 1 1 partition 1 1
  rpartition 1 1 split 0 2 kw rsplit 0 2 kw splitlines 0 1 kw expandtabs 0 1 kw
  encode 0 2 kw decode 0 2 kw format_map 1 1 lstrip 0 1 rstrip 0 1 strip 0 1]]

return M
