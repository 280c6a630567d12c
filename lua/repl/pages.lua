-- SPDX-License-Identifier: MIT
-- repl/pages.lua: help pages of public names, made from the rows of repl/help:
-- how it is called, what it does, shapes, an example that runs on four ranks.
-- What an operator adds (example, sharding) follows from its definition.

local dt = require "dt"
local python_words = require "repl.python_words"
local python_operators = require "repl.python_operators"

local M = {}

-- The rows of each file: names of nn and F by their layer, others one by one.
local layers = {"layers", "spatial", "lazy", "losses"}
local calls = {"tensors", "training", "parallelism"}
local python = {"python", "python_distributed"}

local function page(call, what, example, shapes)
  return {call = call, what = what, example = example, shapes = shapes}
end

local function ended(text)
  return text:match("[.:;]$") and text or text .. "."
end

-- A layer's two pages: nn.Linear and F.linear, which name each other.
local function add_layer(pages, row)
  local class, fn, class_sig, fn_sig, what, shapes, made, given, args =
    table.unpack(row)
  if class ~= "-" then
    local p = page(("nn.%s(%s)"):format(class, class_sig), ended(what)
      .. (fn ~= "-" and (" As a function: F.%s."):format(fn) or ""),
      class == "RNNBase" and ("nn.RNNBase(%s)"):format(made)
      or ("nn.%s(%s)(%s)"):format(class, made, given), shapes)
    pages["nn." .. class] = p
  end
  if fn ~= "-" then
    if fn_sig == "" then
      local known = require("dt.functional.signatures")[fn]
      fn_sig = known and known[2] or "input, …"
    end
    local p = page(("F.%s(%s)"):format(fn, fn_sig), ended(what)
      .. (class ~= "-" and (" As a module: nn.%s."):format(class) or ""),
      args ~= "" and ("F.%s(%s)"):format(fn, args) or "F." .. fn, shapes)
    pages["F." .. fn] = p
  end
end

local pages, by_last

-- What kind of value dt has under this name, as metatables call it.
local function dt_kind(word)
  local v = rawget(dt, word)
  local mt = type(v) == "userdata" and getmetatable(v)
  return type(mt) == "table" and mt.__name or nil
end

-- The last word of a name, what most people ask for.
local function last(name) return name:match("([%w_]+)$") end

local function load_pages()
  if pages then return pages end
  local all = {}
  for _, file in ipairs(layers) do
    for _, row in ipairs((require("repl.help." .. file))) do
      add_layer(all, row)
    end
  end
  for _, file in ipairs(calls) do
    for _, row in ipairs((require("repl.help." .. file))) do
      all[row[1]] = page(row[2], row[3], row[4])
    end
  end
  for _, file in ipairs(python) do
    for _, row in ipairs((require("repl.help." .. file))) do
      local shared = page(row[2], row[3], ":python " .. row[4])
      for name in row[1]:gmatch("%S+") do all[name] = shared end
    end
  end
  for name, row in next, (require("repl.help.everyday")) do
    all[name] = page(row[1], row[2], row[3])
  end
  by_last = {}
  local names = {}
  for name in next, all do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local word = last(name)
    by_last[word] = by_last[word] or {}
    table.insert(by_last[word], name)
  end
  pages = all
  return pages
end

