-- SPDX-License-Identifier: MIT
-- dt/diagnose/stated.lua: what a report says of a tensor that its code does not
-- make: "x is a DTensor of shape (8, 64), Shard(0)", "w: [Replicate(), Shard(1)]".
-- Placements and sizes that were said are no values made up.

local M = {}

local LIMIT <const> = 20000     -- letters that are looked at
local NEAR <const> = 90         -- behind the name
local MOST <const> = 1 << 22    -- elements of a tensor that is made

-- One placement at the beginning of `text` and what follows it.
local function placement(text)
  local dim, rest = text:match "^Shard%(d?i?m?=?(%d)%)(.*)"
  if dim then return ("Shard(%s)"):format(dim), rest end
  rest = text:match "^Replicate%(%)(.*)"
  if rest then return "Replicate()", rest end
  local how
  how, rest = text:match "^Partial%(([%l\"']*)%)(.*)"
  if how then
    how = how:gsub("[\"']", "")
    return (how == "" or how == "sum") and "Partial()" or ("Partial(%q)"):format(how), rest
  end
end

-- The placements at the first of them in `text`: a list in brackets, or one.
local function placements(text)
  local at = text:find "%f[%a]Shard%(" or #text + 1
  at = math.min(at, text:find "%f[%a]Replicate%(" or at, text:find "%f[%a]Partial%(" or at)
  local list, rest = {}, text:sub(at)
  while rest do
    local p, after = placement(rest)
    if not p then break end
    list[#list + 1] = p
    -- outside brackets a comma may begin another sentence
    rest = text:sub(at - 1, at - 1):find "[%[%(]" and after:match "^%s*,%s*(.*)" or nil
  end
  return #list > 0 and #list <= 3 and list or nil, at
end

-- Sizes in brackets before the placements: [8, 64], (8, 64), torch.Size([8, 64]).
local function shape_of(text)
  local inner = text:match "[%[%(](%d+[%d, ]*)[%]%)]"
  if not inner then return nil end
  local list, n = {}, 1
  for s in inner:gmatch "%d+" do
    list[#list + 1] = math.tointeger(tonumber(s))
    n = n * (list[#list] or MOST + 1)
    if n > MOST then return nil end
  end
  return #list <= 6 and list or nil
end

-- tensor(name, text) -> {placements=, shape= or nil} that the text says of the
-- tensor of this name, or nil.  What stands between is a few words: another name
-- with placements of its own, or a new sentence, ends it.
function M.tensor(name, text)
  if not name:find "^[%a_][%w_]*$" then return nil end
  text = text:sub(1, LIMIT)
  local at = 1
  for _ = 1, 20 do
    local a, b = text:find("%f[%w_]" .. name .. "%f[^%w_]", at)
    if not a then return nil end
    local rest = text:sub(b + 1, b + NEAR)
    local said = rest:match "^ ?:? ?[%(%[]" or rest:match "^ is " or rest:match "^: "
      or rest:match "^ has " or rest:match "^ %(" or rest:match "^%.placements"
    local list, from = placements(rest)
    if said and list and not rest:sub(1, from - 1):find "%. %u" then
      local shape = shape_of(rest:sub(1, from - 1)) or shape_of(rest:sub(from):match
        "^[^%]%)]*[%]%)][^%a]*of shape(.*)" or "")
      return {placements = list, shape = shape}
    end
    at = b + 1
  end
end

return M
