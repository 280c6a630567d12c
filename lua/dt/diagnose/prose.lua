-- SPDX-License-Identifier: MIT
-- dt/diagnose/prose.lua: reports that only describe.  Words are gathered to
-- concepts (a claim, a subject, a way of parallelism); a class is known by
-- several concepts together, never by one, at low confidence, and with the
-- words it was read from.  Asked only when no message says more.

local M = {}

local claims = require "dt.diagnose.claims"

local LIMIT = 60000
local FORM <const> = 400        -- letters in which a form shows

local alternatives = {}

-- The alternatives of "a|=b", read once: what is shown, and the pattern of a whole
-- word.
local function alternatives_of(words)
  local list = alternatives[words]
  if not list then
    list = {}
    for text in words:gmatch "[^|]+" do
      local word = text:match "^=(.*)$"
      list[#list + 1] = {word or text, word and "%f[%w]" .. word .. "%f[^%w]"}
    end
    alternatives[words] = list
  end
  return list
end

-- Which of some words is said: the first alternative in the text, or false.
local function look(low, words)
  for _, alternative in ipairs(alternatives_of(words)) do
    local text, pattern = alternative[1], alternative[2]
    if low:find(text, 1, true) and (not pattern or low:find(pattern)) then
      return text
    end
  end
  return false
end

-- The weight of a concept: less when many rules ask for it.
local telling

local function weigh(rule)
  if not telling then
    telling = {}
    for _, other in ipairs(claims.rules) do
      for c in other[3]:gmatch "%S+" do telling[c] = (telling[c] or 0) + 1 end
    end
  end
  local sum = 0
  for c in rule[3]:gmatch "%S+" do sum = sum + 1 / (1 + math.log(telling[c])) end
  return sum
end

-- The report without the frames of tracebacks, whose names of functions and
-- folders ("_slow_path") claim nothing.
local function claimed_text(r)
  local flat = r.doc.flat:sub(1, LIMIT)
  flat = flat:gsub('File "[^"]*", line %d+, in [%w_<>%.]+', " ")
  return flat:lower()
end

local known = setmetatable({}, {__mode = "k"})  -- by the report's text

-- Which concepts occur in the report: a function of their names, what it has found,
-- and the text it looks in.
local function concepts_of(r)
  local k = known[r.doc]
  if not k then
    local low, seen = claimed_text(r), {}
    k = {seen = seen, low = low, has = function (concept)
      if seen[concept] == nil then
        seen[concept] = look(low, claims.concepts[concept])
      end
      return seen[concept]
    end}
    known[r.doc] = k
  end
  return k.has, k.seen, k.low
end

-- The concepts that occur in a report: {[name] = the words}; and "ours",
-- "complains" and "asks", true for what several of them say together.
function M.concepts(r)
  local has = concepts_of(r)
  local set = {}
  for name in pairs(claims.concepts) do set[name] = has(name) or nil end
  set.ours = M.is_ours(r) and true or nil
  set.complains = M.complains(r) and true or nil
  set.asks = r.doc.flat:find("?", 1, true) and true or nil
  return set
end

-- The first of `words`, alternatives as those of a concept, that the report says.
function M.says(r, words)
  local _, _, low = concepts_of(r)
  return look(low, words)
end

-- Is it a matter of distributed tensors at all, and no news of them?
local function is_of_ours(has)
  return (has "dt" or has "fsdp") and not has "news"
    and (not has "elsewhere" or has "dtensor" or has "fsdp")
end

-- Does the report speak of something of ours, and ask for no advice?
function M.is_ours(r)
  local has = concepts_of(r)
  return is_of_ours(has) and has "dt" and not has "question"
end

-- Does it complain of it?
function M.complains(r)
  return M.is_ours(r) and concepts_of(r) "complaint"
end

-- Words for several processes, for a tensor in several places and for what is done
-- with these.
local several = {"rank", "gpus", "devices", "per_device", "nccl", "gloo", "distribut",
  "parallel", "shard", "mesh", "reduce", "gather", "all_to_all", "all-to-all", "broadcast",
  "process", "nodes", "world_size", "world size", "torchrun", "replica", "partial",
  "placement", "collective", "expert", "dispatch", "propagat", "schema", "ddp", "wrap",
  "meta", "micro-batch", "microbatch", "local", "checkpoint", "state_dict", "sequence",
  "strateg", "load balanc", "whole tensor"}

-- Does the report speak of several processes at all?  Reports of one device are
-- worded much like ours.
function M.is_of_several(r)
  local has = concepts_of(r)
  if has "fsdp" or has "dtensor" then return true end
  if has "storage" then return false end
  if has "dt" then return true end
  local low = claimed_text(r)
  for _, word in ipairs(several) do
    if low:find(word, 1, true) then return true end
  end
  return low:find "%f[%a][tdcpes]p%f[%A]"
end

local announced = {"^adds? ", "^supports? ", "^enables? ", "^implements? ",
  "^introduces? ", "^replaces? ", "^refactors? ", "^this pr adds "}

-- How a wish begins.
local wished = {"^[#%*%s]*feature request", "^[#%*%s]*%[?feature%]?:",
  "^[#%*%s]*%[feature[^%]]*%]", "^[#%*%s]*%[?rfc%]?[:%s]",
  "^[#%*%s]*🚀 the feature"}

-- Does it announce or wish for something new, and tell of no fault?
function M.announces(r)
  local has = concepts_of(r)
  local head = r.doc.flat:sub(1, 200):lower():gsub("^%s+", "")
  for _, wish in ipairs(wished) do
    if head:find(wish) then return #r.exceptions == 0 end
  end
  -- the form for wishes of many projects, below the title
  if r.doc.flat:sub(1, FORM):lower():find("the feature, motivation", 1, true) then
    return #r.exceptions == 0
  end
  head = head:gsub("^%[[^%]]*%]:?%s*", ""):gsub("^feat%b():%s*", "")
  for _, verb in ipairs(announced) do
    if head:find(verb) then return not has "fault" end
  end
  return false
end

-- Is it titled like a change ("[DTensor] ...", "refactor(tp): ...") and tells of
-- no fault?
function M.is_change(r)
  local head = r.doc.flat:sub(1, 200):lower():gsub("^%s+", "")
  local tagged = head:find "^%[[%w ,_/%.%-]+%]" or head:find "^%l+%b():"
  return tagged and #r.exceptions == 0 and not concepts_of(r) "fault"
end

-- The class that the report's words suggest: id, confidence, the words.
function M.find(r)
  local has, seen = concepts_of(r)
  if not is_of_ours(has) or not has "complaint" then
    return nil
  end
  local best, most
  for _, rule in ipairs(claims.rules) do
    -- of FSDP alone only what is said of FSDP
    local all = has "dt" or rule[3]:find("fsdp", 1, true)
    for concept in rule[3]:gmatch "%S+" do
      if not has(concept) then all = false; break end
    end
    local weight = all and weigh(rule)
    if all and (not best or weight > most) then best, most = rule, weight end
  end
  if not best then return nil end
  local words = {}
  for concept in best[3]:gmatch "%S+" do
    words[#words + 1] = ("\"%s\""):format(seen[concept])
  end
  return best[1], best[2], "the words " .. table.concat(words, ", ")
end

return M