-- Names with a page, in order.
function M.names()
  local list = {}
  for name in next, load_pages() do list[#list + 1] = name end
  table.sort(list)
  return list
end

-- The example of a page: an expression, or ":python " and one of Python.
function M.example(name)
  local p = load_pages()[name]
  return p and p.example
end

-- How the page says that it is called.
function M.call(name) return load_pages()[name].call end

-- How people and PyTorch spell the place a name is in: {pattern, the prefixes
-- that its pages may have}.
local spelled = {
  {"^torch%.nn%.functional%.", "F."}, {"^nn%.functional%.", "F."},
  {"^dt%.nn%.functional%.", "F."}, {"^F%.", "F."}, {"^dt%.F%.", "F."},
  {"^torch%.nn%.init%.", "init."}, {"^nn%.init%.", "init."},
  {"^torch%.nn%.", "nn."}, {"^dt%.nn%.", "nn."}, {"^nn%.", "nn."},
  {"^torch%.[Tt]ensor[.:]", "x:", "x."}, {"^Tensor[.:]", "x:", "x."},
  {"^dt%.Tensor[.:]", "x:", "x."},
  {"^DTensor[.:]", "x:", "x."}, {"^DeviceMesh[.:]", "mesh:", "mesh."},
  {"^nn%.Module[.:]", "module:"}, {"^Module[.:]", "module:"},
  {"lr_scheduler%.", "lr_scheduler."}, {"distributed%.", "distributed."},
  {"^dist%.", "distributed."},
  {"autograd%.", "autograd."}, {"spmd%.", "spmd."}, {"spmd_types%.", "spmd."},
  {"fsdp%.", "fsdp."}, {"checkpoint%.", "checkpoint."},
  {"library%.", "library."}, {"testing%.", "testing."},
}

-- Placements as tensors show them: P(sum).
local short <const> = {S = "Shard", _S = "_StridedShard", P = "Partial",
  R = "Replicate"}

-- The pages on a name as it is asked for ("dt.rank", "x:to_local",
-- "torch.nn.Linear"): one given by its place, else all of its last word.
local function found(what)
  load_pages()
  if pages[what] then return {what} end
  local placed = short[what:match("^(_?[SPR])%b()$") or what]
  if pages[placed] then return {placed} end
  local word = last(what)
  if not word then return {} end
  for _, place in ipairs(spelled) do
    if what:match(place[1]) then
      for i = 2, #place do
        if pages[place[i] .. word] then return {place[i] .. word} end
      end
    end
  end
  if dt_kind(word) == "dt.dtype" then return {"dtype"} end
  local bare = what == word
  local method = what:match("^[%w_]+[:.]([%w_]+)$") == word
    and not what:match("^dt%.") and not what:match("^torch%.")
  if not bare and method and (pages["x:" .. word] or pages["x." .. word]) then
    return {pages["x:" .. word] and "x:" .. word or "x." .. word}
  end
  if bare or pages[word] == nil then return by_last[word] or {} end
  return {word}
end

local signatures

-- What PyTorch's name takes, by the name of the page: "in_features, …"; nil where
-- that is not known, as of operators, whose own texts say it.
function M.signature(name)
  if not signatures then
    signatures = {}
    local text = require("repl.help.signatures"):gsub("\n  ", " ")
    for page_name, params in text:gmatch("([^\n(]+)(%b())\n") do
      signatures[page_name] = params:sub(2, -2)
    end
  end
  return signatures[name]
end

-- A call as PyTorch has it, where it is one call.
local function as_pytorch(name, call)
  local head, params = call:match("^([%w_.]+)%b()$"), M.signature(name)
  if head and last(head) ~= last(name) then return call end   -- how it is used
  return head and params and ("%s(%s)"):format(head, params) or call
end

-- A page of Lua as a Python program needs it; nil when Python has no such name.
-- `own_words`: not with PyTorch's signature.
local function in_python(name, p, own_words)
  local of_python = p.example:match("^:python (.*)$")
  if of_python then
    return page(own_words and p.call or as_pytorch(name, p.call), p.what, of_python, p.shapes)
  end
  local own = python_words.own[name]
  if own == false then return nil end
  local call = own and own[1] or python_words.translate(p.call)
  local example = own and own[2] or python_words.translate(p.example)
  if not call or not example then return nil end
  local import = python_words.import(call)
  if not own_words then call = as_pytorch(name, call) end
  return page(call .. (import and "\n" .. import or ""), python_words.prose(p.what),
    example, p.shapes)
end

local function text_of(p)
  local out = {p.call, p.what}
  if p.shapes then out[#out + 1] = "Shapes: " .. p.shapes end
  out[#out + 1] = "Example: " .. p.example
  return table.concat(out, "\n") .. "\n"
end

-- The page on a name, or nil; `python`: as Python calls it, and after "In Lua:"
-- where Python does not.
function M.page(what, python)
  local list, seen = {}, {}
  for _, name in ipairs(found(what)) do
    local p = pages[name]
    if not seen[p] then
      local form = python and in_python(name, p)
      list[#list + 1] = (python and not form and "In Lua:\n" or "")
        .. text_of(form or p)
    end
    seen[p] = true
  end
  if #list == 0 then return nil end
  return table.concat(list, "\n")
end

-- calls() -> {name, tab, how the page says that Python calls it}, for the script
-- that asks PyTorch what they take (scripts/capture_signatures.py).
function M.calls()
  local out = {}
  for _, name in ipairs(M.names()) do
    local form = in_python(name, pages[name], true)
    if form then out[#out + 1] = name .. "\t" .. form.call:match("^[^\n]*") end
  end
  return out
end

-- The keywords that a function's page shows, in order, each once.
function M.keywords(what)
  local out, seen = {}, {}
  for _, name in ipairs(found(what)) do
    for word in pages[name].call:gmatch("([%a_][%w_]*) ?= ?") do
      if not seen[word] then out[#out + 1], seen[word] = word, true end
    end
  end
  return out
end

-- ---- what an operator's definition holds ----

local float = {f32 = true, f64 = true, f16 = true, bf16 = true}
local long = {f64 = "float64", f16 = "float16", bf16 = "bfloat16",
  i64 = "int64", i32 = "int32", i16 = "int16", i8 = "int8", u8 = "uint8",
  b8 = "bool", bool = "bool", c64 = "complex64", c128 = "complex128",
  f32 = "float32", f8e4m3 = "float8_e4m3fn", f8e5m2 = "float8_e5m2",
  f8_e4m3fn = "float8_e4m3fn", f8_e5m2 = "float8_e5m2"}

-- A tensor of a sample as Lua makes it; `draw` makes floats: "randn", "rand",
-- or "eye" where it is a square.
local function tensor_text(dtype, sizes, draw)
  local kind = dtype ~= "f32" and ("{dtype = dt.%s}"):format(long[dtype]) or ""
  local n, m = sizes:match("^(%d+), (%d+)$")
  if not float[dtype] then draw = "ones" end
  if draw == "eye" and n == m and n then
    sizes = n
  elseif draw == "eye" then
    draw = "randn"
  end
  if sizes == "" then sizes = "{}" end
  return ("dt.%s(%s%s%s)"):format(draw, sizes, kind ~= "" and ", " or "", kind)
end

local function words_of(text)
  return (text:gsub("([%a_][%w_]*)(%s*=?)", function (word, equal)
    if equal:find("=", 1, true) then return nil end
    local said = long[word] and "dt." .. long[word] or ({None = "dt.None",
      True = "true", False = "false", inf = "math.huge"})[word]
    return said and said .. equal
  end))
end

-- A sample of inputs ("f32[8, 6], [1], dim=0") as the arguments of a call in
-- Lua; nil when it has something this does not know.
function M.arguments(sample, draw)
  local kept = {}
  local text = sample:gsub("(%l[%w_]*)%[([%d, ]*)%]", function (dtype, sizes)
    if not long[dtype] then return nil end
    kept[#kept + 1] = tensor_text(dtype, sizes, draw or "randn")
    return "\1" .. #kept .. "\1"
  end)
  if text:find("%a[%w_]*%[") then return nil end
  text = words_of(text:gsub("%[", "{"):gsub("%]", "}"))
  local named = text:match("^(.-),?%s*%f[%a_][%a_][%w_]*%s*=")
  if named then
    text = ("%s%s{%s}"):format(named, named ~= "" and ", " or "",
      text:sub(#named + 1):gsub("^,%s*", ""):gsub("=", " = "))
  end
  return (text:gsub("\1(%d+)\1", function (i) return kept[tonumber(i)] end))
end

-- Names that Lua keeps for itself are given in brackets.
local function name_text(full)
  local ns, base, overload = full:match("^([^.]+)%.([^.]+)%.([^.]+)$")
  local fits = load(("return {%s = 1}"):format(base)) ~= nil
  return fits and ("dt.ops." .. full)
    or ('dt.ops.%s["%s"].%s'):format(ns, base, overload)
end

-- The first of an operator's samples, as a call, that runs; nil for none.
-- Without data none is run.
local function example_of(dt, full, samples)
  for _, sample in ipairs(samples) do
    for _, draw in ipairs {"randn", "rand", "eye"} do
      local args = M.arguments(sample, draw)
      local call = args and ("%s(%s)"):format(name_text(full), args)
      local run = call and load("local dt = ... return " .. call)
      if run and (dt.is_fake()
          or dt.debug.quietly(function () return pcall(run, dt) end)) then
        return call
      end
    end
  end
end

-- Placements of the sample's call on one mesh dimension, by the rules.
local function rules_of(dt, op, sample)
  local samples = require "dt.testing.samples"
  return dt.debug.quietly(function ()
    local args, kw = samples.parse(sample)
    return samples.call(function (...)
      return dt.debug.single_dim_rules(op, ...)
    end, args, kw)
  end)
end

local function cells(list, n)
  local out = {}
  for i = 1, math.min(#list, n) do out[i] = list[i] end
  if #list > n then out[#out + 1] = "…" end
  return #out == 0 and "nothing" or table.concat(out, ", ")
end

local function add_rules(out, dt, op, sample)
  local ok, rows = pcall(rules_of, dt, op, sample)
  if not ok or type(rows) ~= "table" or #rows == 0 then return end
  out[#out + 1] = ("Sharding of (%s) on one mesh dimension, inputs -> outputs "
    .. "(all R always):"):format(sample)
  for i, row in ipairs(rows) do
    if i > 12 then
      out[#out + 1] = ("  … %d more (:rules)"):format(#rows - 12)
      break
    end
    out[#out + 1] = ("  %s -> %s"):format(cells(row.inputs, 4),
      cells(row.outputs, 4))
  end
end

local decided = {
  strategy = "Sharding: a strategy over the whole mesh decides (:rules %s "
    .. "X, … with tensors).",
  decomposition = "Sharding: by the operators it is made of.",
  handler = "Sharding: it runs on each rank's part as it is.",
  nothing = "Sharding: no strategy; distributed inputs are refused (DT0201, "
    .. ":doctor %s).",
}

-- operator(full name of an overload, python): its example, in the language asked
-- for, and how it is sharded, as lines of a page; "" when nothing is known.
function M.operator(full, python)
  local ns, base, overload = full:match("^([^.]+)%.([^.]+)%.([^.]+)$")
  local op = ns and dt.ops[ns][base][overload]
  local info = dt.debug.op_info(op)
  local out, sample = {}, info.samples[1]
  local call = example_of(dt, full, info.samples)
  if python and call then call = python_words.translate(call) end
  if call then out[#out + 1] = "Example: " .. call end
  if info.decided_by == "rules" and sample then
    add_rules(out, dt, op, sample)
  elseif decided[info.decided_by] then
    out[#out + 1] = decided[info.decided_by]:format(base)
  end
  return #out > 0 and table.concat(out, "\n") .. "\n" or ""
end

-- python_operator(full): the page on the operator that has this overload, as a
-- Python program calls it; example and sharding are the overload's.
function M.python_operator(full)
  local ns, base = full:match("^([^.]+)%.([^.]+)%.")
  local rest = {}
  for line in M.operator(full):gmatch("[^\n]+") do
    local example = line:match("^Example: (.*)$")
    local said = example and python_words.translate(example)
    rest[#rest + 1] = said and "Example: " .. said or not example and line or nil
  end
  return python_operators.page(ns, base, rest)
end

-- Name spaces of functions whose operators have it in their names.
local joined = {linalg = "linalg_", fft = "fft_", special = "special_"}

-- packet(what): the operator ("aten.sum") that a name with its place
-- ("x:sum", "torch.linalg.inv") means; nil for none.
function M.packet(what)
  local word = last(what)
  if not word or word == what then return nil end
  local place = what:match("([%w_]+)[.:][%w_]+$")
  local known = {}
  for _, name in ipairs(dt._op_names()) do known[name] = true end
  for _, name in ipairs {"aten." .. (joined[place] or "") .. word,
    "aten." .. word} do
    if known[name] then return name end
  end
end

-- hover(what, python): what an editor shows over a name: its page, or of an
-- operator how it is called and what it does; nil for an unknown name.
function M.hover(what, python)
  local text = M.page(what, python)
  local packet = not text and M.packet(what)
  local ns, base = (packet or ""):match("^([^.]+)%.(.*)$")
  if not ns then return text end
  if python then return python_operators.page(ns, base, {}) end
  local out = {}
  for _, name in ipairs(python_operators.overloads(dt.ops[ns][base])) do
    local info = dt.debug.op_info(dt.ops[ns][base][name])
    out[#out + 1] = info.schema .. "\n" .. info.brief
  end
  return table.concat(out, "\n") .. "\n"
end

return M
