-- SPDX-License-Identifier: MIT
-- torch/script.lua: `dtrepl program.py`: a PyTorch program as it is,
-- without PyTorch.  Every rank runs all of it, as under torchrun.
--
-- It is read by `python`: the part of the language that reproductions are
-- written in, over this engine.  Nothing real is imported; what is not
-- understood is named with its line.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local names = require "torch.names"
local eval = require "python.eval"
local system = require "python.std.system"
local builtins = require "python.builtins"
local exceptions = require "python.exceptions"
local protect = require "python.protect"
local atexit = require "python.std.atexit"
local streams = require "python.std.streams"
local abandoned = require "python.abandoned"
local absent = require "python.absent"
local sources = require "python.sources"
local testing = require "torch.testing"
local args = require "python.args"
local meshes = require "torch.mesh"
local autopsy = require "dt.spmd.autopsy"
local paste = require "python.paste"
local syntax = require "python.syntax"
local near = require "python.near"
local function_modes = require "torch.function_modes"
local attributes = require "torch.attributes"
local saved_hooks = require "torch.saved_hooks"
local dispatch_modes = require "torch.dispatch_modes"
require "torch.training"
require "torch.paths"

local M = {}
local None, builtin, namespace = dt.None, V.builtin, attrs.namespace

local function nothing() return builtin(function () return None end) end

-- The program says how many ranks it has: they must be there.
local function check_world(n, what, fake)
  if math.type(n) ~= "integer" or n == dt.world_size() or n < 1 then return end
  util.raise("ValueError", "the program wants %d ranks (%s), there are %d: run "
    .. "`dtrepl %s program.py`, or write `# dtrepl: %s=%d` in its head", n,
    what, dt.world_size(), ((fake or n > 64) and "--fake " or "-n ") .. n,
    (fake or n > 64) and "fake" or "ranks", n)
end

local spawned = false               -- inside a process that the program began

-- f() in a process of its own: f's errors are the program's.
local function inside(f)
  local before, group = spawned, meshes.begin_default(false)
  spawned = true
  f()
  spawned = before
  meshes.begin_default(group)
end

-- f() on the first n ranks alone, which are a world; with fewer ranks than n
-- the program begins again with n, where nobody said how many.
local function on_ranks(n, what, f)
  if math.type(n) ~= "integer" or n < 1 then n = dt.world_size() end
  if n > dt.world_size() and dt._wants_ranks(n) then os.exit(0) end
  if n >= dt.world_size() then
    check_world(n, what)
    return inside(f)
  elseif dt.rank() >= n then
    return
  end
  meshes.forget_groups()
  dt._world_part(n)
  inside(f)
  dt._world_home()
  meshes.forget_groups()
end

-- torch.multiprocessing.spawn: the ranks are here already.
local function spawn(args, kw)
  local given = args[2] or kw and V.dict_get(kw, "args")
  local list, n = {dt.rank()}, 0
  if given then
    local items
    items, n = V.items(given)
    for i = 1, n do list[i + 1] = items[i] end
  end
  on_ranks(args[3] or kw and V.dict_get(kw, "nprocs") or 1, "nprocs",
    function () eval.call(args[1], V.list(list, n + 1)) end)
  return None
end

-- multiprocessing.Process: the first one made is rank 0, the next rank 1, …;
-- this rank runs its own where it is started.
local processes = 0
local function process(_, kw)
  local mine = processes == dt.rank()
  processes = processes + 1
  local p = {exitcode = 0, pid = 1000 + processes - 1}
  p.start = builtin(function ()
    if mine and kw and V.dict_get(kw, "target") then
      local items, n = V.items(V.dict_get(kw, "args") or V.tuple {})
      inside(function ()
        eval.call(V.dict_get(kw, "target"), V.list({table.unpack(items, 1, n)},
          n), V.dict_get(kw, "kwargs"))
      end)
    end
    return None
  end, "start")
  for _, name in ipairs {"join", "terminate", "kill", "close"} do
    p[name] = nothing()
  end
  p.is_alive = builtin(function () return false end, "is_alive")
  return namespace(p)
end

-- torch.multiprocessing and multiprocessing.
local function multiprocessing()
  local t = {spawn = builtin(spawn, "spawn"),
    Process = builtin(process, "Process"),
    set_start_method = nothing(), freeze_support = nothing(),
    set_sharing_strategy = nothing(),
    cpu_count = builtin(function () return dt.world_size() end, "cpu_count")}
  for _, name in ipairs {"Queue", "Pool", "Manager", "Pipe"} do
    t[name] = builtin(function ()
      util.refuse("multiprocessing.%s is not part of "
        .. "dtrepl: what ranks tell each other goes through "
        .. "torch.distributed (all_gather_object, broadcast_object_list)", name)
    end, name)
  end
  t.get_context = builtin(function () return namespace(t) end, "get_context")
  return namespace(t)
