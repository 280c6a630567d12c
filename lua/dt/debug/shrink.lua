-- SPDX-License-Identifier: MIT
-- dt/debug/shrink.lua: dt.debug.shrink: the recorded failure made small.
--
-- The program is cut to what the failing step needs; then each of these is
-- tried, and kept when the same error comes: inputs of the failing step (and
-- what is behind them) replaced by fresh tensors of the same layout; one mesh
-- dimension, then a mesh of two ranks; smaller sizes.  Where the error needs no
-- data (mixed inputs, strategies, shapes) trials run in a pretend world, which
-- takes milliseconds each.  A finding is about numbers, often about those of
-- other ranks: its trials are of what all ranks have, and all try together.

local dt = require "dt"
local page = require "dt.debug.page"
local agreed = require "dt.debug.agreed"
local program = require "dt.debug.program"
local emit = require "dt.debug.emit"
local replay = require "dt.debug.replay"
local whatif = require "dt.debug.whatif"

local M = {}

local TRIALS = 200
local copy = whatif.copy

-- What must come again: an error, or a cause of shadow mode.
local function goal_of(P)
  if P.error then
    return {code = P.error.error, op = P.error.op,
      shape = replay.shape_of(P.error.message or "")}, P.error
  end
  local v = dt.debug.verified()
  for _, w in ipairs(v and v.list or {}) do
    if w.verdict == "wrong" then
      for _, s in ipairs(P.steps) do
        if s.seq == w.seq then return {cause = w.cause, op = w.op}, s end
      end
    end
  end
  page.fail("COMMAND", "nothing has failed, shadow mode (:verify on) has found "
    .. "nothing wrong, and no finding says that numbers are wrong")
end

-- Has something failed, or was it found wrong by shadow mode?
local function has_goal(P)
  local v = not P.error and dt.debug.verified()
  for _, w in ipairs(v and v.list or {}) do
    if w.verdict == "wrong" then return true end
  end
  return P.error ~= nil
end

local function same(goal, r)
  for _, f in ipairs(goal.finding and r.ok and r.found or {}) do
    if f.code == goal.finding and f.op == goal.op then return true end
  end
  if goal.finding then return false end
  if goal.cause then
    for _, w in ipairs(r.wrong or {}) do
      if w.cause == goal.cause and w.op == goal.op then return true end
    end
    return false
  end
  return r.error ~= nil and r.error.code == goal.code
    and (r.error.op == nil or r.error.op == "" or r.error.op == goal.op
         or goal.op == "backward")
    and replay.shape_of(r.error.message) == goal.shape
end

local Try = {}
Try.__index = Try

-- Does the program still fail in the same way?  Rank 0's answer.  In the same
-- words, sizes and all, when `exact` is set.
function Try:holds(P)
  if self.left <= 0 then return false end
  self.left = self.left - 1
  self.trials = self.trials + 1
  local all = self.goal.finding ~= nil
  local ok, text = pcall(emit.lua, P, {mark = not all, whole = all})
  if all then ok = agreed.first(not ok) == nil end
  if not ok then return false end
  local r = replay.run_text(text, P.ranks, {fake = self.fake, alone = not all,
    verify = self.goal.cause ~= nil, findings = all})
  return same(self.goal, r) and (not self.exact
    or r.error ~= nil and r.error.message == self.exact)
end

-- What rank 0 says, where all try together: each goes through its own program
-- alike, also where that is not quite the same.
function Try:lead(x)
  if not self.goal.finding then return x end
  return replay.undump(dt.debug.from_all(replay.dump(x))[1])
end

function Try:keep(P)
  if self.goal.finding and agreed.first(not P) then return false end
  if P and self:holds(P) then self.P = P return true end
  return false
end

