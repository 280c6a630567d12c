-- SPDX-License-Identifier: MIT
-- parity/styles.lua: the table of parallel styles (styles.jsonl): what
-- each is by default, what it does to modules, plans and inputs.  The cases
-- are named by the Python text that made them; that text is run.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local python = require "torch"
local V = require "python.values"
local meshes = require "torch.mesh"
local style_class = require "torch.style_class"
local facts = require "parity.facts"
local compare = require "parity.compare"
local session = require "parity.session"
local parallel = require "dt.parallel"
local nn = require "dt.nn"

local M = {}

local net = [[
class Blk(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Linear(8, 8)
        self.w2 = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 8)
        self.layers = nn.ModuleList([Blk() for _ in range(3)])
        self.layer_x = nn.Linear(8, 8)
        self.head = nn.Linear(8, 10)
]]

local long = {Colwise = "ColwiseParallel", Rowwise = "RowwiseParallel",
  Sequence = "SequenceParallel"}

local function mesh_of() return dt.init_device_mesh("cpu", {4},
  {mesh_dim_names = {"tp"}}) end

local function new_env()
  local env = python.environment()
  local outer = getmetatable(env.vars).__index
  getmetatable(env.vars).__index = function (vars, name)
    local v = outer(vars, name)
    if v == nil then v = nn[name] end
    return v
  end
  for name in pairs(long) do env.vars[name] = parallel[long[name]]() end
  return env
end

local function value(text)
  local v = python.value(text, new_env())
  return style_class.of(v) or v
end

-- "Colwise(...)" as the style it names.
local function style_of(text)
  text = text:gsub(" %(normalized dim%)$", "")
  local name, args = text:match("^(%a+)(.*)$")
  if args == "" then args = "()" end
  return value((long[name] or name) .. args)
end

-- ---- facts ----

local function spec(t, names)
  return facts.spec(t, names)
end

local function outputs(...)
  local out = {}
  for i = 1, select("#", ...) do out[i] = spec((select(i, ...)), {"tp"}) end
  return out
end

local function plain(v)
  if util.is_placement(v) then return tostring(v) end
  if util.is_none(v) then return dt.None end
  if type(v) ~= "table" then return v end
  if util.is_kwargs(v) then
    local out = {}
    for k, x in pairs(v) do out[k] = plain(x) end
    return out
  end
  local out = {}
  for i = 1, v.n or #v do out[i] = plain(v[i]) end
  return out
end

-- ---- kinds of lines ----

local kinds = {}

function kinds.new(line)
  local s = value(line.call)
  local attrs = {}
  for key in pairs(line.attrs or {}) do
    if key == "input" or key == "output" then
      attrs[key] = {}
      for field in pairs(line.attrs[key]) do
        attrs[key][field] = plain(s[key][field])
      end
    else
      attrs[key] = plain(s[key])
    end
  end
  return {attrs = attrs, repr = tostring(s)}
end

