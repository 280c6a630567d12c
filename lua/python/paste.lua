-- SPDX-License-Identifier: MIT
-- python/paste.lua: what people paste for Python: a Markdown block, a
-- transcript of Python's or IPython's shell, a notebook's cell with magics,
-- quotes and spaces that a web page made its own.  A text that is Python
-- already stays as it is.

local parser = require "python.parser"

local M = {}

local function lines_of(text)
  local out = {}
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do out[#out + 1] = line end
  if out[#out] == "" then out[#out] = nil end
  return out
end

local function joined(lines) return table.concat(lines, "\n") .. "\n" end

-- Ends of lines and spaces that are none of Python's.
local function spaces(text)
  return (text:gsub("^\xEF\xBB\xBF", ""):gsub("\r\n?", "\n")
    :gsub("\xC2\xA0", " "):gsub("\xE2\x80[\x8B\x8C\x8D]", "")
    :gsub("\xE2\x80\xAF", " "))
end

-- The blocks between ``` that are Python's; where none says so, all that say
-- nothing of it.
local function fences(text)
  local out, inside, keep = {}, false, false
  local named = text:find("[`~][`~][`~]%s*{?%.?[Pp]y") ~= nil
  for _, line in ipairs(lines_of(text)) do
    local word = line:match("^%s*[`~][`~][`~]+%s*{?%.?(%w*)")
    if word then
      inside = not inside
      keep = inside and (word:find("^[Pp]y") ~= nil
        or word == "" and not named)
    elseif inside and keep then
      out[#out + 1] = line
    end
  end
  return #out > 0 and joined(out) or text
end

-- A transcript: the lines behind prompts, without what was answered.
local function transcript(text, first, more)
  if not ("\n" .. text):find("\n" .. first:sub(2)) then return text end
  local out = {}
  for _, line in ipairs(lines_of(text)) do
    local code = line:match(first .. "(.*)$") or line:match(more .. "(.*)$")
    if code then out[#out + 1] = code end
  end
  return joined(out)
end

local function python_shell(text)
  for _, word in ipairs {"import ", "from ", "def ", "class "} do
    if ("\n" .. text):find("\n" .. word, 1, true) then
      return text                     -- a file, whose texts hold transcripts
    end
  end
  return transcript(text, "^%s*>>> ?", "^%s*%.%.%. ?")
end

local function ipython(text)
  return transcript(text, "^%s*In %[%d*%]: ?", "^%s+%.%.%.+: ?")
end

-- What a notebook gives to its shell.
local function magics(text)
  local out = {}
  for i, line in ipairs(lines_of(text)) do
    out[i] = line:find("^%s*[!%%$] ?%S") and "" or line
  end
  return joined(out)
end

-- All lines begin with the same spaces.
local function dedented(text)
  local least
  for _, line in ipairs(lines_of(text)) do
    local space = line:match("^([ \t]*)%S")
    if space and (not least or #space < #least) then least = space end
  end
  if not least or least == "" then return text end
  local out = lines_of(text)
  for i, line in ipairs(out) do
    if line:sub(1, #least) == least then out[i] = line:sub(#least + 1) end
  end
  return joined(out)
end

local function quotes(text)
  return (text:gsub("\xE2\x80[\x9C-\x9F]", '"'):gsub("\xE2\x80[\x98-\x9B]",
    "'"))
end

local STEPS = {spaces, fences, python_shell, ipython, magics, dedented, quotes}

-- read(text, line): the Python in it and its statements, of which the first
-- line has that number (1); a text in which there is none comes back alone, so
-- that its own first error is reported.
function M.read(text, line)
  local ok, list = pcall(parser.parse, text, line)
  if ok then return text, list end
  local now = text
  for _, step in ipairs(STEPS) do
    local new = step(now)
    if new ~= now then
      ok, list = pcall(parser.parse, new, line)
      if ok then return new, list end
    end
    now = new
  end
  return text
end

return M