end

-- torch.cuda without a device: what is asked of one is nothing, or 0.
local function cuda()
  local function event()
    local t = {}
    for _, name in ipairs {"record", "wait", "synchronize", "query",
      "wait_event", "wait_stream", "record_event"} do t[name] = nothing() end
    t.elapsed_time = builtin(function () return 0.0 end, "elapsed_time")
    return namespace(t)
  end
  local t = {is_available = builtin(function () return false end),
    device_count = builtin(function () return dt.world_size() end),
    current_device = builtin(function () return dt.rank() end),
    amp = attrs.module "torch.cuda.amp"}
  for _, name in ipairs {"Stream", "Event", "current_stream",
    "default_stream"} do
    t[name] = builtin(event, name)
  end
  for _, name in ipairs {"stream", "device"} do
    t[name] = builtin(attrs.null_context, name)
  end
  t.get_device_name = builtin(function () return "cpu" end, "get_device_name")
  t.nvtx = namespace {range_push = nothing(), range_pop = nothing()}
  for _, name in ipairs {"set_device", "synchronize", "manual_seed",
    "manual_seed_all", "empty_cache", "reset_peak_memory_stats",
    "_sleep"} do
    t[name] = nothing()
  end
  for _, name in ipairs {"memory_allocated", "max_memory_allocated",
    "memory_reserved", "max_memory_reserved"} do
    t[name] = builtin(function () return 0 end, name)
  end
  return namespace(t)
end

-- ---- the default group ----

local pretended = false             -- by the program: backend "fake"

local function end_group(a)
  if args.given(a.group) and a.group ~= meshes.world_group() then
    return None
  end
  if not meshes.has_default() then
    util.raise("AssertionError", "Process group cannot be None")
  end
  if pretended then
    dt._world_home()
    meshes.forget_groups()
  end
  pretended = false
  meshes.begin_default(false)
  return None
end

-- A pretended world is made when it is not the program's own, real ones are
-- there: all of it, or the part that spawned processes are.
local function begin_group(a)
  local n, fake = a.world_size, a.backend == "fake"
  if meshes.has_default() and not meshes.is_given() then
    util.raise("ValueError", "trying to initialize the default process group "
      .. "twice!")
  end
  meshes.begin_default(true)
  if not args.given(n) or n == -1 then return None end
  if fake and not (dt.world() == "fake" and dt.world_size() == n) then
    dt._world_home()
    meshes.forget_groups()
    dt._world_fake(n, args.given(a.rank) and a.rank or 0)
    pretended = true
  elseif not fake and spawned and math.type(n) == "integer"
     and dt.rank() < n and n < dt.world_size() then
    meshes.forget_groups()
    dt._world_part(n)
  elseif not fake then
    check_world(n, "world_size", fake)
  end
  return None
end

local provided = false

local function provide(argv)
  if provided then return end
  provided = true
  system.provide(argv)
  local mp = multiprocessing()
  attrs.provide("multiprocessing", mp)
  attrs.provide("torch.multiprocessing", mp)
  names.torch.multiprocessing = mp
  names.torch.cuda = cuda()
  attrs.provide("torch.cuda", names.torch.cuda)
  names.dist.init_process_group = args.def("init_process_group", {"backend?",
    "init_method?", "timeout?", "world_size?", "rank?", "store?",
    "group_name?", "pg_options?", "device_id?", "_ranks?"}, begin_group)
  names.dist.destroy_process_group = args.def("destroy_process_group",
    {"group?"}, end_group)
end


-- Snippets of reports leave imports out; PyTorch would have raised.  `looking`:
-- the prompt only looks a name up, for its help or behind Tab.
local looking = false
local function tell_missing_import(name)
  if looking then return false end
  if dt.rank() ~= 0 then return end
  builtins.write_error(("note: '%s' is used without an import; Python raises "
    .. "NameError: name '%s' is not defined\n"):format(name, name))
end

-- looked_up(f, ...) -> f(...), which runs no line of a program.
function M.looked_up(f, ...)
  looking = true
  local ok, v = pcall(f, ...)
  looking = false
  if not ok then error(v, 0) end
  return v
end

sources.set_tools {
  environment = function (file)
    return names.environment(file and tell_missing_import)
  end,
  run = eval.run}

-- A fresh environment of a program in `file`.
function M.environment(file, ...)
  provide(V.list {file, ...})
  processes = 0
  atexit.begin()
  function_modes.reset()
  saved_hooks.reset()
  attributes.reset()
  dispatch_modes.reset()
  abandoned.begin()
  local env = names.environment(tell_missing_import)
  env.vars.__name__ = "__main__"
  env.vars.__file__, env.vars.__doc__ = sources.path(file), None
  sources.begin()
  V.dict_set(attrs.imported, "__main__", sources.of(env.vars))
  testing.begin(env.vars)
  return env