-- The steps that are what it is about; marked, for steps are copied.
local function targets_of(P)
  local list = {}
  for _, s in ipairs(P.steps) do
    if s.target then list[#list + 1] = s end
  end
  return list
end

-- ---- fewer operators ---------------------------------------------------

-- Values that `chosen(step, id)` names become leaves, with `feeds` gradients
-- too; steps that only led to them go.
local function as_leaves(P, chosen, feeds)
  local steps, found = {}, {}
  local function leaf(id, s)
    found[id] = true
    steps[#steps + 1] = {kind = "leaf", ins = {}, outs = {id}, seq = s.seq,
      file = s.file, line = s.line}
  end
  for _, s in ipairs(P.steps) do
    local id = s.outs[1]
    for _, x in ipairs(feeds and s.ins or {}) do
      if P.values[x] and P.values[x].grad_of and not found[x] then leaf(x, s) end
    end
    if s.kind ~= "leaf" and not s.target and #s.outs == 1 and chosen(s, id) then
      leaf(id, s)
    else
      steps[#steps + 1] = s
    end
  end
  if next(found) == nil then return nil end
  local Q = program.with(P, steps)
  Q.values = copy(P.values)
  for id in pairs(found) do
    local v = copy(Q.values[id])
    v.replaced = true
    v.requires_grad = v.needs_grad
    v.grad_of = nil             -- no backward makes it now
    Q.values[id] = v
  end
  return program.slice(Q, targets_of(Q))
end

-- Value `id` becomes a leaf.
local function cut(P, id)
  return as_leaves(P, function (s, out)
    if out ~= id then return false end
    for _, x in ipairs(s.ins) do if x == id then return false end end
    return true
  end)
end

-- All gradients at once: what is left of backward would make none of them.
local function gradients(P)
  return as_leaves(P, function (s) return s.kind == "field" end, true)
end

local function fewer(try)
  try:keep(gradients(try.P))
  for i = try:lead(#try.P.steps), 1, -1 do
    local s = try.P.steps[i]
    local one = s and not s.target and s.kind ~= "leaf" and #s.outs == 1
    try:keep(one and cut(try.P, s.outs[1]) or nil)
  end
end

-- ---- a smaller mesh ----------------------------------------------------

-- The program with every mesh and placement rewritten by f(mesh) and pl(list,
-- mesh).
local function remesh(P, f, pl, ranks)
  local seen = {}
  local function mesh(m)
    if m and seen[m] == nil then seen[m] = f(m) or false end
    return m and (seen[m] or nil)
  end
  local Q = program.with(P, {})
  Q.ranks, Q.values = ranks, {}
  for id, v in pairs(P.values) do
    local c = copy(v)
    if v.mesh then
      c.mesh = mesh(v.mesh)
      if not c.mesh then return nil end
      c.placements = v.placements and pl(v.placements, v.mesh)
      c.local_shape = v.local_shape
      c.replaced = true
    end
    Q.values[id] = c
  end
  for i, s in ipairs(P.steps) do
    local c = s
    if s.mesh then
      c = copy(s)
      c.mesh = mesh(s.mesh)
      if not c.mesh then return nil end
      c.placements = s.placements and pl(s.placements, s.mesh)
    end
    Q.steps[i] = c
    if P.error == s then Q.error = c end
  end
  return Q
end

local function straight(shape, names, device)
  local n, ranks = 1, {}
  for _, s in ipairs(shape) do n = n * s end
  for r = 1, n do ranks[r] = r - 1 end
  return {shape = shape, names = names, device = device, ranks = ranks,
    member = true}, n
end

local function one_mesh(P)
  local list = program.meshes(P)
  return #list == 1 and not list[1].root and list[1] or nil
end

local function smaller_mesh(try)
  local m = try:lead(one_mesh(try.P))
  if not m then return end
  if #m.shape > 1 then
    for d = 1, #m.shape do
      local new, n = straight({m.shape[d]}, {m.names[d]}, m.device)
      if try:keep(remesh(try.P, function () return new end,
                         function (pl) return {pl[d]} end, n)) then break end
    end
  end
  for d = 1, #try:lead(one_mesh(try.P)).shape do
    m = try:lead(one_mesh(try.P))
    for _, size in ipairs {2, 3} do
      if size < m.shape[d] then
        local shape = {table.unpack(m.shape)}
        shape[d] = size
        local new, n = straight(shape, m.names, m.device)
        if try:keep(remesh(try.P, function () return new end,
                           function (pl) return pl end, n)) then break end
      end
    end
  end
end

-- ---- smaller sizes -----------------------------------------------------

local function replace(list, from, to)
  local out = {}
  for i, x in ipairs(list) do out[i] = x == from and to or x end
  return out
end

local function dense(shape)
  local stride, n = {}, 1
  for i = #shape, 1, -1 do stride[i], n = n, n * shape[i] end
  return stride
end

local function resize(P, from, to)
  local Q = program.with(P, {})
  Q.values = {}
  for id, v in pairs(P.values) do
    local c = copy(v)
    c.shape = replace(v.shape, from, to)
    c.stride = dense(c.shape)
    c.local_shape = replace(v.local_shape, from, to)
    c.replaced = true
    Q.values[id] = c
  end
  local function arg(a)
    if type(a) ~= "table" or a == dt.None or a.id then return a end
    if #a == 0 then return a end
    local out = {}
    for i, x in ipairs(a) do
      out[i] = math.type(x) == "integer" and x == from and to or arg(x)
    end
    return out
  end
  for i, s in ipairs(P.steps) do
    local c = copy(s)
    if s.args then
      c.args = {}
      for k, a in ipairs(s.args) do
        c.args[k] = arg(a)
        if s.factory and math.type(a) == "integer" and a == from then
          c.args[k] = to
        end
      end
    end
    Q.steps[i] = c
    if P.error == s then Q.error = c end
  end
  return Q
end

local function sizes_of(P)
  local set, list = {}, {}
  for _, s in ipairs(P.steps) do
    for _, id in ipairs(s.outs) do
      for _, n in ipairs(P.values[id].shape) do
        if n > 1 and not set[n] then
          set[n] = true
          list[#list + 1] = n
        end
      end
    end
  end
  table.sort(list, function (a, b) return a > b end)
  return list, set
end

local function smaller_sizes(try)
  for _, from in ipairs(try:lead((sizes_of(try.P)))) do
    local used = try:lead((select(2, sizes_of(try.P))))
    for to = 1, math.min(from - 1, 8) do
      if to == 1 or not used[to] or to == 2 then
        if try:keep(resize(try.P, from, to)) then break end
      end
    end
  end
end

-- ---- all of it ---------------------------------------------------------

local function text(d)
  local head = ("%d operators, %d ranks -> %d operators, %d ranks, in %d "
    .. "trials; %s"):format(d.before.steps, d.before.ranks, d.steps, d.ranks,
    d.trials, d.error or d.cause or d.finding)
  if d.file then return head .. "\nwritten to " .. d.file end
  return head .. "\n\n-- dtrepl: ranks=" .. d.ranks .. "\n" .. d.lua
end

local NEAR <const> = 24        -- later steps that are tried

-- A finding may be of an operator whose result is misused only later: the first
-- step that does, with what is before it.  false when there is none.
local function with_user(try, P, target)
  local made, tried = {}, 0
  for i = 1, try:lead(#P.steps) do
    local s, uses = P.steps[i], false
    for _, id in ipairs(s and s.seq >= target.seq and s.ins or {}) do
      uses = uses or made[id]
    end
    if s == target or uses then
      for _, list in ipairs {s.outs, s.wrote or {}} do
        for _, id in ipairs(list) do made[id] = true end
      end
    end
    if try:lead(uses and tried < NEAR) then
      tried = tried + 1
      s.target = true
      if try:keep(agreed.slice(P, targets_of(P))) then return true end
      s.target = nil
    end
  end
  return false
end

-- The failing step and what it needs, as far as that fails again.
local function begin(P, exact, goal, target)
  if not goal then goal, target = goal_of(P) end
  local all = goal.finding ~= nil
  local try = setmetatable({goal = goal, left = TRIALS, trials = 0,
    fake = goal.cause == nil and not all, exact = exact}, Try)
  target.target = true
  local Q = (all and agreed or program).slice(P, {target})
  try.P = Q
  if not try:holds(Q) then
    try.fake = false
    if dt.debug.no_data() or not (all and with_user(try, P, target)
       or not all and try:holds(Q)) then
      page.fail("COMMAND", "the failure does not come again when the record is "
        .. "replayed: something outside of it matters")
    end
  end
  fewer(try)
  return try
end

local function reduce(P, goal, target)
  local try = begin(P, nil, goal, target)
  smaller_mesh(try)
  smaller_sizes(try)
  fewer(try)
  return try
end

-- The recorded error in fewer operators, with its mesh, sizes and words as they
-- are: {lua, torch, steps, before}, or nil when it does not get smaller.
-- Collective.
function M.same_words(P)
  local answer = replay.dump{}
  if dt.rank() == 0 or dt.debug.no_data() then
    local ok, try = pcall(begin, P, P.error.message)
    if ok and #try.P.steps < #program.slice(P, {P.error}).steps then
      answer = replay.dump{lua = (emit.lua(try.P)), steps = #try.P.steps,
        torch = emit.python(try.P, true), before = #P.steps}
    end
  end
  local d = replay.undump(dt.debug.from_all(answer)[1])
  if not d or not d.lua then return nil end
  local r = replay.run_text(d.lua, P.ranks, {fake = dt.debug.no_data()})
  return r.error and r.error.message == P.error.message and d or nil
end

-- What was found, as plain data.
local function answer_of(P, res, lua, torch)
  return replay.dump{lua = lua, trials = res.trials, steps = #res.P.steps,
    ranks = res.P.ranks, error = res.goal.code, cause = res.goal.cause,
    finding = res.goal.finding, op = res.goal.op, torch = torch,
    before = {steps = #P.steps, ranks = P.ranks}}
end

local function failed(e)
  return replay.dump{failed = type(e) == "table" and e.message or tostring(e)}
end

-- Rank 0 tries.
local function alone(P)
  if dt.rank() ~= 0 and not dt.debug.no_data() then return "" end
  local ok, res = pcall(reduce, P)
  if not ok then return failed(res) end
  return answer_of(P, res, (emit.lua(res.P)), emit.python(res.P, true))
end

-- All try, each with what it has.
local function together(P, code)
  local step, f = agreed.finding(P, code)
  if not step and code then
    page.fail("COMMAND", "there is no finding %s of a recorded operator", code)
  elseif not step then
    return alone(P)
  end
  local ok, res = pcall(reduce, P, {finding = f.code, op = f.op}, step)
  if not ok then return failed(res) end
  return answer_of(P, res, (emit.lua(res.P, {whole = true})),
    emit.python(res.P))
end

-- dt.debug.shrink([code or file[, file]]): {lua, torch, steps, ranks, before,
-- trials, error | cause | finding}: the smallest program found that fails like
-- the record, or in which the finding is met again: that of a code, else the
-- last that says "wrong" when nothing has failed.  Collective: all get the
-- answer.
function M.shrink(what, file)
  local P = program.build()
  local code, rest = tostring(what or ""):match("^%s*(DT%d%d%d%d)%s*(.*)$")
  if not code then file = what
  elseif rest ~= "" then file = rest end
  local answer
  if not code and agreed.first(has_goal(P)) then answer = alone(P)
  else answer = together(P, code) end
  local d = replay.undump(dt.debug.from_all(answer)[1])
  if d.failed then page.fail("COMMAND", "%s", (d.failed:gsub("%%", "%%%%"))) end
  if file and file ~= "" then
    d.file = file
    page.write(file, "-- dtrepl: ranks=" .. d.ranks
      .. "\n" .. d.lua .. "\n")
  end
  return page.new(d, text)
end

return M
