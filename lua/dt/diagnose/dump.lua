-- SPDX-License-Identifier: MIT
-- dt/diagnose/dump.lua: what the dumps of DebugMode and CommDebugMode show:
-- operators, redistributions, collectives with their payload, and a finding
-- when the dump alone holds one.
--
-- A dump has no error text.  But an operator on distributed tensors under
-- which nothing is indented did not run: it raised.  When one of its tensors
-- is plain, that is the mixed error; when no release has a strategy for it,
-- that is the missing one.  Redistribution inside an operator nobody asked
-- for is a finding too, though not an error.
--
-- Input are lines without prefixes but with their indent (clean.plain_lines).

local facts = require "dt.diagnose.facts"
local grammar = require "dt.diagnose.grammar"

local M = {}

local MAX_LINES = 200000
local SIZES = {f64 = 8, i64 = 8, f32 = 4, i32 = 4, f16 = 2, bf16 = 2, i16 = 2,
  i8 = 1, u8 = 1, b8 = 1, bool = 1, c64 = 8, c128 = 16}

-- ---- counting ----------------------------------------------------------

local function counter() return {n = 0, by = {}, order = {}} end

local function add(c, key, n, bytes)
  local e = c.by[key]
  if not e then
    e = {key = key, n = 0, bytes = 0}
    c.by[key] = e
    c.order[#c.order + 1] = e
  end
  e.n = e.n + n
  e.bytes = e.bytes + (bytes or 0)
  c.n = c.n + n
end

-- Most frequent first: "mm x3, add x1".
local function listed(c, most, with_bytes)
  local list = table.move(c.order, 1, #c.order, 1, {})
  table.sort(list, function (a, b)
    if a.n ~= b.n then return a.n > b.n end
    return a.key < b.key
  end)
  local out = {}
  for i = 1, math.min(#list, most) do
    local e = list[i]
    out[i] = with_bytes and e.bytes > 0
      and ("%s x%d (%s)"):format(e.key, e.n, M.bytes_text(e.bytes))
      or ("%s x%d"):format(e.key, e.n)
  end
  if #list > most then out[#out + 1] = ("and %d more"):format(#list - most) end
  return table.concat(out, ", ")
end

-- "1.5 MiB"
function M.bytes_text(n)
  local units, i = {"B", "KiB", "MiB", "GiB", "TiB"}, 1
  while n >= 1024 and i < #units do
    n, i = n / 1024, i + 1
  end
  return i == 1 and ("%d B"):format(n) or ("%.1f %s"):format(n, units[i])
end

-- Bytes of the first tensor of a call.
local function payload(rest)
  local dtype, shape = rest:match "t[$%d]*: ([%w_]+)%[([%d, ]*)%]"
  local size = dtype and SIZES[dtype]
  if not size then return 0 end
  local n = 1.0
  for d in shape:gmatch "%d+" do n = n * tonumber(d) end
  return n < 1 << 50 and n * size or 0
end

-- ---- DebugMode ---------------------------------------------------------

-- What stands between an operator and its children does not count as work.
local function parse_args(rest)
  rest = rest:gsub("'(d?t[$%d]*: [^']*)'", "%1")
  local ok, list = pcall(grammar.arguments.match, grammar.arguments, rest)
  return ok and list or {}
end

local function leaves(args, f)
  for _, a in ipairs(args) do
    if a.kind == "list" then leaves(a.items, f) else f(a) end
  end
end

-- A plain tensor of more than one element beside a distributed one?
local function is_mixed(args)
  local dist, plain = false, false
  leaves(args, function (a)
    if a.kind == "dtensor" then dist = true end
    if a.kind == "tensor" then
      local n = 1.0
      for _, s in ipairs(a.shape) do n = n * s end
      plain = plain or n > 1
    end
  end)
  return dist and plain
end

-- "S(1) -> S(0)", "[S(1)] -> [S(0)]", "trace: S(1)->S(0)"
local function move_of(text)
  local from, to = text:match "trace: ([^,]-)%->([^,]*)%)%s*$"
  if not from then from, to = text:match "%d+, %[?(.-)%]? %-> %[?(.-)%]?%)%s*$" end
  if not from then return nil end
  local last = to:match ".*%->(.*)$" or to
  return (from .. " -> " .. last):gsub("[^%w_%(%)%->, ]", "")
end

local function debug_line(d, indent, text)
  local top = d.stack[#d.stack]
  while top and top.indent >= indent do
    d.stack[#d.stack] = nil
    top = d.stack[#d.stack]
  end
  if top then top.ran = true end
  local how, rest = text:match "^redistribute_input%s*(%[?%a*%]?)%s*(%(.*)$"
  if rest then
    local move = move_of(rest)
    local inner = top and top.redistribute
    local m = top and top.move
    if move and not inner then
      add(d.moves, move, 1)
      if how == "[implicit]" or how == "" and top then
        m = {op = top and top.op, text = top and top.text, move = move,
          argument = rest:match "^%((%d+),"}
        d.implicit[#d.implicit + 1] = m
      end
    end
    d.stack[#d.stack + 1] = {indent = indent, redistribute = true, ran = true,
      op = top and top.op, move = m}
    return true
  end
  local ns, base, tail = text:match "^([%a_][%w_]*)::([%w_%.]+)(%(.*)$"
  if not ns then return false end
  if ns:find "c10d" then
    if base ~= "wait_tensor" and base ~= "_wrap_tensor_autograd" then
      local bytes = payload(tail)
      add(d.collectives, base, 1, bytes)
      if top and top.move then
        top.move.bytes = (top.move.bytes or 0) + bytes
      end
    end
    return true
  end
  if tail:find("dt[$%d]*: ") then
    local op = facts.canonical(ns .. "." .. base)
    add(d.ops, base, 1)
    local call = {indent = indent, op = op, text = tail}
    d.stack[#d.stack + 1] = call
    d.calls[#d.calls + 1] = call
  else
    add(d.locals, base, 1)
  end
  return true
end

-- ---- CommDebugMode -----------------------------------------------------

local function comm_line(d, indent, text)
  local pass = text:match "^(%u+) PASS$"
  if pass then
    d.pass = pass:lower()
    return true
  end
  local coll, n = text:match "^%*c10d_functional%.([%w_]+): (%d+)$"
  n = tonumber(n)
  if coll and n and n < 1 << 40 then
    n = math.tointeger(n)
    if d.module == "Global" then
      add(d.collectives, (d.pass or "all") .. " " .. coll, n)
    elseif d.module then
      d.by_module[#d.by_module + 1] = {module = d.module, coll = coll, n = n,
        indent = indent}
    end
    return true
  end
  local op = text:match "^%*%*([%w_]+%.[%w_]+)%.?[%w_]*$"
  if op then
    add(d.ops, op:match "%.(.*)$", 1)
    return true
  end
  local module = text:match "^([%a_][%w_%.]*)$"
  if module then d.module, d.pass = module, nil end
  return module ~= nil
end

-- Modules in which a collective is made, not those that hold such modules.
local function innermost(list)
  local c = counter()
  for i, e in ipairs(list) do
    local inner = false
    for k = i + 1, #list do
      local o = list[k]
      if o.module ~= e.module then
        inner = o.coll == e.coll
          and o.module:sub(1, #e.module + 1) == e.module .. "."
        if inner or o.module:sub(1, #e.module) ~= e.module then break end
      end
    end
    if not inner then add(c, e.coll .. " in " .. e.module, e.n) end
  end
  return c
end

-- The dictionary get_comm_counts prints.
local function counts_line(d, text)
  local any = false
  for coll, n in text:gmatch
    "op='_?c10d_functional%.([%w_]+)'%)>: (%d+)" do
    add(d.collectives, coll, math.tointeger(tonumber(n)) or 0)
    any = true
  end
  return any
end

-- ---- findings ----------------------------------------------------------

-- What a dump shows, or nil: {kind=, op=, args=, text=}; kind is "mixed" or
-- "missing" (an operator that raised, and why), "raised", "in place" (an
-- operator that moved the tensor it writes to), "implicit".
local function finding_of(d)
  local raised
  for _, call in ipairs(d.calls) do
    if not call.ran and call.op then
      local args = parse_args(call.text)
      local f = {op = call.op, args = args, kind = "raised"}
      if is_mixed(args) then
        f.kind = "mixed"
      elseif not facts.ops().span[call.op] then
        f.kind = "missing"
      end
      if f.kind ~= "raised" then return f end
      raised = f
    end
  end
  for _, m in ipairs(d.implicit) do
    if m.op and m.op:find "[%l%d]_%.[%w_]+$" and m.argument == "0"
      and m.move:find "^[^%-]*P" then
      return {kind = "in place", op = m.op, text = m.op .. ": " .. m.move,
        args = m.text and parse_args(m.text)}
    end
  end
  -- R to S and R to P move nothing
  local c, most = counter(), nil
  for _, m in ipairs(d.implicit) do
    if m.bytes then
      add(c, (m.op or "?") .. ": " .. m.move, 1, m.bytes)
      if not most or m.bytes > most.bytes then most = m end
    end
  end
  if most then
    return {kind = "implicit", op = most.op, text = listed(c, 4, true),
      n = c.n, args = most.text and parse_args(most.text)}
  end
  return raised
end

-- Reads `lines`; nil when they hold no dump.
function M.read(lines)
  local d = {ops = counter(), locals = counter(), moves = counter(),
    collectives = counter(), implicit = {}, calls = {}, stack = {},
    by_module = {}}
  local debug, comm = 0, 0
  for i, line in ipairs(lines) do
    if i > MAX_LINES then break end
    local indent, text = line:match "^(%s*%d*%s*)(%S.*)$"
    if text and not line:find "^%s*%d+%s*$" then
      text = text:gsub("%s+$", "")
      if text:find("::", 1, true) or text:find("redistribute_input", 1, true)
      then
        if debug_line(d, #indent, text) then debug = debug + 1 end
      elseif text:find "^%*" or text:find "PASS$" or comm > 0 then
        if comm_line(d, #indent, text) then comm = comm + 1 end
      elseif text:find("_functional.", 1, true) then
        if counts_line(d, text) then comm = comm + 1 end
      elseif text == "Global" then
        d.module = text
      end
    end
  end
  local shown = d.ops.n + d.moves.n + d.collectives.n + #d.by_module
  if shown == 0 then return nil end
  d.kind = debug >= comm and "DebugMode" or "CommDebugMode"
  if d.kind == "DebugMode" and #d.calls == 0 and d.moves.n == 0
    and d.collectives.n == 0 then
    return nil
  end
  d.finding = d.kind == "DebugMode" and finding_of(d) or nil
  return d
end

-- Sentences on a dump, for a person.
function M.notes(d)
  local out = {("a dump of %s: %d operators on distributed tensors%s, %d "
    .. "redistributions%s, %d collectives%s"):format(d.kind, d.ops.n,
    d.ops.n > 0 and " (" .. listed(d.ops, 6) .. ")" or "", d.moves.n,
    d.moves.n > 0 and " (" .. listed(d.moves, 6) .. ")" or "",
    d.collectives.n, d.collectives.n > 0
      and " (" .. listed(d.collectives, 6, true) .. ")" or "")}
  if #d.by_module > 0 then
    out[2] = "by module: " .. listed(innermost(d.by_module), 6)
  end
  local f = d.finding
  if f and (f.kind == "raised" or f.kind == "mixed" or f.kind == "missing")
  then
    out[#out + 1] = ("the dump shows nothing done for %s: it raised%s"):format(
      f.op, f.kind == "mixed" and ", having a plain tensor beside distributed "
      .. "ones" or f.kind == "raised" and ", or the dump is cut there" or "")
  elseif f and f.kind == "in place" then
    out[#out + 1] = ("the operator writes to a Partial tensor and had it "
      .. "reduced first: %s"):format(f.text)
  elseif f and f.kind == "implicit" then
    out[#out + 1] = ("%d redistribution%s with traffic that nobody asked "
      .. "for: %s"):format(f.n, f.n == 1 and "" or "s", f.text)
  end
  return out
end

return M
