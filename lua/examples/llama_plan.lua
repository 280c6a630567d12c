-- dtrepl: fake=1048576
-- TEST: ranks=1048576 world=fake timeout=120 tags=one_thread
-- SPDX-License-Identifier: MIT
--
-- Llama-3 at scale on paper that runs: one training step of rank 0, in the
-- fake world: every operator, placement and collective, no data.
--
--   dtrepl lua/examples/llama_plan.lua --size 405B --mesh 2048x8
--   dtrepl lua/examples/llama_plan.lua --size 70B --mesh 4x64x8 --layers 8
--
-- --help has the options.  Cost model, stated: time = 6 * parameters * tokens /
-- flops, plus tensor parallel bytes / --tp-bw; data parallel bytes / --dp-bw
-- run beside it and count where they last longer.

local llama = require "dt.zoo.llama"
local fsdp = require "dt.fsdp"

-- Each option once: name, default, what it wants, what it is.
local OPTIONS = {
  {"size", "405B", "NAME", "8B, 70B, 405B or tiny"},
  {"mesh", "2048x8", "DPxTP", "or REPLICATExDPxTP for HSDP"},
  {"layers", nil, "N", "so many of the model's layers"},
  {"seq", nil, "N", "tokens of a sequence"},
  {"tokens", nil, "N", "tokens of a rank and step (one sequence)"},
  {"flops", 400e12, "X", "operations a second of a rank, sustained"},
  {"tp-bw", 350e9, "X", "bytes a second of tensor parallel"},
  {"dp-bw", 40e9, "X", "bytes a second of data parallel"}}

local function usage()
  local t = {"usage: dtrepl lua/examples/llama_plan.lua [--OPTION VALUE]..."}
  for _, o in ipairs(OPTIONS) do
    local default = type(o[2]) == "number" and ("%.3g"):format(o[2]) or o[2]
    t[#t + 1] = ("  --%-15s %s%s"):format(o[1] .. " " .. o[3], o[4],
      default and "; " .. default or "")
  end
  return table.concat(t, "\n")
end

-- The value of an option as it wants it; numbers are positive.
local function value(o, text)
  local n = tonumber(text)
  if o[3] ~= "N" and o[3] ~= "X" then return text end
  if o[3] == "N" then n = math.tointeger(n) end
  if not n or not (n > 0 and n < math.huge) then
    error(("llama_plan: --%s wants a positive %s, not '%s'"):format(o[1],
      o[3] == "N" and "integer" or "number", tostring(text)), 0)
  end
  return n
end

local function options(list)
  local opt, known = {}, {}
  for _, o in ipairs(OPTIONS) do opt[o[1]], known["--" .. o[1]] = o[2], o end
  for k = 1, #list, 2 do
    local o = known[list[k]]
    if not o or not list[k + 1] then
      error(("llama_plan: '%s' %s\n%s"):format(list[k],
        o and "wants a value" or "is no option", usage()), 0)
    end
    opt[o[1]] = value(o, list[k + 1])
  end
  return opt
end

local args = arg or {}
if args[1] == "--help" then
  print(usage())
  return
