-- SPDX-License-Identifier: MIT
-- dt/diagnose/fallback.lua: what hints at a class where no sign of one fits: a
-- known message by the file that raises it, a message that is worded nearly
-- like a known one (the distance is said), the file and function of the
-- innermost frame, claims.  Nothing here is surer than 0.75.

local clean = require "dt.diagnose.clean"
local prose = require "dt.diagnose.prose"

local M = {}

-- ---- places ------------------------------------------------------------

-- Where a message is raised -> class and confidence.  The first row that fits
-- counts; the pattern is looked for in "file.py:Class.function".
local places = {
  {"local_map", "local-map-placements", 0.7},
  {"_func_map", "local-map-placements", 0.7},
  {"parallel/style", "tp-plan-unmatched", 0.65},
  {"parallel/api", "tp-plan-unmatched", 0.65},
  {"parallel/loss", "loss-parallel-preconditions", 0.65},
  {"_load_balanc", "cp-load-balance", 0.65},
  {"_create_cp_block_mask", "cp-seq-divisibility", 0.7},
  {"experimental/_attention", "cp-backend-or-mask", 0.65},
  {"_context_parallel", "cp-backend-or-mask", 0.65},
  {"_register_sharding", "register-sharding-limits", 0.65},
  {"device_mesh", "mesh-arguments", 0.65},
  {"_mesh_layout", "mesh-arguments", 0.6},
  {"_fully_shard", "fsdp2-usage", 0.65},
  {"_composable/", "fsdp2-usage", 0.65},
  {"tensor/parallel/fsdp", "fsdp1-dtensor-legacy", 0.6},
  {"_redistribute", "sharding-propagation-failed", 0.5},
  {"_view_ops", "view-flatten-sharded-dim", 0.5},
  {"view_ops", "view-flatten-sharded-dim", 0.5},
  {"_conv_ops", "conv-tp-unsupported", 0.6},
  {"_tp_conv", "conv-tp-unsupported", 0.65},
  {"_embedding_ops", "vocab-parallel-mask", 0.55},
  {"embedding_ops", "vocab-parallel-mask", 0.55},
  {"_random", "rng-layout-dependence", 0.5},
  {"tensor/_api", "distribute-misuse", 0.55},
  {"_tensor/api", "distribute-misuse", 0.55},
  {"distribute_tensor", "distribute-misuse", 0.55},
  {"tensor/_ops", "sharding-propagation-failed", 0.55},
  {"_tensor/ops", "sharding-propagation-failed", 0.55},
  {"_sharding_prop", "sharding-propagation-failed", 0.55},
  {"sharding_prop", "sharding-propagation-failed", 0.55},
}

-- Messages whose place says less than their words.
local worded = {
  {"_StridedShard", "strided-shard-op-rules", 0.65},
  {"single root module", "fsdp2-usage", 0.7},
  {"checkpoint", "dtensor-serialization", 0.45},
}

local function place_of(where, text)
  for _, w in ipairs(worded) do
    if text and text:find(w[1], 1, true) then return w[2], w[3] end
  end
  for _, p in ipairs(places) do
    if where:find(p[1], 1, true) then return p[2], p[3] end
  end
end

local function by_template(r)
  for _, t in ipairs(r.templates) do
    local id, c = place_of(t.where, t.text)
    if id and not t.class:find "Warning$" then
      return id, c, ("a message of %s"):format(t.where)
    end
  end
end

-- ---- words -------------------------------------------------------------

local common = {}
for w in ([[the a is to of and but got in for be not with on it this that are
  an as by at or if was were error runtimeerror valueerror expected tensor must
  should has have found can cannot only please from]]):gmatch "%S+" do
  common[w] = true
end

local index

