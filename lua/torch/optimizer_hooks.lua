-- SPDX-License-Identifier: MIT
-- torch/optimizer_hooks.lua: the hooks of optimizers, of the program's
-- classes and of those here: before and after step(), state_dict() and
-- load_state_dict().

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"

local M = {}
local None = dt.None

-- The hooks of each optimizer by their kind.
local hooks = setmetatable({}, {__mode = "k"})

local function list_of(opt, kind)
  local own = hooks[opt] or {}
  hooks[opt], own[kind] = own, own[kind] or {}
  return own[kind]
end

-- A hook and what takes it away again: its handle.
local function add(opt, kind, hook, first)
  local list, entry = list_of(opt, kind), {hook}
  table.insert(list, first and 1 or #list + 1, entry)
  return function ()
    for i, e in ipairs(list) do
      if e == entry then return table.remove(list, i) and nil end
    end
  end
end

-- f(what each hook gives) for the hooks there are when it begins.
local function each(opt, kind, given, f)
  local own = hooks[opt]
  if not own or not own[kind] then return end
  for _, e in ipairs {table.unpack(own[kind])} do
    local out = V.call(e[1], V.list(given()))
    if out ~= None and f then f(out) end
  end
end

--- registers: by name, methods of optimizers (self, hook, prepend).
M.registers = {}
for kind, name in pairs {step_pre = "register_step_pre_hook",
    step_post = "register_step_post_hook",
    state_pre = "register_state_dict_pre_hook",
    state_post = "register_state_dict_post_hook",
    load_pre = "register_load_state_dict_pre_hook",
    load_post = "register_load_state_dict_post_hook"} do
  local step = kind:match("^step")
  M.registers[name] = args.def(name, step and {"self", "hook"}
    or {"self", "hook", "prepend?"}, function (a)
      return add(a.self, kind, a.hook, not step and a.prepend == true)
    end)
end

--- step(opt, args, kw, f): f(args, kw) between the hooks; args has the
--- optimizer itself in front.  A hook before it may give other arguments.
function M.step(opt, given, kw, f)
  kw = kw or V.dict()
  local function shown()
    return {opt, V.tuple({table.unpack(given, 1, given.n)}, given.n), kw}
  end
  each(opt, "step_pre", shown, function (out)
    if not V.is_tuple(out) or out.n ~= 2 then
      util.raise("RuntimeError", "%s must return None or a tuple of "
        .. "(new_args, new_kwargs), but got %s.", "step", V.str(out))
    end
    given, kw = out[1], out[2]
  end)
  local result = f(given, kw)
  each(opt, "step_post", shown)
  return result
end

--- state(opt, f): the state that f() gives, after its hooks.
function M.state(opt, f)
  each(opt, "state_pre", function () return {opt} end)
  local d = f()
  each(opt, "state_post", function () return {opt, d} end,
    function (out) d = out end)
  return d
end

--- load(opt, d, f): f(the state to load) between the hooks.
function M.load(opt, d, f)
  each(opt, "load_pre", function () return {opt, d} end,
    function (out) d = out end)
  f(d)
  each(opt, "load_post", function () return {opt} end)
end

return M