end
local opt = options(args)
local dims, names = {}, {"dp", "tp"}
for n in opt.mesh:gmatch("[^x,]+") do
  dims[#dims + 1] = value({"mesh", nil, "N"}, n)
end
if #dims == 3 then names = {"replicate", "dp", "tp"} end
if #dims < 2 or #dims > 3 then
  error("llama_plan: --mesh wants DPxTP or REPLICATExDPxTP, not '"
    .. opt.mesh .. "'", 0)
end
local mesh = dt.init_device_mesh("cpu", dims, {mesh_dim_names = names})
local world = mesh:size()
local c = llama.config(opt.size, {layers = opt.layers, seq = opt.seq})
if c.seq % dims[#dims] ~= 0 then
  local tp, below = dims[#dims], c.seq // dims[#dims] * dims[#dims]
  error(("llama_plan: a sequence of %d tokens cannot be cut over %d ranks;"
    .. " the nearest that can: %s%d"):format(c.seq, tp,
      below > 0 and below .. ", " or "", below + tp), 0)
end
local batch = math.max(1, (opt.tokens or c.seq) // c.seq)

local clock = os.clock()
dt.debug.recording {on = false}
local model = llama.Transformer(c, {device = "meta"})
llama.parallelize(model, mesh["tp"],
  #dims == 3 and mesh[{"replicate", "dp"}] or mesh["dp"],
  {mp_policy = fsdp.MixedPrecisionPolicy {param_dtype = dt.bfloat16,
    reduce_dtype = dt.float32}})
model:to_empty {device = "cpu"}     -- of a rank that is pretended: no memory

local ids = dt.zeros({batch, c.seq}, {dtype = dt.int64})
local cos, sin = llama.angles(c)
cos, sin = cos:to(dt.bfloat16), sin:to(dt.bfloat16)
local optimizer = require("dt.optim").AdamW(model:parameters(), {lr = 1e-4})

-- Only the collectives of each phase are listened to.
local phases, loss = {}, nil
local function phase(name, f)
  local events, _, err = dt.debug.record({"COLL"}, f)
  if err then error(err, 0) end
  phases[#phases + 1] = {name = name, events = events}
end
phase("forward", function () loss = model(ids, cos, sin):sum() end)
phase("backward", function () loss:backward() end)
phase("optimizer", function () optimizer:step() end)

-- ---- tables ----

local function human(n, unit)
  local step = {"", "K", "M", "G", "T", "P"}
  local i = 1
  while n >= 1000 and i < #step do n, i = n / 1000, i + 1 end
  return (i == 1 and "%d %s%s" or "%.1f %s%s"):format(n, step[i], unit)
end

print(("Llama %s: %s parameters, %d layers, width %d, %d tokens a rank; "
  .. "%d ranks (%s)"):format(opt.size, human(llama.count(c), ""), c.layers,
  c.dim, batch * c.seq, world, tostring(mesh)))

local function bytes_of(t)
  local l = t.is_dtensor and t:to_local() or t
  return l:numel() * l:element_size()
end
local shards, grads, largest = 0, 0, 0
for _, p in model:named_parameters() do
  shards = shards + bytes_of(p)
  if p.grad then grads = grads + bytes_of(p.grad) end
end
for _, layer in pairs(model.layers) do
  local whole = 0
  for _, p in layer:named_parameters() do whole = whole + p:numel() end
  largest = math.max(largest, whole * 2 // dims[#dims])
end
local head = c.vocab * c.dim * 2 // dims[#dims] * 2
local hidden = batch * c.seq * c.dim * 2
print "\nmemory of a rank"
for _, row in ipairs {
  {"parameters (f32 shards)", shards},
  {"gradients (f32 shards)", grads},
  {"AdamW state", 2 * shards},
  {"gathered at a time (bf16: 2 layers and the ends)", 2 * largest + head},
  {"activations between layers (bf16, sequence parallel)",
    hidden // dims[#dims] * c.layers},
} do print(("  %-54s %10s"):format(row[1], human(row[2], "B"))) end

print "\ncollectives of a step, by rank 0"
print(("  %-9s %-34s %8s %12s"):format("phase", "collective", "calls",
  "bytes"))
local moved = {}
for _, p in ipairs(phases) do
  local rows, keys = {}, {}
  for _, e in ipairs(p.events) do
    local key = e.coll .. " on " .. e.mesh_dim
    local row = rows[key]
    if not row then
      row = {count = 0, bytes = 0}
      rows[key], keys[#keys + 1] = row, key
    end
    local bytes = math.max(e.bytes_in, e.bytes_out)
    row.count, row.bytes = row.count + 1, row.bytes + bytes
    moved[e.mesh_dim] = (moved[e.mesh_dim] or 0) + bytes
  end
  table.sort(keys)
  for _, key in ipairs(keys) do
    print(("  %-9s %-34s %8d %12s"):format(p.name, key, rows[key].count,
      human(rows[key].bytes, "B")))
  end
end

local compute = 6 * llama.count(c) * batch * c.seq / dims[#dims] / opt.flops
local tp, dp = (moved.tp or 0) / opt["tp-bw"], 0
for mdim, n in pairs(moved) do
  if mdim ~= "tp" then dp = dp + n / opt["dp-bw"] end
end
print "\ntime of a step (cost model in the head of this script)"
print(("  compute %.2f s, tensor parallel %.2f s, data parallel %.2f s "
  .. "(overlapped)"):format(compute, tp, dp))
print(("  about %.2f s; %s tokens/s over all ranks"):format(
  math.max(compute + tp, dp),
  human(batch * c.seq * world / dims[#dims]
        / math.max(compute + tp, dp), "")))
io.stderr:write(("planned in %.2f s\n"):format(os.clock() - clock))
