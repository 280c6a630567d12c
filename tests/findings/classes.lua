-- TEST: ranks={4} world={threads} needs=data torch=2.13
-- SPDX-License-Identifier: MIT
-- The table of fault classes: for each class that `diagnose` knows and each of
-- the 35 silent traps, a script that runs into it and what must be said of it,
-- or why it cannot happen here.  A class or trap without a row fails.
--
-- rows[class] = {script, raises = words, op =, code =, fix = true, as = class}
--   the error's words, operator and code; `fix`: a repair was tried and equals
--   one device; and its text, given to diagnose, is of the class (or of `as`).
-- rows[class] = {script, finds = code, op = part of the operator's name}
-- rows[class] = {at = test file that runs it}
-- rows[class] = {no = why it cannot happen here}: reports of it are read all
--   the same, which tests/lua/diagnose.lua checks for every class.

local T = require "tests.lua.lib.check"
local run = require "tests.lua.lib.watched"
local made = require "tests.lua.lib.made"
require "torch.diagnose"
local diagnose = require "dt.diagnose"
local F = require "dt.functional"
local nn = require "dt.nn"
local optim = require "dt.optim"

local me, world = dt.rank(), dt.world_size()
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"tp"}})
local grid = dt.init_device_mesh("cpu", {2, world // 2},
  {mesh_dim_names = {"dp", "tp"}})
local S, R, P = dt.Shard, dt.Replicate(), dt.Partial
local D, from_local = dt.distribute_tensor, dt.DTensor.from_local
local count, leaf = made.count, made.leaf

local function ids() return dt.tensor {0, 3, 7, 2} end

local function tied()
  local m = nn.Sequential(nn.Embedding(8, 4), nn.Linear(4, 8, {bias = false}))
  m[1].weight = m[0].weight
  return m
end

-- A module with one parameter.
local function holder(p)
  local Net = nn.Module:extend("Net")
  function Net.__init__(self) self.w = nn.Parameter(p) end
  function Net.forward(self, x) return x * self.w end
  return Net()
end

-- One update of a plain and a distributed parameter.
local function update(a, b)
  for _, p in ipairs {a, b} do
    local y = p * 2
    y:sum():backward()
  end
  optim.Adam({a, b}, {foreach = true}):step()
end

local folder = "build/classes"
local function saved(state)
  dt._make_dir("build")
  dt.distributed.checkpoint.save({w = D(count(8, 4), mesh, {S(0)})}, folder)
  dt.distributed.checkpoint.load(state, folder)
end

local compiled = {no = "there is no compiler here: every operator runs as it "
  .. "is called"}
local fixed = {no = "the rule of PyTorch 2.13 is right; --torch tells what "
  .. "earlier releases said"}

local rows = {
  -- ---- kinds mixed ----
  ["mixed-tensor-dtensor"] = {function ()
    local y = D(count(4, 4), grid, {R, S(1)}) - count(4, 4)
    return y
  end, raises = "got mixed", op = "aten.sub.Tensor", code = "MIXED", fix = true},
  ["mixed-load-state-dict"] = {function ()
    local m = nn.Linear(4, 4)
    dt.fully_shard(m, {mesh = mesh})
    m:load_state_dict {weight = count(4, 4), bias = count(4)}
  end, raises = 'While copying the parameter named "weight"'},
  ["mixed-fsdp2-non-forward-entry"] = {function ()
    local m = nn.Embedding(8, 4)
    dt.fully_shard(m, {mesh = mesh})
    local y = F.embedding(ids(), m.weight)
    return y
  end, raises = "got mixed", op = "aten.embedding", code = "MIXED", fix = true,
    as = "mixed-tensor-dtensor"},
  ["mixed-attention-operand"] = {function ()
    local q = D(count(2, 4, 8, 4), mesh, {S(1)})
    local y = F.scaled_dot_product_attention(q, q, q,
      {attn_mask = dt.ones(8, 8)})
    return y
  end, raises = "got mixed", op = "scaled_dot_product", code = "MIXED",
    fix = true},
  ["mixed-optimizer-group"] = {function ()
    local q = count(4)
    q.requires_grad = true
    update(leaf(count(4), mesh, {R}), q)
  end, raises = "got mixed", op = "aten._foreach_", code = "MIXED", fix = true},
  ["mixed-activation-checkpoint-recompute"] = {no = "what a checkpoint "
    .. "recomputes runs through the modules' hooks again, so a parameter is "
    .. "gathered then as it was in forward"},
  -- ---- strategies ----
  ["missing-sharding-strategy"] = {function ()
    pcall(dt.library.define, "classes::twice(Tensor x) -> Tensor",
      function (x) return x * 2 end)
    local y = dt.ops.classes.twice(D(count(4), mesh, {S(0)}))
    return y
  end, raises = "does not have a sharding strategy registered",
    op = "classes.twice", fix = true},
  ["inference-mode-composite"] = fixed,
  ["backend-op-missing"] = {at = "tests/repl/diagnose.sh"},
  ["inplace-placement-change"] = {function ()
    local p = from_local(count(4), mesh, {P()})
    p:clamp_(0, 1)
  end, raises = "in-place operations that require placement changes",
    op = "aten.clamp_", fix = true},
  ["moe-router-full-dtensor"] = {function ()
    local n = D(dt.zeros(8), mesh, {S(0)})
    n:scatter_(0, D(dt.tensor {0, 7}, mesh, {R}), 1)
  end, raises = "in-place operations that require placement changes",
    op = "aten.scatter_.value"},
  ["index-put-and-select"] = {function ()
    local x = D(dt.zeros(8, 4), mesh, {S(0)})
    x:narrow(0, 2, 3):fill_(1)
  end, finds = "DT1013", op = "fill_"},
  ["dynamic-output-shape"] = {function ()
    local at = D(count(8), mesh, {S(0)}):nonzero()
    return at
  end, raises = "aten.nonzero.default", op = "aten.nonzero", fix = true},
  ["register-sharding-limits"] = {at = "tests/lua/diagnose.lua"},
  ["out-variant-kwarg-dtensor"] = {function ()
    local y = D(dt.zeros(8), mesh, {R})
    dt.ops.aten.exp.out(dt.ones(8), {out = y})
  end, raises = "", op = "aten.exp.out"},
  ["raw-collective-on-dtensor"] = {function ()
    dt.distributed.all_reduce(D(count(4), mesh, {R}))
  end, raises = "c10d.allreduce_"},
  ["sharding-propagation-failed"] = {function ()
    local y = D(count(4, 6), mesh, {S(0)}):mm(D(count(5, 4), mesh, {S(0)}))
    return y
  end, raises = "sharding propagation failed", op = "aten.mm",
    as = "tp-local-output-uneven"},
  ["optional-argument-rule-bug"] = fixed,
  ["conv-tp-unsupported"] = {function ()
    local y = F.conv2d(D(count(1, 1, 8, 8), mesh, {S(3)}),
      D(count(1, 1, 3, 3), mesh, {R}), nil, {stride = 2, padding = 1})
    return y
  end, finds = "DT1004", op = "convolution"},
  ["vocab-parallel-mask"] = fixed,
  ["strided-shard-op-rules"] = fixed,
  ["tp-axis-size-one"] = fixed,
  ["hybrid-sharding-unsupported"] = fixed,
  -- ---- meshes ----
  ["submesh-of-submesh"] = {at = "lua/examples/float8_submesh.lua"},
  ["invalid-mesh-dim-name"] = {function ()
    local m = grid["dp_cp"]
    return m
  end, raises = "Invalid mesh_dim_name"},
  ["mesh-dim-required"] = {function () grid:get_group() end,
    raises = "Found the DeviceMesh have 2 dimensions"},
  ["mesh-larger-than-world"] = {function ()
    dt.init_device_mesh("cpu", {3, 3})
  end, raises = "Mesh should not be bigger than default world size 4"},
  ["mesh-dim-group-missing"] = {no = "a mesh here makes all its groups when "
    .. "it is made"},
  ["redistribute-to-partial"] = {function ()
    D(count(4), grid, {R, R}):redistribute(grid, {R, P()})
  end, raises = "redistributing to Partial"},
  ["redistribute-cross-mesh"] = {function ()
    D(count(4), mesh, {R}):redistribute(grid, {R, R})
  end, raises = "Cross device mesh comm not supported yet"},
  ["optimizer-cross-mesh"] = {function ()
    local y = D(count(4), grid, {R, R}) + D(count(4), grid["dp"], {R})
    return y
  end, raises = "mesh", op = "aten.add", fix = true},
  ["clip-grad-cross-mesh"] = {function ()
    local a, b = leaf(count(4), grid, {R, R}), leaf(count(4), grid["tp"], {R})
    for _, p in ipairs {a, b} do
      local y = p * 2
      y:sum():backward()
    end
    nn.utils.clip_grad_norm_({a, b}, 1)
  end, raises = "aten.stack.default must have the same mesh",
    op = "aten.stack", fix = true},
  ["fsdp-2d-mesh-is-hsdp"] = {function ()
    dt.fully_shard(nn.Linear(8, 8), {mesh = grid})
  end, finds = "DT1021", op = "HSDP"},
  ["fsdp-tp-mesh-relationship"] = {at = "tests/lua/fsdp.lua"},
  -- ---- views ----
  ["view-flatten-sharded-dim"] = {function ()
    local y = D(count(2, 7, 4), grid, {R, S(1)}):view(56)
    return y
  end, raises = "Cannot flatten unevenly sharded tensor", op = "aten.view",
    fix = true},
  ["view-unflatten-uneven"] = {function ()
    local y = D(count(4, 24), grid, {S(0), S(1)}):view(4, 3, 8)
    return y
  end, raises = "Cannot unflatten unevenly sharded tensor", op = "aten.view",
    fix = true},
  ["tp-heads-not-divisible"] = {function ()
    local k = D(count(2, 4), mesh, {S(1)}):to_local()
    local y = k:view(2, -1, 4)
    return y
  end, raises = "this rank's part of f32[2, 4]| S(1)", op = "aten.view",
    as = ""},
  ["tp-local-output-uneven"] = {function ()
    local m = nn.Sequential(nn.Linear(8, 6), nn.Linear(6, 4))
    dt.parallelize_module(m, mesh, {["0"] = dt.ColwiseParallel(),
      ["1"] = dt.RowwiseParallel()})
    local y = m(count(2, 8))
    return y
  end, raises = "a and b must have same reduction dim", op = "aten.addmm"},
  ["global-shape-as-local"] = {function ()
    local x = D(count(8, 4), mesh, {S(0)})
    local y = x:to_local() + dt.zeros(x.shape)
    return y
  end, raises = "this rank's part of f32[8, 4]| S(0)", op = "aten.add", as = ""},
  -- ---- from_local, distribute ----
  ["from-local-uneven-shape"] = {function ()
    from_local(dt.randn(me == 0 and 3 or 1, 2), mesh, {S(0)})
  end, finds = "DT1009", op = "from_local"},
  ["distribute-misuse"] = {function ()
    D(leaf(count(4), mesh, {R}) * 2, mesh, {S(0)})
  end, raises = "should be used to distribute leaf tensors"},
  ["strided-shard-order"] = {function ()
    local x = D(count(9, 4), grid, {R, S(0)})
    local y = x:redistribute(grid, {S(0), dt._StridedShard(0, 2)})
    return y
  end, finds = "DT1011", op = "redistribute"},
  ["implicit-redistribution-forbidden"] = {function ()
    local a, b = D(count(8, 8), mesh, {S(0)}), D(count(8, 8), mesh, {S(1)})
    local before = dt._set_explicit_redist(1)
    local ok, e = pcall(function () return a + b end)
    dt._set_explicit_redist(before)
    if not ok then error(e, 0) end
  end, raises = "Implicit redistribution occurred", op = "aten.add"},
  -- ---- FSDP2 ----
  ["fsdp2-mixed-dtype-group"] = {function ()
    local m = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4):to(dt.bfloat16))
    dt.fully_shard(m, {mesh = mesh})
    m(count(2, 4))
  end, raises = "FSDP expects uniform original parameter dtype"},
  ["fsdp-tied-params-two-groups"] = {function ()
    local m = tied()
    dt.fully_shard(m[0], {mesh = mesh})
    dt.fully_shard(m[1], {mesh = mesh})
  end, finds = "DT1024", op = "UNTIED"},
  ["fsdp-uneven-nonzero-dim"] = {function ()
    dt.fully_shard(holder(count(4, 6)), {mesh = mesh, shard_placement_fn =
      function () return S(1) end})
  end, raises = "FSDP does not support uneven sharding on dim 1"},
  ["ep-fsdp-uneven-double-shard"] = {no = "gradients and optimizer states here "
    .. "are cut by the same layout as their parameter"},
  ["meta-device-not-materialised"] = {function ()
    local m = nn.Linear(4, 4, {device = "meta"})
    dt.fully_shard(m, {mesh = mesh})
    m(count(2, 4))
  end, raises = "FSDP parameters should be materialized from meta device"},
  ["fsdp2-scalar-parameter"] = {function ()
    dt.fully_shard(holder(dt.ones({})), {mesh = mesh})
  end, raises = "fully_shard doesn't support scalar parameters"},
  ["fsdp2-non-float-parameter"] = {no = "an integer parameter here keeps that "
    .. "it needs no gradient"},
  ["fsdp2-plain-entry-in-sharded-state-dict"] = {no = "a loader's own code; "
    .. "here an attribute that is missing is nil"},
  ["fsdp2-full-state-dict-key"] = {no = "a loader's own code"},
  ["optimizer-built-before-sharding"] = {function ()
    local m = nn.Linear(8, 8)
    local opt = optim.AdamW(m:parameters(), {lr = 0.1})
    dt.parallelize_module(m, mesh, dt.RowwiseParallel())
    m(count(4, 8):chunk(world, 1)[me + 1]):sum():backward()
    opt:step()
  end, finds = "DT1025", op = "optimizer.step"},
  ["fsdp1-dtensor-legacy"] = {no = "FSDP1 is not here"},
  ["cpu-offload-no-cpu-backend"] = {no = "every world carries tensors of the "
    .. "processor"},
  ["rng-offload-hang"] = {function ()
    dt.manual_seed(1)
    nn.init.trunc_normal_(D(dt.zeros(16, 4), mesh, {S(0)}))
  end, finds = "DT1018", op = "normal_"},
  -- ---- tensor and sequence parallel, losses ----
  ["sequence-parallel-input-contract"] = {function ()
    local m = nn.LayerNorm(4)
    dt.parallelize_module(m, mesh, dt.SequenceParallel())
    m(count(2, 8, 4))
  end, finds = "DT1007", op = "from_local"},
  ["tp-plan-unmatched"] = {function ()
    dt.parallelize_module(nn.LayerNorm(8), mesh, dt.ColwiseParallel())
  end, raises = "ColwiseParallel currently only support nn.Linear"},
  ["tp-hook-kwargs-only"] = {no = "arguments of a module here are by position"},
  ["loss-parallel-preconditions"] = {function ()
    local ok, e = pcall(dt.loss_parallel, function ()
      F.cross_entropy(D(count(4, 8), mesh, {S(0)}), ids())
    end)
    dt.loss_parallel(function () end)   -- an error leaves it on, as in PyTorch
    if not ok then error(e, 0) end
  end, raises = "loss_parallel"},
  ["grad-norm-is-partial-dtensor"] = {function ()
    local n = dt.linalg_vector_norm(D(count(9, 3), grid, {S(0), S(1)}))
    local v = n:item()
    return v
  end, finds = "DT1001", op = "_local_scalar_dense"},
  -- ---- context parallel ----
  ["cp-backend-or-mask"] = {at = "lua/examples/npu_attention.lua"},
  ["cp-load-balance"] = {at = "tests/lua/cp.lua"},
  ["cp-seq-divisibility"] = {no = "PyTorch 2.13 cuts a sequence that does not "
    .. "divide unevenly, without a word"},
  ["flex-attention-dtensor"] = {no = "flex_attention is a function for a "
    .. "compiler"},
  ["fp8-subclass-inside-dtensor"] = {no = "float8 here is a dtype, not a "
    .. "tensor subclass"},
  -- ---- checkpoints ----
  ["dcp-size-mismatch"] = {function ()
    saved {w = D(count(4, 4), mesh, {S(0)})}
  end, raises = "ize mismatch"},
  ["dcp-missing-key"] = {function ()
    saved {v = D(count(8, 4), mesh, {S(0)})}
  end, raises = "Missing key in checkpoint state_dict: v"},
  ["dtensor-serialization"] = {no = "nothing is pickled here"},
  ["devicemesh-pickle-version-skew"] = {no = "nothing is pickled here"},
  -- ---- ranks ----
  ["fsdp-divergent-module-execution"] = {at = "tests/repl/diverge_mpi.sh"},
  ["collective-sequence-mismatch"] = {at = "tests/repl/diverge_mpi.sh"},
  ["async-result-not-waited"] = {function ()
    local t = dt.zeros(8)
    local work = dt.distributed.all_gather_into_tensor(t, count(2) + me,
      {async_op = true})
    local y = t + 1
    work:wait()
    return y
  end, finds = "DT1028", op = "add"},
  ["collective-wrong-device"] = {no = "all tensors lie in one memory"},
  ["pin-memory-dtensor"] = {no = "there is no memory to pin"},
  ["xla-sharded-tensor"] = {at = "lua/examples/toy_mlp.lua"},
  -- ---- compilers, speed, small differences ----
  ["compile-tangent-placement"] = compiled,
  ["compile-symbolic-shape-rule"] = compiled,
  ["compile-placement-not-traceable"] = compiled,
  ["dispatch-overhead"] = {no = "a matter of PyTorch's speed"},
  ["sharding-cache-growth"] = {no = "a matter of PyTorch's memory"},
  ["numerics-drift-not-bug"] = {at = "tests/findings/verdicts.lua"},
  -- ---- classes of traps ----
  ["hidden-redistribution"] = {function ()
    local y = D(count(12, 8), mesh, {S(1)}):view(16, 6)
    return y
  end, finds = "DT1031", op = "view"},
  ["to-local-grad-placement"] = {function ()
    local w = leaf(count(4), mesh, {R})
    local y = (w:to_local() * (me + 1)):sum()
    y:backward()
  end, finds = "DT1005", op = "to_local_backward"},
  ["partial-plus-scalar"] = {function ()
    local y = from_local(count(4) * me, mesh, {P()}):to_local() + 1
    local z = from_local(y, mesh, {P()})
    return z
  end, finds = "DT1044", op = "add"},
  ["nonlinear-on-partial"] = {function ()
    local n = dt.linalg_vector_norm(from_local(-count(4) * me, mesh,
      {P("max")}), math.huge)
    return n
  end, finds = "DT1004", op = "linalg_vector_norm"},
  ["from-local-lies"] = {function ()
    local x = from_local(count(3) + me, mesh, {R})
    return x
  end, finds = "DT1006", op = "from_local"},
  ["argmax-local-index"] = {function ()
    local i = D(count(4, 8), mesh, {S(1)}):to_local():argmax(1)
    local x = from_local(i, mesh, {P("max")})
    return x
  end, finds = "DT1043", op = "argmax"},
  ["weighted-mean-loss"] = {function ()
    local l = F.cross_entropy(D(count(8, 5), mesh, {S(0)}),
      D(dt.tensor {0, 1, 2, 3, 4, 4, 1, 0}, mesh, {S(0)}),
      D(count(5) + 1, mesh, {R}))
    return l
  end, finds = "DT1015", op = "nll_loss"},
  ["sdpa-cache-key"] = {at = "tests/findings/traps.lua"},
  ["ep-gradient-scale"] = {function ()
    local g = from_local(count(4) + 1, mesh, {P()})
    return g
  end, finds = "DT1008", op = "from_local"},
  ["squeeze-local-singleton"] = fixed,
  ["distribute-source-rank-wins"] = {function ()
    local x = D(count(8) + me, mesh, {S(0)})
    return x
  end, finds = "DT1035", op = "distribute_tensor"},
  ["view-without-redistribute"] = {function ()
    local y = D(count(12, 8), mesh, {S(1)}):view(16, 6)
    return y
  end, finds = "DT1031", op = "view"},
  ["matmul-shard-order"] = {at = "tests/findings/traps.lua"},
  ["partial-read-as-value"] = {at = "tests/findings/traps.lua"},
  ["inplace-on-partial"] = {no = "refused: the class inplace-placement-change"},
  ["partial-type-confusion"] = {no = "refused: redistribute-to-partial"},
  ["loss-parallel-handler-scope"] = {at = "tests/findings/traps.lua"},
  ["rng-layout-dependence"] = {at = "tests/findings/traps.lua"},
  ["checkpoint-order"] = {at = "tests/findings/traps.lua"},
  ["cross-mesh-noop"] = {no = "refused: the class redistribute-cross-mesh"},
  ["one-element-implicit-replicate"] = {at = "tests/findings/traps.lua"},
  ["conv-backward-placement"] = {at = "tests/findings/traps.lua"},
  -- ---- types, and families told by names ----
  ["spmd-type-error"] = {no = "its messages are those of spmd_types"},
  ["mesh-arguments"] = {function ()
    return dt.init_device_mesh("cpu:0", {world})
  end, raises = "with index is not supported"},
  ["fsdp2-usage"] = {function ()
    return dt.fully_shard(nn.ModuleList {nn.Linear(4, 4)}, {mesh = mesh})
  end, raises = "do not implement forward"},
  ["local-map-placements"] = {no = "tests/lua/diagnose.lua reads its texts"},
  ["placement-kind-assumed"] = {no = "an attribute is nil in Lua"},
  ["wrapper-setting-of-another"] = {no = "FSDP1 is not here"},
}