-- {[word] = {template numbers}}, and the weight of each template's words.
local function words_index(templates)
  if index then return index end
  index = {by_word = {}, count = {}, weight = {}}
  for i, t in ipairs(templates) do
    local seen = {}
    for w in t.text:lower():gmatch "%a[%a_]+" do
      if not common[w] and not seen[w] then
        seen[w] = true
        local list = index.by_word[w] or {}
        list[#list + 1] = i
        index.by_word[w] = list
      end
    end
    index.count[i] = seen
  end
  local function weigh(w)
    local list = index.by_word[w]
    return list and 1 / (1 + math.log(#list)) or 1
  end
  index.weigh = weigh
  for i, seen in ipairs(index.count) do
    local sum = 0
    for w in pairs(seen) do sum = sum + weigh(w) end
    index.weight[i] = sum
  end
  return index
end

local NEAR, MIN_WORDS = 0.62, 4

-- The template that shares most with `message`, and how much, 0 to 1.
local function nearest_template(templates, message)
  local ix = words_index(templates)
  local seen, total, n, shared = {}, 0, 0, {}
  for w in message:sub(1, 600):lower():gmatch "%a[%a_]+" do
    if not common[w] and not seen[w] then
      seen[w] = true
      n = n + 1
      total = total + ix.weigh(w)
      for _, i in ipairs(ix.by_word[w] or {}) do
        shared[i] = (shared[i] or 0) + ix.weigh(w)
      end
    end
  end
  if n < MIN_WORDS then return nil end
  local best, most
  for i, s in pairs(shared) do
    local like = 2 * s / (total + ix.weight[i])
    if not most or like > most or like == most and i < best then
      best, most = i, like
    end
  end
  return best and templates[best], most
end

local function by_words(self, r, classify)
  for i = #r.exceptions, math.max(1, #r.exceptions - 3), -1 do
    local e = r.exceptions[i]
    local t, like = nearest_template(self.templates, e.message)
    if t and like >= NEAR then
      local text = t.class .. ": " .. t.text:gsub("{}", "")
      local again = {doc = clean.read(text), exceptions = {}, plain = true}
      classify(self, again)
      local id = again.class and again.class.id or place_of(t.where, t.text)
      if id then
        return id, 0.5 + 0.25 * (like - NEAR) / (1 - NEAR),
          ("worded nearly as \"%s\" (distance %.2f)"):format(
            t.text:sub(1, 70):gsub("\n", " "), 1 - like)
      end
    end
  end
end

-- ---- frames ------------------------------------------------------------

local ours = {"torch/distributed/tensor/", "torch/distributed/_tensor/",
  "torch/distributed/device_mesh", "torch/distributed/fsdp/_fully_shard",
  "torch/distributed/_composable", "torch/distributed/_functional"}

-- What DTensor's dispatch calls to work out shapes.
local below = {"torch/_subclasses", "torch/_ops.py", "torch/utils/", "_prims",
  "torch/_refs", "torch/_meta_registrations", "torch/_compile",
  "torch/_dynamo/eval_frame"}

local function is_below(path)
  for _, b in ipairs(below) do
    if path:find(b, 1, true) then return true end
  end
end

-- The innermost frame of the text, when it is in one of torch's own folders.
local function by_frame(r)
  local lines = r.doc.lines
  for i = #lines, 1, -1 do
    local path, fn = lines[i]:match '^%s*File "([^"]+)", line %d+,? ?i?n? ?(.*)$'
    if path and not is_below(path) then
      for _, o in ipairs(ours) do
        if path:find(o, 1, true) then
          local id, c = place_of(path .. ":" .. fn)
          if id then
            return id, math.min(c, 0.5), ("raised in %s of %s"):format(fn,
              path:match "torch/.*$")
          end
        end
      end
      return nil
    end
  end
end

-- Does the report print an exception?  Then its words are about that.
local function raises(r)
  for _, e in ipairs(r.exceptions) do
    -- the bare name of a class says nothing the words could contradict
    if not e.class:find "Warning$" and e.message:find "%w%w%w" then
      return true
    end
  end
end

-- The class that something hints at, how surely, and what: or nil.
function M.find(self, r, classify)
  local id, c, why = by_template(r)
  local fits = not r.foreign or r.foreign == "shapes that do not fit"
  if not id and not r.foreign and #r.exceptions > 0 then
    id, c, why = by_words(self, r, classify)
  end
  if not id and #r.exceptions > 0 and fits then id, c, why = by_frame(r) end
  if not id and not raises(r) and not prose.announces(r) then
    id, c, why = prose.find(r)
  end
  return id, c, why
end

return M
