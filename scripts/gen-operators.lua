-- SPDX-License-Identifier: MIT
-- gen-operators.lua DIR TEXT...: make the operator tables that C files include
-- from the texts of src/oplib/*.ops (operator_texts.lua says what stands in
-- them).  A table is written to DIR/<module>/<table>.def, and only when it
-- changed, so that a changed line compiles again what reads its table.
--
-- What an operator must say and does not say is an error here.  Rows of one
-- operator keep the order of the text: it is that in which PyTorch's parser
-- tries overloads, and the first refusal that holds counts.

local here = arg[0]:match "^(.*)/" or "."
local texts = dofile(here .. "/operator_texts.lua")
local dir = arg[1]
local fail = texts.fail

-- ---- tools ---------------------------------------------------------------

local tables = {}                -- path -> list of {key, text}

local function add(path, key, format, ...)
  tables[path] = tables[path] or {}
  table.insert(tables[path], {key = key, at = #tables[path],
    text = format:format(...)})
end

local function number(release)
  local major, minor = release:match "^(%d+)%.(%d+)$"
  return tonumber(major) * 100 + tonumber(minor)
end

local function ns_of(name)
  local ns, rest = name:match "^(prims)%.(.+)$"
  return ns or "aten", rest or name
end

-- "aten.add.Tensor"
local function full(o)
  return o.full:find "^prims%." and o.full or "aten." .. o.full
end

-- The name without ".default".
local function short(o) return (o.full:gsub("%.default$", "")) end

-- As a literal of C.
local function quoted(s) return '"' .. s:gsub('[\\"]', "\\%0") .. '"' end

-- Facts `word` of an overload or block.
local function facts(x, word) return ipairs(x[word] or {}) end

-- ---- which operators there are --------------------------------------------

local variant = {inplace = "INPLACE", traced = "TRACED", out = "OUT",
  out_traced = "OUT_TRACED", scalar = "SCALAR", foreach = "FOREACH",
  functional = "FUNCTIONAL", alias = "ALIAS"}

local function list_overload(o)
  local ns, base = ns_of(o.block.name)
  local head = base .. (o.name == "default" and "" or "." .. o.name)
  if o.kind == "overload" then
    local id = (o.full:gsub("%.default$", ""):gsub("%.", "_"))
    add("oplib/ops.def", ns .. "." .. base .. "." .. o.name, "X(%s)", id)
  elseif o.kind == "form" then
    local from = o.from and o.from[1] or fail(o, "%s: from what?", o.full)
    local base_name, kind, bare = from.text:match "^(%S+) ([%w_]+)(.*)$"
    if not variant[kind] or (bare ~= "" and bare ~= " bare") then
      fail(from, "OVERLOAD KIND [bare]: %s", from.text)
    end
    add("oplib/variants.def", base, '%s("%s%s", "%s", %s)',
      bare == "" and "V" or "U", head, o.args, base_name, variant[kind])
  elseif o.kind == "known" then
    add("oplib/schema_only.def", base, 'N("%s%s")', head, o.args)
  end
end

-- ---- what autograd keeps --------------------------------------------------

local function bits(fact)
  if fact.text ~= "none" and not fact.text:find "^%d[%d ]*$" then
    fail(fact, "results are numbers, or none")
  end
  local mask = 0
  for i in fact.text:gmatch "%d+" do mask = mask | 1 << tonumber(i) end
  return mask
end

local function list_kept(o)
  if o.keeps then
    local text = o.keeps[1].text
    add("op/kept.def", short(o), 'X("%s", "%s")', short(o),
      text == "nothing" and "" or text)
  end
  local keeps, diff = o["keeps-results"], o.differentiable
  if not (keeps or diff or o.overwrites) then return end
  local old = o.overwrites and o.overwrites[1].text
  add("op/saved.def", short(o), 'X("%s", %d, %s, %s)', short(o),
    keeps and bits(keeps[1]) or 0, diff and bits(diff[1]) or "ALL",
    old and ('"%s"'):format(old == "always" and "*" or old) or "NULL")
end

-- ---- types ----------------------------------------------------------------

local function list_refused(x, name)
  for _, f in facts(x, "refuses") do
    local types, text = f.text:match '^([%u%d |]-) (".*")$'
    if not types then types, text = f.text:match '^([%u%d |]-) words (".*")$' end
    local of, key, arg = f.text:match '^([%u%d |]-) says ([%u%d_]+) ?(.*)$'
    if of then
      add("op/refuse.def", "", 'S%d("%s", %s, %s, %s)', arg == "" and 0 or 1,
        name, of, key, arg == "" and "NULL" or arg)
    elseif types then
      add("op/refuse.def", "", '%s("%s", %s, %s)',
        f.text:find(" words ", 1, true) == #types + 1 and "W" or "R", name,
        types, text)
    elseif f.text ~= "nothing" and f.text ~= "as its parts" then
      fail(f, "refuses TYPES [words] \"TEXT\", or says KEY [\"ARGUMENT\"]")
    end
  end
  for _, f in facts(x, "first-refuses") do
    local types, when, class, text =
      f.text:match '^([%u%d |]-) (%l+) (%u+) (".*")$'
    local of, at, key, arg =
      f.text:match '^([%u%d |]-) (%l+) says ([%u%d_]+) ?(.*)$'
    if of then
      add("oplib/pw_refuse.def", name, 'S%d("%s", %s, %s, %s, %s)',
        arg == "" and 0 or 1, name, of, at:upper(), key,
        arg == "" and "NULL" or arg)
    elseif types then
      add("oplib/pw_refuse.def", name, 'R("%s", %s, %s, %s, %s)', name, class,
        types, when:upper(), text)
    else
      fail(f, "TYPES any|operand CLASS \"TEXT\", or says KEY [\"ARGUMENT\"]")
    end
  end
  for _, f in facts(x, "kernel-refuses") do
    local types, one, text = f.text:match '^([%u%d |]-) (o?n?e? ?)(".*")$'
    if not types then fail(f, "TYPES [one] \"NAME\"") end
    add("oplib/pw_types.def", name .. (one == "" and " 2" or " 1"),
      'T("%s", %s, %s, %s)', name, text, types, one == "" and "ANY" or "ONE")
  end
end

local function list_out(x, name)
  for _, f in facts(x, "out") do
    local which, text = f.text:match '^(%l+) ?(.*)$'
    local class, words = text:match '^(%u+) (".*")$'
    if not ({same = true, cast = true, any = true, typed = true})[which] then
      fail(f, "out same|cast|any|typed")
    elseif (which == "same" or which == "typed") and text == "" then
      fail(f, "the error's text is missing")
    end
    if f.text ~= "cast" then
      add("op/out_types.def", "", 'O("%s", %s, %s, %s)', name, which:upper(),
        class or "DTYPE", words or text == "" and "NULL" or text)
    end
  end
end

-- ---- releases -------------------------------------------------------------

local flag = {uneven = "DT_OP_UNEVEN", narrow = "DT_OP_NARROW",
  widen = "DT_OP_WIDEN"}

local function flags_of(fact, text)
  local list = {}
  for word in text:gmatch "%l+" do
    list[#list + 1] = flag[word] or fail(fact, "no flag %s", word)
  end
  return #list == 0 and "0" or table.concat(list, " | ")
end

local function list_ruling(o, f)
  local release, what, rest = f.text:match "^(%d+%.%d+) ([%w_ ]+),?(.*)$"
  local head = release and ('"%s", %d'):format(full(o), number(release))
  local path = "oplib/rulings.def"
  if not release then fail(f, "since RELEASE what?") end
  local flags = flags_of(f, rest)
  local rule, filter = what:match "^rule ([%w_]+) filter ([%w_]+)$"
  if not rule then rule = what:match "^rule ([%w_]+)$" end
  if filter then
    add(path, "", "F(%s, %s, %s, %s)", head, flags, rule, filter)
  elseif rule then
    add(path, "", "R(%s, %s, %s)", head, flags, rule)
  elseif what == "replicated" then
    add(path, "", "N(%s, %s)", head, flags)
  elseif what == "as before" then
    add(path, "", "E(%s, %s)", head, flags)
  elseif what == "later way" or what == "latest way" then
    add(path, "", "L(%s, %s)", head, what:match("^%l+"):upper())
  elseif what:find "^decomposed " then
    add(path, "", "D(%s, %s)", head, what:match " ([%w_]+)$")
  else
    fail(f, "since RELEASE rule, replicated, as before, decomposed, later or latest "
      .. "way")
  end
end

local function list_wrong(o)
  for i, f in facts(o, "wrong") do
    local when, rest = f.text:match "^(%l+)(.*)$"
    local release = rest:match "^ until (%d+%.%d+)"
    local inputs, outputs = rest:match ": (.*) %-> (.*)$"
    local why, case = (o.because or {})[i], (o.seen or {})[i]
    if not why or not case then fail(f, "because and seen are missing") end
    add("shard/known_wrong.def", "", 'X("%s", %s, %s, "%s", "%s", %s, %s)',
      full(o), when:upper(), release and number(release) or "DT_STILL",
      inputs or "", outputs or "", quoted(why.text), quoted(case.text))
  end
end

local function list_releases(o)
  for _, f in facts(o, "strategy") do
    local first, last = texts.span(f)
    add("compat/ops_by_release.def", full(o), 'X("%s", %d, %s)', full(o),
      number(first), last and number(last) or "DT_STILL")
  end
  for _, f in facts(o, "since") do list_ruling(o, f) end
  list_wrong(o)
  for _, f in facts(o, "untraced") do
    local last = f.text:match "^until (%d+%.%d+)$"
    if not last and f.text ~= "" then fail(f, "untraced, or untraced until R") end
    add("op/untraced.def", full(o), 'X("%s", %s)', full(o),
      last and number(last) or "DT_STILL")
  end
end

-- ---- what holds of all overloads -------------------------------------------

local function list_signatures(block, word, name)
  local lines = {}
  for _, f in facts(block, word) do
    lines[#lines + 1] = quoted(f.text):sub(1, -2) .. '\\n"'
  end
  if #lines == 0 then return end
  add("op/signatures.def", name, 'X("%s", %s)', name, table.concat(lines, " "))
end

local marks = {["conjugated"] = "DT_MARK_CONJ", ["negated"] = "DT_MARK_NEG",
  ["conjugated negated"] = "BOTH"}

local function list_block(block)
  list_refused(block, block.name)
  list_out(block, block.name)
  list_signatures(block, "function", block.name)
  list_signatures(block, "method", "Tensor." .. block.name)
  for _, f in facts(block, "takes") do
    local which, how = f.text:match "^(.-) (%l+)$"
    if not marks[which] then fail(f, "takes conjugated, negated or both") end
    add("engine/marked.def", "", 'X("%s", %s, %s)', block.name, marks[which],
      how:upper())
  end
end

-- ---- what must be said ------------------------------------------------------

local function any_overload(block, test)
  for _, o in ipairs(block.overloads) do if test(o) then return true end end
  return false
end

local function check_block(block)
  if block.kind ~= "operator" then return end
  if #block.overloads == 0 then fail(block, "%s has no overload", block.name) end
  if block.name:find "^prims%." then return end
  local function says(word)
    return block[word] or any_overload(block, function (o) return o[word] end)
  end
  if any_overload(block, function (o) return o.kind == "overload" end) and
     not (says "refuses" or says "first-refuses" or says "kernel-refuses") then
    fail(block, "%s does not say which types it refuses (\"refuses nothing\")",
      block.name)
  end
  if any_overload(block, function (o)
    return o.args:find "%(%l!%)[%[%]]* out" end) and not says "out" then
    fail(block, "%s does not say what an out= of another type does", block.name)
  end
end

-- ---- writing ----------------------------------------------------------------

local function write_table(path, rows)
  table.sort(rows, function (a, b)
    if a.key ~= b.key then return a.key < b.key end
    return a.at < b.at
  end)
  local lines = {"/* Generated by scripts/gen-operators.lua from " ..
    "the .ops texts of src/oplib; do not edit. */"}
  for _, row in ipairs(rows) do lines[#lines + 1] = row.text end
  local text = table.concat(lines, "\n") .. "\n"
  local f = io.open(path, "rb")
  local old = f and f:read "a"
  if f then f:close() end
  if old == text then return end
  f = assert(io.open(path, "wb"))
  assert(f:write(text))
  assert(f:close())
end

local function make_tables()
  for _, block in ipairs(texts.read {table.unpack(arg, 2)}) do
    list_block(block)
    for _, o in ipairs(block.overloads) do
      local name = block.name .. "." .. (o.name == "default" and "" or o.name)
      list_overload(o)
      list_kept(o)
      list_refused(o, name)
      list_out(o, o.full)
      list_releases(o)
    end
    check_block(block)
  end
end

local ok, message = pcall(make_tables)
if not ok then
  io.stderr:write(message, "\n")
  os.exit(1)
end
for path, rows in pairs(tables) do write_table(dir .. "/" .. path, rows) end
