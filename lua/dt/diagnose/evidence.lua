-- SPDX-License-Identifier: MIT
-- dt/diagnose/evidence.lua: what several signs of a report say together that
-- none says alone: two sizes whose ratio is the number of ranks, heads that
-- the degree does not divide, a collective that timed out beside the words of
-- a rank that goes its own way, an order of calls in the code.
--
-- Each function is a named condition of the classes' signs (tests.lua); what
-- it found is kept in `r.said`, in the words of the report.

local util = require "dt.util"
local code = require "dt.diagnose.code"

local M = {MOST_DEGREE = 64}        -- a degree of parallelism worth naming

local LIMIT = 200000            -- letters that are looked at

-- ---- how many ranks ----------------------------------------------------

local spelled = {two = 2, three = 3, four = 4, six = 6, eight = 8,
  sixteen = 16}
local things = {process = true, processes = true, rank = true, ranks = true,
  gpu = true, gpus = true, device = true, devices = true, card = true,
  cards = true, worker = true, workers = true, npu = true, npus = true,
  tpu = true, tpus = true, shards = true, way = true, accelerators = true}

-- What is set to a number of ranks: --nproc_per_node=8, tp_size: 4, cp=2.
local settings = {"nproc[_-]per[_-]node", "num_processes", "world[_ ]size",
  "tensor[_-]?parallel[_-]?%a*[_-]?%a*", "tp[_-]?%a*", "dp[_-]?%a*",
  "cp[_-]?%a*", "ep[_-]?%a*", "context[_-]parallel[_-]?%a*", "ulysses[_-]?%a*",
  "fsdp[_-]?size", "degree", "nproc", "model[_-]parallel[_-]size"}

-- "... size 1 is fine, with 4": what the setting was changed to stands near it.
local CHANGED <const>, NEAR <const> = "%f[%w]with (%d+)%f[^%w%.]", 48

local function add(set, n, words)
  n = math.tointeger(tonumber(n) or spelled[n])
  if n and n > 1 and n <= 4096 and not set[n] then set[n] = words end
end

-- Numbers of ranks the report names: {[8] = "8 processes"}.
function M.counts(r)
  if r.rank_counts then return r.rank_counts end
  local set, low = {}, r.doc.flat:sub(1, LIMIT):lower()
  for n, word in low:gmatch "%f[%w](%w+)[ %-]+(%a+)" do
    if things[word] then add(set, n, n .. " " .. word) end
  end
  for n, _, word in low:gmatch "%f[%w](%d+)x? ?(%a%d+) ?(%a*)" do
    if word == "gpus" then add(set, n, n .. " " .. word) end
  end
  for n in low:gmatch "divided? by (%d+)" do add(set, n, "divide by " .. n) end
  for n in low:gmatch "%(x(%d+)%)" do add(set, n, "x" .. n) end
  for _, s in ipairs(settings) do
    for name, n in low:gmatch("%f[%w](" .. s .. ")[\"']?%s?[:= ]%s?(%d+)") do
      add(set, n, name .. "=" .. n)
    end
    local _, to = low:find(s .. "[\"']?%s?[:= ]%s?%d+")
    local other = to and low:sub(to + 1, to + NEAR):match(CHANGED)
    if other then add(set, other, s:match "%a+" .. " with " .. other) end
  end
  local at = 1
  for _ = 1, 60 do
    local a, b = low:find("mesh", at, true)
    if not a then break end
    local shape = low:sub(b + 1, b + 60):match("^[^%[%(%d]*%(?[^%[%(%d]*"
      .. "[%[%(](%d[%d, ]*)[%]%)]")
    for n in (shape or ""):gmatch "%d+" do
      add(set, n, "a mesh of (" .. shape .. ")")
    end
    at = b + 1
  end
  r.rank_counts = set
  return set
end

-- ---- sizes of a message ------------------------------------------------

local of_sizes = {"size", "shape", "dim", "mismatch", "must match", "expected"}