-- The silent traps: the findings are in findings.def, by trap, and each has its
-- script in traps.lua; of these there is none.
local traps = {
  [4] = {rows["inplace-placement-change"][1], raises = "in-place operations"},
  [5] = {rows["redistribute-to-partial"][1],
    raises = "redistributing to Partial"},
  [11] = {rows["view-without-redistribute"][1], finds = "DT1031", op = "view"},
  [29] = {rows["redistribute-cross-mesh"][1], raises = "not supported yet"},
  [34] = {no = "squeeze looks at global sizes in PyTorch 2.13"},
}

local function fixed_by_trial(e)
  for _, f in ipairs(e.fixes or {}) do
    if f.verdict == "equal" then return true end
  end
  return false
end

local function raises(id, row)
  local ok, e = pcall(row[1])
  if not T.ok(not ok, id .. ": fails") then return end
  T.ok(type(e) == "table" and e.torch, id .. ": not by chance: " .. tostring(e))
  T.has(tostring(e), row.raises, id .. ": words")
  if row.op then T.has(tostring(e), row.op, id .. ": names the operator") end
  if row.code then T.eq(e.code, row.code, id .. ": code") end
  if row.fix then T.ok(fixed_by_trial(e), id .. ": a repair was tried") end
  local as = row.as or id
  if as ~= "" and not tonumber(id:match "%d+$") then
    local r = diagnose.read(("%s: %s"):format(e.class, e.torch))
    T.eq(r.class and r.class.id or "none", as, id .. ": its text")
  end
