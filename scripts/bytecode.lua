-- SPDX-License-Identifier: MIT
-- bytecode.lua: without_locals(code): a compiled chunk without the names of its
-- local variables, but those of parameters; the library's are shown nowhere.
-- To intern them took a seventh of a Python program's start.  The layout is
-- that of lundump.c in Lua 5.4; of another release the code is left as it is.

local M = {}

-- Signature, version, format, check data, sizes of an instruction, an integer
-- and a number, an integer and a number to compare: then the first function.
local HEAD <const> = "\27Lua\x54\0\x19\x93\r\n\x1a\n\4\8\8"
  .. string.pack("<i8d", 0x5678, 370.5)

-- Bytes behind the tag of a constant; strings have a length instead.
local CONSTANT <const> = {[0x00] = 0, [0x01] = 0, [0x11] = 0, [0x03] = 8,
  [0x13] = 8, [0x04] = "text", [0x14] = "text"}

local cursor = {}
cursor.__index = cursor

-- An integer of seven bits a byte, the highest first; the last has the top bit.
function cursor:integer()
  local v = 0
  repeat
    local byte = self.code:byte(self.at)
    self.at = self.at + 1
    v = v << 7 | byte & 0x7f
  until byte & 0x80 ~= 0
  return v
end

function cursor:skip(n) self.at = self.at + n end
function cursor:skip_text()
  local size = self:integer()       -- one more than its bytes; 0 for none
  self:skip(math.max(size - 1, 0))
end

local function to_integer(v)
  local out = string.char(v & 0x7f | 0x80)
  v = v >> 7
  while v > 0 do
    out = string.char(v & 0x7f) .. out
    v = v >> 7
  end
  return out
end

-- What was read up to here goes to `out` as it is.
function cursor:keep()
  self.out[#self.out + 1] = self.code:sub(self.kept, self.at - 1)
  self.kept = self.at
end

local function skip_constants(c)
  for _ = 1, c:integer() do
    local behind = assert(CONSTANT[c.code:byte(c.at)], "an unknown constant")
    c:skip(1)
    if behind == "text" then c:skip_text() else c:skip(behind) end
  end
end

-- The variables that are there from the first instruction on.
local function keep_parameters(c)
  c:keep()
  local n, kept = 0, {}
  for _ = 1, c:integer() do
    local from = c.at
    c:skip_text()
    local first = c:integer()
    c:integer()
    if first == 0 then
      n = n + 1
      kept[n] = c.code:sub(from, c.at - 1)
    end
  end
  c.out[#c.out + 1] = to_integer(n) .. table.concat(kept)
  c.kept = c.at
end

local function read_function(c)
  c:skip_text()                     -- source
  c:integer()                       -- its first line, and the last
  c:integer()
  c:skip(3)                         -- parameters, vararg, stack
  c:skip(4 * c:integer())
  skip_constants(c)
  c:skip(3 * c:integer())           -- upvalues
  for _ = 1, c:integer() do read_function(c) end
  c:skip(c:integer())               -- lines
  for _ = 1, c:integer() do
    c:integer()
    c:integer()
  end
  keep_parameters(c)
  for _ = 1, c:integer() do c:skip_text() end       -- upvalues' names
end

function M.without_locals(code)
  if code:sub(1, #HEAD) ~= HEAD then return code end
  local c = setmetatable({code = code, at = #HEAD + 2, kept = 1, out = {}},
    cursor)
  read_function(c)
  c:keep()
  assert(c.at == #code + 1, "bytes are left behind the code")
  return table.concat(c.out)
end

return M
