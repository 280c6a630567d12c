-- SPDX-License-Identifier: MIT
-- dt/diagnose/keywords.lua: a printed fix that is a keyword of one call, made in the
-- report's own program: DDP(model, static_graph=True) where it says DDP(model).
-- Only names and constants of the catalogue's own texts get into the program.

local M = {}

-- Names of one thing, as programs import it.
local same <const> = {DDP = {"DDP", "DistributedDataParallel"},
  FSDP = {"FSDP", "FullyShardedDataParallel"}}

-- The name and the keywords {name, value} of a text that is one call; nil where it
-- is more, or has no constant keyword.
local function read(text)
  local name, args = text:match "^[%w_%. =]-([%a_][%w_]*)(%b())%s*$"
  if not name then return nil end
  local list = {}
  for key, value in args:gmatch "[%(,]%s*([%a_][%w_]*)%s*=%s*([%w_]+)%s*%f[,%)]" do
    if value == "True" or value == "False" or value == "None" or tonumber(value) then
      list[#list + 1] = {key, value}
    end
  end
  return #list > 0 and name or nil, list
end

-- The arguments with the keyword given, "(...)"; as they are where its value is an
-- expression, or a comment could swallow it.
local function with(args, key, value)
  local given <const> = "%f[%w_]" .. key .. "%s*=%f[^=]%s*"
  if args:find(given) then
    return (args:gsub("(" .. given .. ")[%w_%.]+(%s*%f[,%)])", "%1" .. value .. "%2"))
  end
  if args:find("#", 1, true) then return args end
  local inner = args:sub(2, -2):gsub("[%s,]+$", "")
  return ("(%s%s%s=%s)"):format(inner, inner == "" and "" or ", ", key, value)
end

-- Is what stands before a name a definition of it?
local function defines(before)
  return before:find "%f[%w_]class%s+$" or before:find "%f[%w_]def%s+$"
end

-- The program with the keywords of `fix` in each call of its name; nil where the fix
-- is no such text or the program has no such call, or nothing changes.
function M.apply(program, fix)
  local name, list = read(fix or "")
  if not name then return nil end
  local out = program
  for _, called in ipairs(same[name] or {name}) do
    local text <const> = out
    out = text:gsub("()(%f[%w_]" .. called .. ")(%b())", function (at, head, args)
      if defines(text:sub(math.max(1, at - 10), at - 1)) then return nil end
      for _, k in ipairs(list) do args = with(args, k[1], k[2]) end
      return head .. args
    end)
  end
  return out ~= program and out or nil
end

return M