function kinds.exports(line)
  local names = {}
  for _, name in ipairs(line.names) do
    if parallel[name] ~= nil or dt[name] ~= nil then
      names[#names + 1] = name
    end
  end
  return {names = names}
end

local function placed(list, pick)
  local out = {}
  for name, t in list do
    out[name] = pick(t)
  end
  return out
end

function kinds.apply(line)
  local m = value(line.module)
  value(line.style .. "()"):apply(m, mesh_of())
  local function fact(t)
    return {spec = spec(t, {"tp"}), ["local"] = facts.local_shape(t)}
  end
  return {params = placed(m:named_parameters(), fact),
    buffers = placed(m:named_buffers(), function (t)
      return spec(t, {"tp"})
    end),
    param_class = placed(m:named_parameters(), function (t)
      return t.is_dtensor and "DTensor" or "Parameter"
    end),
    requires_grad = placed(m:named_parameters(), function (t)
      return t.requires_grad
    end),
    pre_hooks = #m._pre_hooks, hooks = #m._hooks}
end

local function two_dims() return dt.init_device_mesh("cpu", {2, 2},
  {mesh_dim_names = {"dp", "tp"}}) end

local function frozen(m)
  m.weight.requires_grad = false
  return m
end

local function module_case(case)
  local nn, P = nn, parallel
  local function linear() return nn.Linear(8, 8) end
  local mesh, m = mesh_of(), nil
  local style = P[(case:match("(%u%l+)Parallel") or case:match("(Colwise)")
    or case:match("(Rowwise)") or "Colwise") .. "Parallel"]
  if case:find("^2%-D mesh") then
    m = style == P.SequenceParallel and nn.LayerNorm(8) or linear()
    style():apply(m, two_dims())
  elseif case == "mesh2['tp']" then
    m = linear()
    style():apply(m, two_dims()["tp"])
  elseif case:find("requires_grad") then
    m = frozen(style == P.SequenceParallel and nn.LayerNorm(8) or linear())
    style():apply(m, mesh)
  elseif case:find("^applied twice") then
    m = style == P.SequenceParallel and nn.LayerNorm(8) or linear()
    local second = case:find("then Rowwise") and P.RowwiseParallel or style
    P.parallelize_module(m, mesh, P.SequenceParallel == style and style()
      or P.ColwiseParallel())
    P.parallelize_module(m, mesh, second())
  elseif case:find("no mesh context") then
    P.parallelize_module(linear(), nil, style())
  elseif case:find("inside 'with mesh:'") then
    m = linear()
    meshes.enter(mesh)
    local scope <close> = setmetatable({},      -- luacheck: ignore scope
      {__close = meshes.leave})
    P.parallelize_module(m, nil, style())
  else
    m = linear()
    P.parallelize_module(m, mesh, style(), {src_data_rank = dt.None})
  end
  return m
end

function kinds.module(line)
  local m = module_case(line.case)
  return {result = placed(m:named_parameters(), function (t)
    local s = spec(t, {"tp"})
    if line.case:find("mesh2") then s.mesh = {"tp"} end
    s.requires_grad = t.requires_grad
    return s
  end)}
end

function kinds.plan(line)
  local env = new_env()
  python.run(net, env)
  local m = python.value("Net()", env)
  local text = line.case:gsub(" %(the class%)", ""):gsub(" %(a %a+%)$", "")
  local plan = python.value(text, env)
  python.call(python.names.parallelize_module, V.list {m, mesh_of(), plan})
  return {result = placed(m:named_parameters(), function (t)
    return t.is_dtensor and facts.placement_texts(t) or "plain"
  end)}
end

local function input_of(text, module)
  if text == "a list" then return {1.0} end
  local mesh = mesh_of()
  local where, sizes = text:match("^(%a+)(.*)$")
  local shape = {}
  for n in (sizes:match("%[(.-)%]") or "4,8"):gmatch("%d+") do
    shape[#shape + 1] = math.tointeger(tonumber(n))
  end
  if where == "ids" or module:find("Embedding") then
    return dt.arange(shape[1] or 4)
  end
  local t = dt.ones(shape)
  if where == "plain" then return t end
  return dt.distribute_tensor(t, mesh, sizes:match("(%u%(?%d?%)?)$"))
end

function kinds.run(line)
  local style, module, input = line.case:match("^(.-) on (.-), (.*)$")
  input = input:gsub("^input ", "")
  local m = value((module:gsub(",", ", ")))
  local s = style_of(style)
  if module:find("^Embedding") then s.use_local_output = false end
  s:apply(m, mesh_of())
  local x = input_of(input, module)
  if input:find("^ids plain") then x = dt.arange(4) end
  return {result = outputs(m(x))}
end

-- ---- prepare: what is in a case's name, in Python ----

local Echo = nnm.Module:extend("Echo")

-- Gives back what it got: a, b by position or by name.
function Echo:forward(...)                      -- luacheck: ignore self
  local pos, kw = util.split(...)
  if kw.b ~= nil then return pos[1], kw.b end
  return table.unpack(pos, 1, pos.n)
end

-- "S(0)->R" and "(S(0), None)->(R, None)" as two Python texts.
local function sides(text)
  local function python_of(side)
    return (side:gsub("S%((%d)%)", "Shard(%1)"):gsub("%f[%w]R%f[%W]",
      "Replicate()"))
  end
  local a, b = text:match("^(.-)%->(.+)$")
  return python_of(a), python_of(b)
end

local function balanced_end(text)               -- of the bracket at its start
  local depth = 0
  for i = 1, #text do
    local c = text:sub(i, i)
    if c == "(" then depth = depth + 1 elseif c == ")" then
      depth = depth - 1
      if depth == 0 then return i end
    end
  end
  return #text
end

local function prepare_text(kind, inner)
  local args = {}
  local function add(name, text)
    args[#args + 1] = name .. "=" .. text
  end
  local flag = inner:match(", (use_local_output=?%a*)")
  if flag then
    args[1] = flag:find("=") and flag or flag .. "=True"
    inner = inner:gsub(", use_local_output=?%a*", "")
  end
  if kind == "InputOutput" then
    local first, second = inner:match("^(.-%->.-), (.*)$")
    local a, b = sides(first)
    add("input_layouts", a)
    add("desired_input_layouts", b)
    a, b = sides(second)
    add("output_layouts", a)
    add("desired_output_layouts", b)
  elseif kind == "Output" then
    local a, b = sides(inner)
    add("output_layouts", a)
    add("desired_output_layouts", b)
  else
    local named = inner:match("kwargs b (.*)$")
    inner = inner:gsub("%s?a?n?d?%s?kwargs b .*$", "")
    if named then
      local a, b = sides(named)
      add("input_kwarg_layouts", "{'b': " .. a .. "}")
      add("desired_input_kwarg_layouts", "{'b': " .. b .. "}")
    end
    if inner ~= "" then
      local a, b = sides(inner)
      add("input_layouts", a)
      add("desired_input_layouts", b)
    end
  end
  return "PrepareModule" .. kind .. "(" .. table.concat(args, ", ") .. ")"
end

-- Cases whose names do not tell that use_local_output was False: with its
-- default PyTorch gives plain tensors here.
local untold = {
  ["Output((R, None)->(S(0), None)) two"] = true,
  ["InputOutput(S(0)->R, S(0)->R) (output layout not checked)"] = true,
}

function kinds.prepare(line)
  local case, mesh = line.case, mesh_of()
  local kind, rest = case:match("^(%a+)(.*)$")
  local close = balanced_end(rest)
  local inner, tail = rest:sub(2, close - 1), rest:sub(close + 1)
  if untold[case] then inner = inner .. ", use_local_output=False" end
  local m = Echo()
  value(prepare_text(kind, inner)):apply(m, mesh)
  local x, y = dt.ones({4, 8}), dt.ones({4, 8})
  local where = tail:match("DTensor (S%(%d%))")
  if where then x = dt.distribute_tensor(x, mesh, where) end
  if tail:find("number") then return {result = outputs(m(3))} end
  if inner:find("kwargs") or tail:find("kwarg") then
    return {result = outputs(m(x, {b = y}))}
  elseif tail:find("two") or inner:find("^%(") then
    return {result = outputs(m(x, y))}
  end
  return {result = outputs(m(x))}
end

-- ---- the check ----

local function run(line)
  local kind = line.id:match("styles%.(%a+)")
  local warned, was = {}, dt._warn
  dt._warn = function (text)
    warned[#warned + 1] = {class = "UserWarning", text = text}
  end
  local ok, got = pcall(kinds[kind], line)
  dt._warn = was
  if not ok then return {error = session.failure(got)} end
  if #warned > 0 then got.warnings = warned end
  return got
end

local function wanted(line)
  local want = {}
  for key, v in pairs(line) do
    if key ~= "id" and key ~= "case" and key ~= "call" and key ~= "style"
       and key ~= "module" then
      want[key] = v
    end
  end
  return want
end

-- Check all lines; returns a list of {what, why}.
function M.check(path)
  local out = {}
  for text in io.lines(path) do
    local line = dt._json_decode(text)
    local got = facts.plain(run(line))
    local why = compare.tree(wanted(line), got, "f32", "")
    if got.error and not line.error then
      why = "raised " .. facts.encode(got.error)
    end
    out[#out + 1] = {what = line.id, why = why}
  end
  return out
end

return M
