-- SPDX-License-Identifier: MIT
-- dt/fsdp/init.lua: fully_shard (FSDP2): parameters cut over a mesh, gathered
-- before a module's forward, freed after it, gathered again for backward, and
-- gradients reduced when the module's backward is over.
--
-- When: a forward pre-hook gathers and puts an identity node on the inputs,
-- whose backward is the moment to reduce; a hook on the outputs' gradients
-- gathers for backward and starts the gather of the module that ran before
-- (that is the prefetch which fixes the order of collectives); what has no
-- such moment is reduced when the whole backward pass is over.

local dt = require "dt"
local util = require "dt.util"
local ties = require "dt.nn.ties"
local autograd = require "dt.autograd"
local nnm = require "dt.nn.module"
local Param = require "dt.fsdp.param"
local Group = require "dt.fsdp.group"
local checks = require "dt.fsdp.checks"
local dims = require "dt.fsdp.dims"
local policy = require "dt.fsdp.policy"
local finalize = require "dt.fsdp.finalize"

local M = {}

-- MixedPrecisionPolicy{param_dtype=, reduce_dtype=, output_dtype=,
-- cast_forward_inputs=true, param_dtype_override_fn=}
M.MixedPrecisionPolicy = policy.new
-- The default group begins where no mesh is given (torch.mesh).
function M._begin_group() end

-- ---- what a call manages ----

