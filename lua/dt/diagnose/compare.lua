-- SPDX-License-Identifier: MIT
-- dt/diagnose/compare.lua: is what a repro raised what the report prints?
-- "same": the very words and numbers; "form": the message with other numbers,
-- or the form it has in another release; nil: another message.

local clean = require "dt.diagnose.clean"

local M = {}

local WORDS <const> = 0.8       -- of a message's words: another release's form
local FEW <const> = 16          -- letters that are enough to know a message by
local SENTENCE <const> = 36     -- letters of a first sentence that is one

-- Letters and digits; every device is one.
local function squash(text)
  return (clean.squash(text):gsub("'?cuda", "cpu"):gsub("npu", "cpu")
    :gsub("devicecpu", "cpu"))
end

-- Letters only, so that sizes and numbers of ranks do not matter.
local function letters(text) return (squash(text):gsub("%d+", "")) end

-- What was raised, without the notes behind it: "@because ..." (a reason that
-- the release keeps apart), "@class ...", "@absent ...".
function M.message(text) return (text:gsub("\n@%l+ [^\n]*", "")) end

-- What was raised, in parts that a traceback prints by themselves: what an
-- operator says, and the reason that a release keeps behind it.
local function parts_of(text)
  local list, class = {}, text:match "\n@class ([^\n]+)"
  text = text:gsub("\n@class [^\n]*", ""):gsub("\n@absent [^\n]*", "")
  local head = text:match "^(.-)\n\nSharding propagation" or text
  if class then list[1] = class .. ": " .. M.message(head) end
  -- reports cut long messages behind their first sentence
  local first = head:match "^(%u[^\n]-)[%.!] %u"
  if first and #first >= SENTENCE then list[#list + 1] = first end
  for part in (head .. "\n@because "):gmatch "(.-)\n@because " do
    for piece in (part .. "\nError: "):gmatch "(.-)\nError: " do
      list[#list + 1] = piece
    end
  end
  return list
end

local QUOTED <const> = 4000    -- letters of a text that quotes its error

-- Does what the report prints as errors hold most words of `text`?  One that
-- quotes its error within a sentence is read whole.
local function shares_words(r, text, least)
  local said = {}
  for i, e in ipairs(r.exceptions) do said[i] = e.message end
  if #said == 0 and #r.doc.flat <= QUOTED then said[1] = r.doc.flat end
  local low, n, held = table.concat(said, " "):lower(), 0, 0
  for w in text:sub(1, 300):lower():gmatch "%a%a%a%a+" do
    n = n + 1
    if low:find(w, 1, true) then held = held + 1 end
  end
  return n >= least and held >= WORDS * n
end

-- Is a text no more than an operator's name?  Reports name one in whatever they
-- print: it is the message only where an error says no more.
local function is_name_alone(r, part)
  if not part:find "^%s*[%w_]+%.[%w_]+%.[%w_]+%s*$" then return false end
  for _, e in ipairs(r.exceptions) do
    if squash(e.message) == squash(part) then return false end
  end
  return true
end

-- Does the report print one of the parts, by what `of` leaves of a text?
local function printed(r, text, of)
  local whole = of(r.doc.text)
  for _, part in ipairs(parts_of(text)) do
    local mine = of(part)
    if #mine >= FEW and whole:find(mine, 1, true) and not is_name_alone(r, part) then
      return true
    end
  end
  return false
end

-- Does `text` hold a message of the report whole, one that was cut short?
local function holds_message(r, text, of)
  local mine = of(text)
  for _, e in ipairs(r.exceptions) do
    local said = of(e.message)
    if #said >= FEW and mine:find(said, 1, true) then return true end
  end
  return false
end

-- Ranks that part are told here in one way; a backend's watchdog, its debug mode
-- and gloo's abort each have words of their own for it.
local PARTED <const> = {"Detected mismatch between collectives on ranks",
  "Watchdog caught collective operation timeout", "op.preamble.length <= op.nbytes"}

-- Is `text` what is raised here where ranks part?
function M.ranks_part(text) return text:find "^ranks took different paths" ~= nil end

local function says_that_ranks_part(r)
  for _, words in ipairs(PARTED) do
    if r.doc.flat:find(words, 1, true) then return true end
  end
  return false
end

-- Both name the same row of the table of texts.
local function same_template(r, again)
  for _, a in ipairs(r.templates) do
    for _, b in ipairs(again.templates) do
      if a.text == b.text then return true end
    end
  end
  return false
end

-- How `text` is the report's message: "same", "form", or nil and why not.
function M.judge(read, r, text)
  if printed(r, text, squash) or holds_message(r, text, squash) then
    return "same"
  elseif printed(r, text, letters) or holds_message(r, text, letters) then
    return "form"
  end
  -- releases in which propagation hides the reason behind its own line
  if text:find("Sharding propagation failed", 1, true)
    and (r.op and text:find(r.op, 1, true) or r.class and r.class.id
      == "dynamic-output-shape")
    and (r.doc.flat:find("Sharding propagation failed", 1, true)
         or r.doc.flat:find("OutputShapeException", 1, true)) then
    return "form"
  end
  if M.ranks_part(text) and says_that_ranks_part(r) then
    return "form"
  end
  text = M.message(text)
  local again = read(text)
  if r.sign and again.sign == r.sign or same_template(r, again) then
    return "form"
  end
  local alike = again.class ~= nil and r.class ~= nil
    and again.class.id == r.class.id
  -- a report that prints a message is reproduced by that message alone, or by
  -- the form it has in another release
  if alike and (#r.templates == 0 and #r.exceptions == 0
    or r.op and text:find(r.op, 1, true)) or shares_words(r, text, alike and 3
    or 6) then
    return "form"
  end
  return nil, alike and "raises another message of this class"
    or "raises another error"
end

return M
