-- SPDX-License-Identifier: MIT
-- parity/session.lua: S, what a program of the reference traces is given:
-- meshes, models and inputs by formula, a training loop in phases that are
-- recorded, and a place for what it finds.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local python = require "torch"
local facts = require "parity.facts"

local M = {}
local Session = {}
Session.__index = Session
local call, None = python.call, dt.None

local function arg(args, kw, i, name, default)
  local v = kw and V.dict_get(kw, name)
  if v == nil then v = args[i] end
  if v == nil then return default end
  return v
end

-- Builtin methods take Python's arguments: f(self, args, kw).
local methods = {}

function methods.mesh(S, a)
  local names = V.to_lua(a[2])
  S.names = names
  local m = dt.init_device_mesh("cpu", V.to_lua(a[1]),
    {mesh_dim_names = names})
  for i, name in ipairs(names) do
    S.groups[table.concat(m:get_group(i - 1), "-")] = {name}
  end
  if #names > 1 then                 -- all ranks: all dimensions
    local all = {}
    for r = 1, m:size() do all[r] = r - 1 end
    S.groups[table.concat(all, "-")] = names
  end
  S.layout = m
  return m
end

-- The ranks that a mesh's dimensions of these names span from this rank on,
-- as the keys of S.groups are written.
local function spanned(S, parts)
  local m, of, ranks = S.layout, {}, {0}
  for i, name in ipairs(S.names or {}) do of[name] = i end
  local shape, at = m.shape, m:get_coordinate()
  local wanted = {}
  for _, name in ipairs(parts) do
    wanted[of[name]] = true
  end
  for d = 1, #shape do
    local more = {}
    for _, r in ipairs(ranks) do
      for i = wanted[d] and 0 or at[d], wanted[d] and shape[d] - 1 or at[d] do
        more[#more + 1] = r * shape[d] + i
      end
    end
    ranks = more
  end
  return table.concat(ranks, "-")
end

-- The dimensions of a collective's group: the recorder knows those of c10d by
-- their ranks, also where the group has a name of its own (_flatten's "dp_cp").
local function dimensions(S, c)
  local group, known, parts = c.group, {}, {}
  for _, name in ipairs(S.names or {}) do known[name] = true end
  if group.ranks then return S.groups[table.concat(group.ranks, "-")] or group end
  if c.ns ~= "c10d" or #group ~= 1 or known[group[1]] then return group end
  for part in group[1]:gmatch("[^_]+") do
    if not known[part] then return group end
    parts[#parts + 1] = part
  end
  return S.groups[spanned(S, parts)] or parts
end

function methods.val(S, a, kw)
  return facts.val(V.to_lua(a[1]), a[2], S.dtype,
    arg(a, kw, 3, "scale", 1.0), arg(a, kw, 4, "base", 0.0))
end

function methods.ids(_, a) return facts.ids(V.to_lua(a[1]), a[2], a[3]) end

function methods.init(S, a, kw)
  local model = a[1]:to(S.dtype)
  facts.init_model(model, S.dtype, arg(a, kw, 2, "scale", 1.0))
  return model
end

function methods.note() return None end

function methods.gather(_, a) return V.from_lua(facts.gather(a[1])) end

function methods.local_shape(_, a)
  return V.list(facts.local_shape(a[1]))
end

-- A phase of the program: what runs inside is recorded under its name.
function methods.recording(S, a)
  local phase, step = a[1], a[2] or 1
  return {
    __enter__ = function () S.recorder(true) end,
    __exit__ = function ()
      S.recorder(false)
      for _, row in ipairs(S.recorder:take()) do
        for _, c in ipairs(row.coll or {}) do    -- ranks have a name here
          c.group = dimensions(S, c)
        end
        row.phase, row.step = phase, step
        S.rows[#S.rows + 1] = row
      end
    end,
  }
end

local function within(S, phase, step, f)
  local scope = methods.recording(S, {phase, step})
  scope.__enter__()
  local out = table.pack(pcall(f))
  scope.__exit__()
  if not out[1] then error(out[2], 0) end
  return out[2]
end

function methods.parallelize(S, a)
  return within(S, "init", 0, function ()
    return call(python.names.parallelize_module, V.list {a[1], a[2], a[3]})
  end)
end

-- Class and text of an error; on all ranks, or by rank where they differ.
local function failure(e)
  if type(e) ~= "table" then
    return {class = "RuntimeError", text = tostring(e)}
  end
  return {class = e.class, text = e.message or ""}
end
M.failure = failure

function methods.fail(S, a)
  local f = failure(a[2])
  S.errors[#S.errors + 1] = {what = a[1], class = f.class, text = f.text}
  return None
end

-- Facts of a list of (name, tensor).
function methods.pack(S, a, kw)
  local full = arg(a, kw, 2, "full", true)
  local items, n = V.items(a[1])
  local out = {}
  for i = 1, n do
    local name, t = items[i][1], items[i][2]
    if t ~= None then out[name] = S:facts_of(t, full) end
  end
  return out
end

local function equal_lists(lists)
  local first = facts.encode(lists[1])
  for i = 2, #lists do
    if facts.encode(lists[i]) ~= first then return false end
  end
  return true
end

function Session:facts_of(t, full)
  local f = {spec = facts.spec(t, self.names),
    local_shapes = facts.gather(facts.local_shape(t))}
  if not full then return f end
  local values = facts.tensor_values(t)
  if t.is_dtensor then
    f.full = values
  else
    local all = facts.gather(values)
    if equal_lists(all) then f.full = values else f.per_rank = all end
  end
  return f
end

local function named(model, pick)
  local list = {}
  for name, p in model:named_parameters() do
    local t = pick(p)
    if t then list[#list + 1] = {name, t} end
  end
  return list
end

function Session:pack_named(model, pick, full)
  local out = {}
  for _, item in ipairs(named(model, pick)) do
    out[item[1]] = self:facts_of(item[2], full)
  end
  return out
end

-- A number of the program: per rank, and as a whole where distributed.
function Session:scalar(step, t)
  local f = {step = step, spec = facts.spec(t, self.names)}
  local own = facts.local_of(t)
  f["local"] = facts.gather(own:numel() == 1 and own:item()
    or facts.numbers(own))
  if t.is_dtensor then
    local whole = facts.numbers(t)
    f.full = #whole == 1 and whole[1] or whole
  end
  return f
end

local function watch_modules(S, model, acts)
  for name, m in model:named_modules() do
    m:register_forward_hook(function (_, _, ...)
      if not S.keep then return end
      for i = 1, select("#", ...) do
        local t = select(i, ...)
        if util.is_tensor(t) then
          acts[#acts + 1] = {module = name, out = i - 1,
            spec = facts.spec(t, S.names), shape = facts.local_shape(t)}
        end
      end
    end)
  end
end

local function gather_acts(acts)
  local shapes = {}
  for i, a in ipairs(acts) do shapes[i] = a.shape end
  local all = facts.gather(shapes)
  for i, a in ipairs(acts) do
    a.shape, a.local_shapes = nil, {}
    for r, list in ipairs(all) do a.local_shapes[r] = list[i] end
  end
  return acts
end

function Session:train_step(model, fwd, opt, clip, st)
  local out = self.found
  local loss = within(self, "fwd", st, function ()
    return call(fwd, V.list {st})
  end)
  self.keep = false
  out.loss[#out.loss + 1] = self:scalar(st, loss)
  within(self, "bwd", st, function () loss:backward() end)
  local function grad(p) return p.grad end
  if st == 1 then out.grads = self:pack_named(model, grad, true) end
  if clip ~= None then
    local norm = within(self, "clip", st, function ()
      return call(clip, V.list {model})
    end)
    out.total_norm = out.total_norm or {}
    table.insert(out.total_norm, self:scalar(st, norm))
    if st == 1 then out.grads_clipped = self:pack_named(model, grad, true) end
  end
  if opt ~= None then
    within(self, "opt", st, function () opt:step() end)
    opt:zero_grad()
  end
end

function methods.train(S, a, kw)
  local model, fwd, opt = a[1], a[2], arg(a, kw, 3, "opt", None)
  local clip, steps = arg(a, kw, 4, "clip", None), arg(a, kw, 5, "steps", 2)
  local out, acts = S.found, {}
  S.keep = arg(a, kw, 6, "keep_acts", true)
  local keep = S.keep
  if keep then watch_modules(S, model, acts) end
  out.params_init = S:pack_named(model, function (p) return p end, false)
  out.loss = {}
  for st = 1, steps do S:train_step(model, fwd, opt, clip, st) end
  if opt ~= None then
    out.params_final = S:pack_named(model, function (p) return p end, true)
  end
  if keep then out.activations = gather_acts(acts) end
  return None
end

-- S.rec: what was recorded, as the program sees it.  `ops` are the rows, as
-- dicts, with a list of collectives each; it may be given some of them.
local function recorder(S)
  return setmetatable({mods = V.list({}, 0)}, {__name = "recorder",
    __index = function (_, key)
      if key ~= "ops" then return nil end
      local out = {}
      for i, row in ipairs(S.rows) do
        local d = V.dict_of(row)
        if not row.coll then V.dict_set(d, "coll", V.list({}, 0)) end
        V.dict_set(d, "row", row)
        out[i] = d
      end
      return V.list(out)
    end,
    __newindex = function (_, _, rows)
      S.rows = {}
      for i = 1, rows.n do S.rows[i] = V.dict_get(rows[i], "row") end
    end})
end

-- A session of one run: dtype is the floating type of the program.
function M.new(dtype)
  local S = setmetatable({dtype = dtype, rank = dt.rank(),
    ws = dt.world_size(), rows = {}, errors = {}, found = {},
    values = V.dict(), recorder = dt._record(), prog = V.dict(), groups = {}},
    Session)
  for name, f in pairs(methods) do
    S[name] = V.builtin(function (a, kw) return f(S, a, kw) end, name)
  end
  S.rec = recorder(S)
  return S
end

-- Everything the run found, as it would come out of JSON.
function Session:result()
  local out = {}
  for key, v in pairs(self.found) do out[key] = v end
  for key, v in V.each(self.values) do out[key] = v end
  if #self.errors > 0 then out.errors = self.errors end
  return facts.plain(out)
end

return M