-- The numbers in the exceptions that speak of sizes.
local function sizes(r)
  local list, seen = {}, {}
  for _, e in ipairs(r.exceptions) do
    local low, about = e.message:lower(), false
    for _, w in ipairs(of_sizes) do about = about or low:find(w, 1, true) end
    if about then
      for n in e.message:sub(1, 600):gmatch "%f[%w]%d+" do
        local v = math.tointeger(tonumber(n))
        if v and v >= 2 and v < 1 << 40 and not seen[v] and #list < 16 then
          seen[v] = true
          list[#list + 1] = v
        end
      end
      for a, b in e.message:sub(1, 600):gmatch "(%d+)x(%d+)" do
        for _, n in ipairs {a, b} do
          local v = math.tointeger(tonumber(n))
          if v and v >= 2 and not seen[v] and #list < 16 then
            seen[v] = true
            list[#list + 1] = v
          end
        end
      end
    end
  end
  return list
end

-- What the condition that is being asked has found; the first time counts.
local function say(r, text)
  r.said = r.said or {}
  local name = r.asking or ""
  r.said[name] = r.said[name] or text
end
M.say = say

-- Two sizes of one message whose ratio is a number of ranks the report names.
function M.rank_ratio(r)
  local list = sizes(r)
  if #list < 2 then return false end
  local counts = M.counts(r)
  for i, a in ipairs(list) do
    for k = i + 1, #list do
      local high, low = math.max(a, list[k]), math.min(a, list[k])
      local n = high // low
      if high >= 16 and high % low == 0 and n > 1 and counts[n] then
        say(r, ("%d / %d = %d, and the report names %s"):format(high, low, n,
          counts[n]))
        return true
      end
    end
  end
  return false
end

-- Two shapes of one line that differ in one size, by a number of ranks:
-- target_shape=(124160, 2048) converted_shape=(62080, 2048), tp 2.
local function ratio_of_shapes(a, b)
  if #a ~= #b then return nil end
  local n
  for i = 1, #a do
    local high, low = math.max(a[i], b[i]), math.min(a[i], b[i])
    if high ~= low then
      if n or low == 0 or high % low ~= 0 then return nil end
      n = high // low
    end
  end
  return n
end

local SHAPES <const> = 8        -- of one line

local function shapes_of_line(line)
  local list = {}
  for text in line:gmatch "[%(%[](%d[%d, ]+)[%)%]]" do
    local shape = {}
    for n in text:gmatch "%d+" do
      shape[#shape + 1] = math.tointeger(tonumber(n)) or 0
    end
    if #shape >= 2 and #list < SHAPES then list[#list + 1] = shape end
  end
  return list
end

function M.shape_ratio(r)
  local counts, seen = M.counts(r), 0
  for _, line in ipairs(r.doc.lines) do
    if line:find("hape", 1, true) and #line < 2000 and seen < 50 then
      seen = seen + 1
      local list = shapes_of_line(line)
      for i = 2, #list do
        local n = ratio_of_shapes(list[i - 1], list[i])
        if n and n > 1 and counts[n] then
          say(r, ("two shapes differ %d times, and the report names %s"):format(
            n, counts[n]))
          return true
        end
      end
    end
  end
  return false
end

local LARGE <const> = 256       -- a size that is no count of something else

-- Two sizes in the text of a report that prints no error, likewise.
function M.prose_ratio(r)
  local counts, list = M.counts(r), {}
  for n in r.doc.flat:sub(1, 4000):gmatch "%f[%w]%d+%f[^%w]" do
    local v = math.tointeger(tonumber(n))
    if v and v >= LARGE and v < 1 << 40 and #list < 12 then list[#list + 1] = v end
  end
  for i = 2, #list do
    local high, low = math.max(list[i - 1], list[i]), math.min(list[i - 1], list[i])
    if high > low and high % low == 0 and counts[high // low] then
      say(r, ("%d / %d = %d, and the report names %s"):format(high, low,
        high // low, counts[high // low]))
      return true
    end
  end
  return false
end

-- ---- heads -------------------------------------------------------------

local head_names = {"num_key_value_heads", "n_kv_heads", "num_kv_heads",
  "kv_heads", "num_attention_heads", "num_heads", "n_heads", "nheads", "n_head"}

local degrees = {"tensor[_%- ]parallel[_%- ]?%a*[\"']?%s?[:= ]%s?(%d+)",
  "%f[%w]tp[_%- ]?%a*[\"']?%s?[:=]%s?(%d+)", "%f[%w]tp(%d+)%f[%D]",
  "%f[%w]tp (%d+)%f[%D]", "(%d+)[%- ]way tensor", "tp of (%d+)"}

-- The tensor parallel degree that the text gives, or nil.
local function tp_degree(low)
  for _, p in ipairs(degrees) do
    local tp = math.tointeger(tonumber(low:match(p)))
    if tp then return tp >= 2 and tp <= 1024 and tp or nil end
  end
end

-- A number of heads that the tensor parallel degree does not divide.
function M.heads_fraction(r)
  local low = r.doc.flat:sub(1, LIMIT):lower()
  local tp = tp_degree(low)
  if not tp then return false end
  local function is_fraction(text, n)
    n = math.tointeger(tonumber(n))
    if not n or n <= 0 or n % tp == 0 then return false end
    say(r, ("%s over tp %d is %g; degrees that divide it: %s")
      :format(text, tp, n / tp, util.divisors(n, M.MOST_DEGREE)))
    return true
  end
  for _, name in ipairs(head_names) do
    local n = low:match("%f[%w_]" .. name .. "[\"'`]?%s?[:= ]%s?(%d+)")
    if n and is_fraction(name .. " " .. n, n) then return true end
  end
  for n, word in low:gmatch "%f[%w](%d+) k?v? ?(heads)" do
    if is_fraction(n .. " " .. word, n) then return true end
  end
  return false
end

-- A division that is written out and does not come out even: 10 / 4 = 2.5.
function M.fraction_shown(r)
  local flat = r.doc.flat:sub(1, LIMIT)
  for a, b, part in flat:gmatch "%f[%w](%d+) ?/ ?(%d+) ?= ?%d+%.(%d+)" do
    if part:find "[1-9]" then
      say(r, ("%s / %s is no whole number"):format(a, b))
      return true
    end
  end
  return false
end

-- ---- an axis of one ----------------------------------------------------

-- A mesh in the report's text or code one of whose sizes is 1.
function M.mesh_of_one(r)
  local flat = r.doc.flat:sub(1, LIMIT)
  for _, pattern in ipairs {"init_device_mesh%([^%(%)]-%(([%d, ]+)%)",
    "DeviceMesh%([^%(%)]-%(([%w_=, ]+)%)", "_size%s?=%s?%(([%d, ]+)%)",
    "mesh_shape%s?=%s?%(([%d, ]+)%)", "[Mm]esh o?f? ?%((%d+, ?%d+[%d, ]*)%)"} do
    local at, list = flat:match("()" .. pattern)
    if list and (", " .. list .. ","):find "[ =,]1," and list:find "," then
      M.say(r, "a mesh dimension of size 1: (" .. list .. ")")
      return at ~= nil
    end
  end
  return false
end

local AROUND <const>, PRODUCTS <const> = 120, 20

-- Degrees whose product is compared with the number of ranks: "tp_size (4) *
-- fsdp_size (4) is not equal to world_size (8)", "dp_shard * cp != WORLD_SIZE".
-- What stands around each "world" is looked at: the time stays linear.
function M.degrees_times(r)
  local low, at = r.doc.flat:sub(1, LIMIT):lower(), 1
  for _ = 1, PRODUCTS do
    local a, b = low:find("world", at, true)
    if not a then return false end
    local before = low:sub(math.max(1, a - AROUND), b)
    local product = before:match "%f[%w][tdcep]p[%w_]* ?%(?%d*%)? ?%* ?[tdcepf][%w_]+.*$"
    if product and low:find("^[_ ]?size", b + 1) and (product:find("!=", 1, true)
      or product:find("not equal", 1, true)) then
      say(r, product)
      return true
    end
    at = b + 1
  end
  return false
end

-- A mesh in the report's code that holds more ranks than were started.
function M.mesh_exceeds(r)
  local flat = r.doc.flat:sub(1, LIMIT)
  local world
  for _, p in ipairs {"nproc[_-]per[_-]node[= ](%d+)", "num_processes:? ?=?(%d+)",
    "WORLD_SIZE=(%d+)", "%-%-nproc[= ](%d+)"} do
    world = world or math.tointeger(tonumber(flat:match(p)))
  end
  if not world or world < 1 or flat:find "nnodes[= ][2-9]" then return false end
  for list in flat:gmatch "init_device_mesh%([^%(%)]-%(([%d, ]+)%)" do
    local n = 1.0
    for size in list:gmatch "%d+" do n = n * tonumber(size) end
    if n > world and n < 1 << 20 then
      M.say(r, ("a mesh of (%s) for %d processes"):format(list, world))
      return true
    end
  end
  return false
end

-- ---- who waits where ---------------------------------------------------

local MAX_WAITING = 8           -- ranks that are named
local MAX_LOG = 1 << 20         -- letters of a log that are looked at

-- Timeouts, and torch's own check of collectives: {rank=, number=, op=, shape=}
-- of each rank that is named, the first time it is.
local function waits(r)
  if r.waits then return r.waits end
  local seen, out = {}, {}
  local function put(rank, number, op, shape)
    rank = tostring(rank)
    if not seen[rank] and #out < MAX_WAITING then
      seen[rank] = true
      out[#out + 1] = {rank = rank, number = number, op = op, shape = shape}
    end
  end
  -- the text as it came: the reading takes a rank before a line off
  for line in (r.text or r.doc.flat):sub(1, MAX_LOG):gmatch "[^\n]+" do
    local at = line:find("WorkNCCL(SeqNum=", 1, true)
    if at then
      local number, op = line:match("^WorkNCCL%(SeqNum=(%d+), OpType=([%w_]+)",
        at)
      local rank = line:sub(1, at):match ".*[Rr]ank ?(%d+)%]"
      if number and rank then put(rank, number, op) end
    elseif line:find("CollectiveFingerPrint(", 1, true) then
      for rank, number, op, shape in line:gmatch("Rank (%d+) is running "
        .. "collective: CollectiveFingerPrint%(SequenceNumber=(%d+), "
        .. "OpType=([%w_]+), TensorShape=(%[[%d, ]*%])") do
        put(rank, number, op, shape)
      end
    end
  end
  r.waits = out
  return out
end

-- "rank 0 in ALLREDUCE (number 7), rank 1 in BROADCAST (number 7)"; nil unless
-- two ranks are named.
function M.waiting(r)
  local out = {}
  for i, w in ipairs(waits(r)) do
    out[i] = ("rank %s in %s (number %s%s)"):format(w.rank, w.op, w.number,
      w.shape and ", " .. w.shape or "")
  end
  return #out >= 2 and table.concat(out, ", ") or nil
end

-- Ranks of one process group that time out in different operators at different
-- numbers: what one completed another never entered.
function M.seq_apart(r)
  local group
  for id in r.doc.flat:gmatch "%[PG I?D? ?(%d+)" do
    if group and group ~= id then return false end
    group = id
  end
  local list = waits(r)
  for _, w in ipairs(list) do
    if w.number ~= list[1].number and w.op ~= list[1].op then return true end
  end
  return false
end

-- Ranks that time out in one collective at one number: the program agrees, and
-- somebody who is not among them, or what carries the bytes, does not.
function M.seq_same(r)
  local list = waits(r)
  for _, w in ipairs(list) do
    if w.number ~= list[1].number or w.op ~= list[1].op then return false end
  end
  if #list < 2 then return false end
  say(r, M.waiting(r))
  return true
end

-- ---- claims ------------------------------------------------------------

local counted = {number = true, numbers = true, value = true, values = true,
  result = true, results = true, loss = true, losses = true}

-- "four different numbers", "a different value on every rank".
function M.per_rank(r)
  local low = r.doc.flat:sub(1, LIMIT):lower()
  for n, what in low:gmatch "%f[%w](%w+) different (%a+)" do
    if counted[what] and (spelled[n] or tonumber(n) or n == "several") then
      say(r, ("\"%s different %s\""):format(n, what))
      return true
    end
  end
  return false
end

-- Does the report print an exception (a warning is none)?
function M.raises(r)
  for _, e in ipairs(r.exceptions) do
    if not e.class:find "Warning$" then return true end
  end
  return r.doc.flat:sub(1, LIMIT):find "%u%l+Error: " ~= nil
end

-- ---- code --------------------------------------------------------------

local reductions = {mean = true, sum = true, item = true, norm = true,
  max = true, min = true, std = true, tolist = true, numpy = true}

-- A local piece is read as if it were the value: x.to_local().mean(),
-- print(x.to_local()), float(x.to_local()).
function M.reads_local(r)
  if not r.doc.flat:find("to_local()", 1, true) then return false end
  for _, s in ipairs(code.statements(r.doc)) do
    if s.text:find("to_local()", 1, true) then
      for _, c in ipairs(code.calls(s.tree)) do
        local inner = c.node.fn.kind == "attr" and c.node.fn.value
        local read = reductions[c.name] and inner and inner.kind == "call"
          and code.dotted(inner.fn):find "to_local$"
        local shown = (c.path == "print" or c.path == "float"
          or c.name:find "^log") and s.text:find("to_local()", 1, true)
        if read or shown then
          say(r, "the line: " .. s.text:sub(1, 72))
          return true
        end
      end
    end
  end
  return false
end

-- A reduction is read as a number at once: x.norm().item(), float(x.sum()).
function M.reads_reduction(r)
  if not r.doc.flat:find("item()", 1, true) and not
    r.doc.flat:find("float(", 1, true) then
    return false
  end
  for _, s in ipairs(code.statements(r.doc)) do
    for _, c in ipairs(code.calls(s.tree)) do
      local of = c.name == "item" and c.node.fn.kind == "attr"
        and c.node.fn.value or c.path == "float" and c.args[1]
      of = of and (of.value and of.value.kind and not of.fn and of.value or of)
      local fn = of and of.kind == "call" and of.fn
      if fn and reductions[fn.name or ""] then
        say(r, "the line: " .. s.text:sub(1, 72))
        return true
      end
    end
  end
  return false
end

-- Line of the first statement that calls one of `names`.
local function first_call(r, names)
  for _, s in ipairs(code.statements(r.doc)) do
    for _, c in ipairs(code.calls(s.tree)) do
      if names[c.name] then return s, c end
    end
  end
end

local optimizers = {Adam = true, AdamW = true, SGD = true, Adagrad = true,
  Adafactor = true, RMSprop = true, Muon = true, AdamW8bit = true}
local sharding = {fully_shard = true, parallelize_module = true,
  distribute_module = true, FSDP = false}

-- The optimizer is made on a line before the one that shards.
function M.optimizer_first(r)
  if not r.doc.flat:find("optim", 1, true) then return false end
  local o, s = first_call(r, optimizers), first_call(r, sharding)
  if not o or not s or o.line >= s.line then return false end
  say(r, ("\"%s\" stands before \"%s\""):format(o.text:sub(1, 40),
    s.text:sub(1, 40)))
  return true
end

local together = {full_tensor = true, redistribute = true, all_gather = true,
  all_reduce = true, barrier = true, broadcast = true,
  get_model_state_dict = true, get_optimizer_state_dict = true,
  get_state_dict = true, all_gather_into_tensor = true, equal = true,
  save_pretrained = true, clip_grad_norm_ = true}

-- A collective in the body of `if rank == 0:`.
function M.collective_of_one_rank(r)
  if not r.doc.flat:find "if [^:]*rank" and not r.doc.flat:find "if [^:]*main"
  then
    return false
  end
  local list = code.statements(r.doc)
  for i, s in ipairs(list) do
    if s.tree.kind == "if" and (s.text:find "rank" or s.text:find "main_process"
      or s.text:find "is_master") then
      for k = i, #list do
        local t = list[k]
        local inside = k == i or t.indent > s.indent and t.line - s.line < 12
        if not inside then break end
        for _, c in ipairs(code.calls(t.tree)) do
          if together[c.name] then
            say(r, ("%s() in the body of \"%s\""):format(c.name,
              s.text:sub(1, 48)))
            return true
          end
        end
      end
    end
  end
  return false
end

-- from_local of a tensor that is said to be Replicate, or without a shape.
function M.from_local_replicate(r)
  if not r.doc.flat:find("from_local(", 1, true) then return false end
  local s = first_call(r, {from_local = true})
  if s and s.text:find("Replicate()", 1, true) then
    say(r, "the line: " .. s.text:sub(1, 72))
    return true
  end
  return false
end

-- fully_shard is given a mesh that the code makes with two dimensions.
function M.fsdp_gets_2d(r)
  if not r.doc.flat:find("fully_shard(", 1, true) then return false end
  local dims = {}
  for _, s in ipairs(code.statements(r.doc)) do
    for _, c in ipairs(code.calls(s.tree)) do
      local shape = c.args[2] and c.args[2].value
      if c.name == "init_device_mesh" and shape and shape.items
        and s.tree.targets and s.tree.targets[1].name then
        dims[s.tree.targets[1].name] = #shape.items
      elseif c.name == "fully_shard" then
        local mesh = code.keyword(c, "mesh")
        if mesh and mesh.kind == "name" and dims[mesh.name] == 2 then
          say(r, "the line: " .. s.text:sub(1, 72))
          return true
        end
      end
    end
  end
  return false
end

-- The code flattens a tensor: x.view(-1), x.reshape(-1), x.flatten().
function M.flattens(r)
  local flat = r.doc.flat:sub(1, LIMIT)
  for _, pattern in ipairs {"%.view%(%s?%-1%s?%)", "%.reshape%(%s?%-1%s?%)",
    "%.flatten%(%s?%)"} do
    local call = flat:match(pattern)
    if call then
      say(r, "the call " .. call)
      return true
    end
  end
  return false
end

M.names = {"flattens", "raises", "rank_ratio", "heads_fraction", "per_rank", "reads_local",
  "reads_reduction",
  "optimizer_first", "collective_of_one_rank", "from_local_replicate",
  "fsdp_gets_2d", "mesh_of_one", "degrees_times", "mesh_exceeds", "fraction_shown",
  "seq_apart", "seq_same", "shape_ratio", "prose_ratio"}

return M