-- Modules in post-order; those with a state of their own are passed over.
local function managed(m, seen, out)
  if seen[m] then return out end
  seen[m] = true
  for child in m:children() do
    if not child._attrs._fsdp_state then managed(child, seen, out) end
  end
  out[#out + 1] = m
  return out
end

-- Lists of module, name, parameter, and where else it is: {module, name}.
local function parameters_of(modules, ignored)
  local list, seen = {}, {}
  for _, m in ipairs(modules) do
    for name, p in m._parameters:each() do
      if p and seen[p] then
        table.insert(seen[p], {m, name})
      elseif p and not ignored[p] then
        seen[p] = {}
        if p.ndim == 0 then
          util.say("FSDP_SCALAR", name)
        end
        list[#list + 1] = {m, name, p, seen[p]}
      end
    end
  end
  return list
end

local function mesh_info(mesh)
  if mesh.ndim == 1 then return {mesh = mesh, shard_mdim = 0} end
  return {mesh = mesh, replicate_mdim = 0, shard_mdim = 1}
end

-- Groups of k neighbours for reshard_after_forward = k.
local function small_mesh(info, k)
  local ranks = info.mesh:get_group(info.shard_mdim)
  local nested = {}
  for i = 1, #ranks, k do
    nested[#nested + 1] = table.move(ranks, i, i + k - 1, 1, {})
  end
  return dt.DeviceMesh(info.mesh.device_type, nested)
end

-- ---- states ----

local State = {}
State.__index = State

-- What the parameters hold at first use is what counts.
local function ready(group)
  if not group or group.ready then return end
  group.ready = true
  for _, p in ipairs(group.params) do p:reset() end
end

-- The tree's shared bookkeeping: order of forwards, all states.
local function lazy_init(self)
  if self.comm then return end
  finalize.check_tree(self)
  self.is_root = true
  local guard <close> = util.guard(function ()  -- luacheck: ignore guard
    if self.ready then return end               -- refused: begin anew
    for _, s in ipairs(self.comm.states) do s.comm = nil end
  end)
  self.comm = {order = {}, states = {self}, manual = self.manual,
    last_backward = self.last_backward}
  for _, m in ipairs(self.modules) do
    for name, sub in m:named_modules() do
      local s = sub._attrs._fsdp_state
      if s and s ~= self and s.comm and s.comm ~= self.comm then
        checks.initialized(name)
      elseif s and s ~= self and not s.comm then
        s.comm = self.comm
        table.insert(self.comm.states, s)
      end
    end
  end
  checks.first_forward(self.modules[1], self.comm.states)
  if self.group and self.auto_reshard then self.group.reshard = false end
  for _, s in ipairs(self.comm.states) do ready(s.group) end
  self.ready = true
end

local function map_tensors(v, f)
  if util.is_tensor(v) then return f(v) end
  if type(v) == "table" and getmetatable(v) == nil then
    local out, changed = {}, false
    for key, item in pairs(v) do
      out[key] = map_tensors(item, f)
      changed = changed or not rawequal(out[key], item)
    end
    if not changed then return v end  -- what holds no tensor stays itself
    return util.as_value(out, v)
  end
  return v
end

local function cast_inputs(self, args)
  local dtype = self.mp.param_dtype
  if not (dtype and self.mp.cast_forward_inputs) then return args end
  return map_tensors(args, function (t)
    return t:is_floating_point() and t:to(dtype) or t
  end)
end

-- The identity node on the inputs whose backward is the post-backward.
local function watch_inputs(self, args)
  if not dt.is_grad_enabled() then return args end
  local ins = {}
  map_tensors(args, function (t)
    if t.requires_grad then ins[#ins + 1] = t end
    return t
  end)
  if #ins == 0 then return args end
  local outs, of = {}, {}
  dt.no_grad(function ()
    for i, t in ipairs(ins) do
      outs[i] = dt._alias_of(t):view(t.shape)
      of[t] = outs[i]
    end
  end)
  dt._custom_node("RegisterPostBackwardFunctionBackward", ins, outs,
    function (grads)
      self:post_backward()
      return grads
    end)
  return map_tensors(args, function (t) return of[t] or t end)
end

function State:pre_forward(args)
  finalize.check_forward(self)
  local gathers = dt._switch("FSDP_RECOMPUTE_GATHERS") ~= 0
  if self.training == "pre_backward"          -- recomputation
    or not gathers and self.training == "post_backward" then
    if self.group and gathers then
      self.group:unshard()
      self.group:wait()
    end
    return cast_inputs(self, args)
  end
  local first = self.training ~= "forward"    -- of a group of modules
  if first then lazy_init(self) end
  self.training = "forward"
  args = cast_inputs(self, args)
  if self.group then
    self.group:unshard()
    self.group:wait()
    self.group.done = false
    if first then args = watch_inputs(self, args) end
  end
  if not first then return args end
  for _, s in ipairs(self.forward_prefetch or {}) do
    if s.group then s.group:unshard() end
  end
  return args
end

local function cast_outputs(self, outs)
  local dtype = self.mp.output_dtype
  if not dtype then return outs end
  return map_tensors(outs, function (t)
    return t:is_floating_point() and t:to(dtype) or t
  end)
end

-- An in-place operator on a view that a module returns loses the hook.
local function warn_view(self)
  local names = {}
  for i, m in ipairs(self.modules) do
    names[i] = m._class.__name
  end
  dt._warn(("FSDP2-wrapped module (%s) returned a view tensor. An in-place op "
    .. "on this view (e.g., `x += y`) will silently drop the pre-backward hook "
    .. "and skip the all-gather, which can cause backward to fail or produce "
    .. "wrong gradients. Use out-of-place ops (`out = out + y`, not `out += "
    .. "y`) or `.clone()` the output before any in-place op."):format(
    table.concat(names, ", ")))
end

function State:post_forward(outs)
  if self.training:find "_backward$" then     -- recomputation
    return cast_outputs(self, outs)
  end
  local group, order = self.group, self.comm.order
  if group then
    if group.reshard ~= false then group:reshard_now(true) end
    order[#order + 1] = group
    table.insert(group.indices, #order)
  end
  if dt.is_grad_enabled() then
    map_tensors(outs, function (t)
      if t.requires_grad then
        if dt._view_base(t) then warn_view(self) end
        t:register_hook(function () self:pre_backward() end)
      end
      return t
    end)
  end
  self.training = "idle"
  return cast_outputs(self, outs)
end

-- The module that ran before this one in forward is needed next.
local function prefetch(group, order)
  local at = table.remove(group.indices)
  local before = at and order[at - 1]
  if before then before:unshard(true) end
end

function State:pre_backward()
  if dt._creates_graph() then         -- what it reads is freed after it
    util.raise("NotImplementedError", "create_graph=True (gradients of "
      .. "gradients) through %s is not supported by dtrepl", self.api)
  end
  local comm, again = self.comm, self.training == "pre_backward"
  self.training = "pre_backward"
  if not comm.queued then
    finalize.begin_backward(comm)
    autograd._queue_callback(function () self:finish_backward() end)
  end
  if self.group and not again then
    self.group.done = false             -- run before: its gradients come later
    self.group:unshard(true)
    self.group:wait()
    self.group:defer_casts(true)
    if #self.backward_prefetch == 0 then prefetch(self.group, comm.order) end
  end
  for _, s in ipairs(self.backward_prefetch) do
    if s.group then s.group:unshard(true) end
  end
end

function State:post_backward()
  self.training = "post_backward"
  if self.group then self.group:post_backward() end
end

-- The backward pass is over: reduce what is left, in the modules' order.
-- Unless more passes belong to this step, what was gathered for nothing is
-- dropped and the order of forwards begins anew.
function State:finish_backward()
  local comm = self.comm
  local manual = comm.manual_active
  for _, s in ipairs(comm.states) do
    local group = s.group
    if group then
      if not group.done then
        if manual and group.sync then group.owed = true
        else s:post_backward() end
      end
      group.done = false
    end
    s.training = "idle"
  end
  if comm.last_backward ~= false and not manual then
    finalize.end_iteration(comm)
  end
  comm.queued = false
end

-- ---- methods of a sharded module ----

local methods = {}

local function each_state(m, recurse, f)
  for sub in m:modules() do
    local s = sub._attrs._fsdp_state
    if s then f(s) end
    if recurse == false then break end
  end
end

-- m:unshard{async_op = false}: gather the parameters now; asynchronously they
-- are there after wait() of what is returned.
function methods.unshard(m, async)
  if type(async) == "table" then async = async.async_op end
  local s = m._attrs._fsdp_state
  ready(s.group)
  if s.group then s.group:unshard() end
  local function wait()
    if not s.group then return end
    s.group:wait()
    for _, p in ipairs(s.group.params) do p:show_by_hand() end
  end
  if not async then return wait() end
  return setmetatable({}, {__index = {wait = wait}, __name =
    "UnshardHandle"})
end

-- m:reshard(): free the gathered parameters.
function methods.reshard(m)
  local s = m._attrs._fsdp_state
  if s.group then s.group:reshard_now(false) end
end

local function each_group(m, recurse, f)
  if type(recurse) == "table" then recurse = recurse.recurse end
  each_state(m, recurse, function (s)
    if s.group then f(s.group) end
  end)
end

-- m:set_requires_gradient_sync(on): reduce gradients in backward or keep
-- accumulating them unsharded.
function methods.set_requires_gradient_sync(m, on, recurse)
  each_group(m, recurse, function (group)
    group.sync, group.all_reduce = on, on
  end)
end

-- m:set_requires_all_reduce(on): the all-reduce of HSDP.
function methods.set_requires_all_reduce(m, on, recurse)
  each_group(m, recurse, function (group) group.all_reduce = on end)
end

-- m:set_reduce_scatter_unused_params(on): zeros for parameters that got no
-- gradient, so that all ranks reduce the same.
function methods.set_reduce_scatter_unused_params(m, on, recurse)
  each_group(m, recurse, function (group) group.reduces_unused = on end)
end

-- m:set_reduce_scatter_max_input_buffers(n): how many inputs of reductions are
-- kept for streams to overlap.  Here nothing overlaps: the number is checked.
function methods.set_reduce_scatter_max_input_buffers(_, n)
  if math.type(n) ~= "integer" then
    util.raise("TypeError", "max_input_buffers must be an int, got %s",
      util.type_text(n))
  elseif n < 1 then
    util.raise("ValueError", "max_input_buffers must be a positive int, got %d",
      n)
  end
end

-- m:set_separate_reduce_scatter_group(on): another communicator over the same
-- ranks; here collectives of one mesh never wait for each other.
function methods.set_separate_reduce_scatter_group() end

-- m:set_keep_unsharded_storage(on): whole parameters keep their memory.
function methods.set_keep_unsharded_storage(m, on, recurse)
  each_group(m, recurse, function (group)
    for _, p in ipairs(group.params) do p.keep_storage = on end
  end)
end

-- m:set_all_reduce_hook(f): f gets every reduced flat gradient.
function methods.set_all_reduce_hook(m, f, stream)
  local group = m._attrs._fsdp_state.group
  if type(stream) == "table" then stream = stream.stream end
  if not group then return end
  group.all_reduce_hook = f
  if not util.is_none(stream) and group.info.replicate_mdim then
    util.raise("ValueError", "stream cannot be set when using native HSDP")
  end
end

-- m:reset_iter_state(): after an exception in a forward or backward.
function methods.reset_iter_state(m)
  finalize.reset(m._attrs._fsdp_state)
end

-- m:set_manual_backward_finalization(on): finalize_backward ends a backward.
function methods.set_manual_backward_finalization(m, on)
  finalize.set_mode(m._attrs._fsdp_state, on)
end

-- m:finalize_backward{async_op = false}: reduce what is left, free what is
-- whole; asynchronously, the handle's wait() ends it.
function methods.finalize_backward(m, kw)
  return finalize.finalize(m._attrs._fsdp_state, kw and kw.async_op)
end

-- m:set_reshard_after_forward(on)
function methods.set_reshard_after_forward(m, on, recurse)
  if type(on) ~= "boolean" then
    util.raise("ValueError", "reshard_after_forward should be a bool, got %s",
      checks.type_text(on))
  end
  each_state(m, recurse, function (s)
    s.auto_reshard = false
    if s.group then s.group.reshard = on end
  end)
end

-- m:set_reshard_after_backward(on)
function methods.set_reshard_after_backward(m, on)
  each_state(m, true, function (s)
    if s.group then s.group.reshard_after_backward = on end
  end)
end

-- m:set_force_sum_reduction_for_comms(on): sum, then divide by hand.
function methods.set_force_sum_reduction_for_comms(m, on)
  local s = m._attrs._fsdp_state
  if s.group then s.group.force_sum = on end
end

-- m:set_unshard_in_backward(on)
function methods.set_unshard_in_backward(m, on)
  local group = m._attrs._fsdp_state.group
  if group then group.unshard_in_backward = on end
end

-- m:set_is_last_backward(on): keeps the order of gathers for later passes.
function methods.set_is_last_backward(m, on)
  local s = m._attrs._fsdp_state
  s.last_backward = on
  if s.comm then s.comm.last_backward = on end
end

local states_of = checks.states_of

-- m:set_modules_to_forward_prefetch{modules}, gathered before m's compute.
function methods.set_modules_to_forward_prefetch(m, list)
  m._attrs._fsdp_state.forward_prefetch = states_of(list)
end

-- m:set_modules_to_backward_prefetch{modules}
function methods.set_modules_to_backward_prefetch(m, list)
  m._attrs._fsdp_state.backward_prefetch = states_of(list)
end

-- m:set_gradient_divide_factor(f)
function methods.set_gradient_divide_factor(m, f)
  local s = m._attrs._fsdp_state
  if s.group then
    s.group.divide_factor = f
    dt._factor_given()
  end
end

-- Methods that came with FSDP_FINALIZES.
local later = {set_keep_unsharded_storage = true, finalize_backward = true,
  set_manual_backward_finalization = true}

-- The method of a sharded module that has this name in the session's release.
local function find_method(name)
  if later[name] and dt._switch("FSDP_FINALIZES") == 0 then return nil end
  return methods[name]
end

M.FSDPModule = methods
M.DataParallelMeshDims = checks.DataParallelMeshDims

-- register_fsdp_forward_method(module, name): that method gathers, too.
function M.register_fsdp_forward_method(m, name)
  local s = m._attrs._fsdp_state
  if not s then return end
  local method = m[name]
  if method == nil then
    util.raise("ValueError", "%s does not have a method %s",
      checks.type_text(m), name)
  end
  m[name] = function (self, ...)
    local args = s:pre_forward(table.pack(...))
    local outs = s:post_forward(table.pack(method(self,
      table.unpack(args, 1, args.n))))
    return table.unpack(outs, 1, outs.n)
  end
end

-- share_comm_ctx{modules}: one order of collectives for several roots; here
-- all roots have one.
function M.share_comm_ctx(list)
  for _, m in ipairs(list) do
    if not (nnm.is_module(m) and m._attrs._fsdp_state) then
      util.raise("ValueError", "Expects list of FSDPModules but got %s",
        tostring(m))
    end
  end
end

local function dress(m, prefix)
  local class = setmetatable({__name = prefix .. m._class.__name,
    __module__ = checks.CLASS_MODULE, __base = m._class}, {__index = function (_, key)
      return find_method(key) or m._class_plain[key]
    end})
  rawset(m, "_class_plain", m._class)
  rawset(m, "_class", class)
end

-- Modules of one call are one unit: it is gathered before the first of them
-- and freed after the last.
local function before(self, args)
  if not next(self.to_run) then
    for _, m in ipairs(self.modules) do self.to_run[m] = true end
  end
  return self:pre_forward(args)
end

local function after(self, m, outs)
  if not self.to_run[m] then return cast_outputs(self, outs) end
  self.to_run[m] = nil
  if next(self.to_run) then return cast_outputs(self, outs) end
  return self:post_forward(outs)
end

local function install(self, m, prefix)
  m._attrs._fsdp_state = self
  m:register_forward_pre_hook(function (_, args)
    return before(self, args)
  end, {prepend = true})
  m:register_forward_hook(function (_, _, ...)
    local outs = after(self, m, table.pack(...))
    return table.unpack(outs, 1, outs.n)
  end)
  m._attrs._state_dict_pre_hooks = {function ()
    if self.group then self.group:reshard_now(false) end
  end}
  dress(m, prefix)
end

-- A list, or a set whose keys are meant, as a set.
local function keyed(list)
  local set = {}
  for key, v in pairs(list or {}) do
    set[v == true and key or v] = true
  end
  return set
end

-- The parameter's name, and the dims that can be cut.
local function advice(roots, p, info)
  local name, legal = "?", {"0"}
  for _, m in ipairs(roots) do
    for full, q in m:named_parameters() do
      if q == p then name = full end
    end
  end
  local n = info.mesh:size(info.shard_mdim or 0)
  if p.is_dtensor then
    return ("the parameter is %s, distributed over %s already; wrap a module "
      .. "once, and keep a mesh dimension for data parallelism: "
      .. "init_device_mesh(\"cpu\", {dp, tp}, {mesh_dim_names = {\"dp\", "
      .. "\"tp\"}}) with dp * tp = %d, plans on mesh[\"tp\"], fully_shard on "
      .. "mesh[\"dp\"]"):format(name, tostring(p.device_mesh), dt.world_size())
  end
  for d = 2, p.ndim do
    if p.shape[d] % n == 0 then legal[#legal + 1] = tostring(d - 1) end
  end
  return ("the parameter is %s of shape %s; over %d ranks it can be cut along "
    .. "dim %s"):format(name, tostring(p.shape), n,
    table.concat(legal, " or "))
end

-- A number that stands for a parameter, also when it is gone: it shall go when
-- its shard has taken its place.
local number_of, numbers = setmetatable({}, {__mode = "k"}), 0
local function identity(p)
  if not number_of[p] then
    numbers = numbers + 1
    number_of[p] = numbers
  end
  return number_of[p]
end

-- Take the parameters of a module over.
local function wrap(module, kw, info, reshard, prefix)
  autograd._watch_backward()
  local roots = nnm.is_module(module) and {module} or module
  local self = setmetatable({modules = roots, training = "idle", to_run = {},
    mp = kw.mp_policy or M.MixedPrecisionPolicy(), backward_prefetch = {},
    api = prefix == "FSDP" and "fully_shard" or "replicate",
    auto_reshard = kw.reshard_after_forward == nil}, State)
  local modules, seen = {}, {}
  ties.begin()
  for _, m in ipairs(roots) do managed(m, seen, modules) end
  local params = {}
  for i, item in ipairs(parameters_of(modules, keyed(kw.ignored_params))) do
    dt._source(item[3])
    ties.replace(item[3], item[1], item[2])
    params[i] = util.explained(function ()
      return advice(roots, item[3], info)
    end, Param.new, item[1], item[2], item[3], info, kw.shard_placement_fn,
      policy.resolve(self.mp, item[3]))
    params[i].original = identity(item[3])
    params[i]:tie(item[4])
  end
  if #params > 0 then
    if reshard == nil then reshard = true end
    self.group = Group.new(params, info, self.mp, reshard)
    if info.shard_mdim then dt._cuts(info.mesh, info.shard_mdim) end
    if type(reshard) == "number" then
      self.group.post_mesh = small_mesh(info, reshard)
    end
  end
  for _, m in ipairs(roots) do install(self, m, prefix) end
  return module
end

-- Findings: what is legal and likely not meant.
local function notices(mesh, mp)
  local name = mesh.ndim == 2 and tostring(mesh.mesh_dim_names[1]) or "replica"
  if not (name:find("rep") or name:find("ddp") or name:find("hsdp")
          or name:find("node") or name:find("inter")) then
    dt._finding("HSDP", nil, ("parameters are copied %d times over %s and cut "
      .. "in %d over %s"):format(mesh:size(0), name, mesh:size(1),
      tostring(mesh.mesh_dim_names[2])))
  end
  local low = mp and mp.param_dtype
  if low and (low == dt.bfloat16 or low == dt.float16)
     and not mp.reduce_dtype and dt._switch("FSDP_REDUCES_ORIGINAL") == 0 then
    dt._finding("LOW_REDUCE", nil, "param_dtype is " .. tostring(low)
      .. ", reduce_dtype is not given")
  end
end

-- The keywords of a call; without a mesh all ranks are one, as in PyTorch.
local function with_mesh(kw)
  if util.is_mesh(kw) then return {mesh = kw} end
  local out = {}
  for k, v in pairs(kw or {}) do out[k] = v end
  if out.mesh == nil or out.mesh == dt.None then
    M._begin_group()
    out.mesh = dt.init_device_mesh("cpu", {dt.world_size()})
  end
  return out
end

local keywords = {mesh = true, reshard_after_forward = true,
  shard_placement_fn = true, mp_policy = true, offload_policy = true,
  ignored_params = true, dp_mesh_dims = true}

-- fully_shard(module, {mesh=, reshard_after_forward=, shard_placement_fn=,
-- mp_policy=, ignored_params=, dp_mesh_dims=}): shard in place; a 2-D mesh is
-- (replicate, shard), of any other the dims are named.  A list of modules is
-- one unit.  Children that should gather on
-- their own are wrapped first.
function M.fully_shard(module, kw)
  kw = with_mesh(kw)
  for key in pairs(kw) do
    if type(key) == "string" and not keywords[key] then
      util.raise("TypeError",
        "fully_shard() got an unexpected keyword argument '%s'", key)
    end
  end
  checks.modules(module, "fully_shard")
  policy.check(kw.mp_policy)
  checks.mesh(kw.mesh, kw.dp_mesh_dims)
  local named = not util.is_none(kw.dp_mesh_dims)
  if named then dims.check_reshard(kw.reshard_after_forward) end
  local info = named and dims.mesh_info(kw.mesh, kw.dp_mesh_dims)
    or mesh_info(kw.mesh)
  if not info.shard_mdim then                 -- nothing is cut
    return wrap(module, kw, info, false, "FSDP")
  end
  local n = info.mesh:size(info.shard_mdim)
  local reshard = util.explained(function ()
    return ("%d ranks share the parameters: true, false or one of %s")
      :format(n, util.divisors(n))
  end, checks.reshard, kw.reshard_after_forward, n)
  notices(info.mesh, kw.mp_policy)
  return wrap(module, kw, info, reshard, "FSDP")
end

-- replicate(module, {mesh=, mp_policy=}): the same machinery without cutting:
-- every rank holds the parameters, gradients are averaged.
function M.replicate(module, kw)
  kw = with_mesh(kw)
  checks.modules(module, "replicate")
  checks.mesh(kw.mesh)
  if kw.mesh.ndim ~= 1 then
    util.raise("ValueError", "replicate expects a 1D DeviceMesh but got %s",
      tostring(kw.mesh))
  end
  return wrap(module, kw, {mesh = kw.mesh, replicate_mdim = 0}, false,
    "Replicate")
end

return M