end

local function finds(id, row)
  local ok, e, _, list = run(row[1])
  local hit
  T.ok(ok, id .. ": runs: " .. tostring(e))
  for _, f in ipairs(list) do
    if f.code == row.finds and f.op:find(row.op, 1, true) then hit = f end
  end
  if T.ok(hit, ("%s: %s at %s"):format(id, row.finds, row.op)) then
    T.ok(hit.evidence ~= "" and hit.lua ~= "" and hit.torch ~= "",
      id .. ": evidence and fix")
  end
end

local function check(id, row)
  if row.raises then raises(id, row)
  elseif row.finds then finds(id, row)
  elseif row.at then
    local f = io.open(row.at)
    if T.ok(f, id .. ": there is no " .. row.at) then f:close() end
  else
    T.ok(row.no and #row.no > 10, id .. ": why not?")
  end
end

local known = {}
for _, c in ipairs(diagnose.classes()) do
  known[c.id] = true
  local row = rows[c.id]
  if T.ok(row, "no row for the class " .. c.id) then check(c.id, row) end
end
for id in pairs(rows) do T.ok(known[id], "no class for the row " .. id) end

local by_trap = {}
for _, k in ipairs(dt.debug.traps()) do by_trap[k.trap] = k.code end
for n = 1, 35 do
  local row = traps[n]
  if row then check("trap " .. n, row)
  else T.ok(by_trap["T" .. n], "no row for the trap " .. n) end
end
T.finish()