end

-- sys.exit(code): a text is said, and is a failure.  What ended a program so
-- is its error for the reports of the prompt after it (dt.debug.ended).
local function leave(code)
  local said = type(code) ~= "number" and code ~= nil and code ~= None
  local status = said and 1 or type(code) == "number" and code or 0
  if said then builtins.write_error(V.str(code) .. "\n") end
  if status ~= 0 then
    dt.debug.ended = {code = "DT0017", class = "SystemExit",
      message = V.str(code), where = M.running, after = dt._seq()}
  end
  os.exit(status)
end

-- What an error came from is told below it: `raise … from`, or the error that
-- was being handled.
local function tell_chain(e)
  if type(e) ~= "table" or rawget(e, "class") == nil then return end
  local lines, last = {}, e
  for _ = 1, 8 do
    local before, how = exceptions.came_from(last)
    if not before then break end
    lines[#lines + 1] = (how == "cause" and "The direct cause was: "
      or "Raised while this was handled: ") .. exceptions.line(before)
      .. (rawget(before, "where") and " (" .. before.where .. ")" or "")
    last = before
  end
  local notes = rawget(e, "__notes__")
  for i = 1, notes and notes.n or 0 do lines[#lines + 1] = V.str(notes[i]) end
  if #lines > 0 then
    local explain = rawget(e, "explain")
    if explain and explain ~= "" then table.insert(lines, 1, explain) end
    e.explain = table.concat(lines, "\n  ")
  end
end

-- What a class with a __str__ of its own says of its error.
local function tell_in_own_words(e)
  local class = type(e) == "table" and rawget(e, "python")
  if not class or not exceptions.member(class, "__str__") then return end
  local ok, text = pcall(V.str, e)
  e.message = ok and text or "<exception str() failed>"
end

-- A name that is not there, and one like it that is.
local function tell_near(e)
  local hint = near.hint(e)
  if not hint then return end
  local explain = rawget(e, "explain")
  e.explain = (explain and explain ~= "" and explain .. "\n  " or "") .. hint
end

-- A program that needs what dtrepl has not can be recorded where PyTorch is.
local function offer_recorder(e)
  if not M.running or type(e) ~= "table" or rawget(e, "reason") ~= "absent" then
    return
  end
  local explain = rawget(e, "explain")
  e.explain = (explain and explain ~= "" and explain .. "\n  " or "")
    .. ("where PyTorch is, `python scripts/dtrepl_record.py %s` records the "
    .. "calls for dtrepl"):format(M.running)
end

local function flushed(...)
  local out = table.pack(protect.passing(...))
  if not out[1] and atexit.count() > 0 then dt._handled(out[2]) end
  atexit.run()
  abandoned.finish()
  builtins.flush()
  local stored, why = pcall(streams.settle)     -- files that nobody closed
  if out[1] and not stored then out = {false, why} end
  if not out[1] then
    local e = out[2]
    if type(e) == "table" and e.class == "SystemExit" then leave(e.code) end
    if type(e) == "table" and rawget(e, "operands") then
      autopsy.compare(e)
    end
    if type(e) == "string" and (e:find("stack overflow", 1, true)
       or e:find("not enough memory", 1, true)
       or e:find("string too large", 1, true)) then
      e = exceptions.exception(e)
    end
    tell_in_own_words(e)
    tell_near(e)
    tell_chain(e)
    offer_recorder(e)
    error(e, 0)
  end
  return out[2]
end

-- Run a text that was read, with the words for its environment.
local function run_read(text, file, list, whole, ...)
  M.left, M.running = M.environment(file, ...), file
  dt.debug.ended = nil
  flushed(eval.run, text, M.left, file, list, whole)
end

-- run_part(text, file, …): run what a report quotes of a program: the ranks have
-- their group, and a package that is not here may be imported.  M.left is
-- what it left, for a prompt after it.
function M.run_part(text, file, ...)
  local list
  text, list = paste.read(text)
  run_read(text, file, list, false, ...)
end

-- Run the text of a file, which is a whole program.
function M.run(text, file, ...)
  meshes.begin_default(false)
  absent.set_strict(true)
  local now, list = paste.read(text)
  if now == text and not pcall(syntax.check_start, text) then list = nil end
  run_read(now, file, list, true, ...)
end

-- Run a text, or its statements, in an environment; the value of its last
-- expression, or nil.
function M.last(text, env, name, list)
  return flushed(eval.last, text, env, name, list)
end

return M
