-- SPDX-License-Identifier: MIT
-- dt/diagnose/grammar.lua: the notations PyTorch prints, as LPeg grammars:
-- placements, specs of both ages, meshes of four ages, calls with arguments.
--
-- Results are plain tables:
--   spec   {kind="dtensor", dtype=, shape={..}, placements={"S(0)", "R"},
--           mesh={..} or nil}
--   plain  {kind="tensor", dtype=, shape=}
--   value  {kind="value", text=}
--   mesh   {shape={..}, names={..}|nil, device=|nil}
-- Placements are in the notation of the rest of dtrepl.

local lpeg = require "lpeg"
local P, R, S, V = lpeg.P, lpeg.R, lpeg.S, lpeg.V
local C, Cc, Cg, Ct = lpeg.C, lpeg.Cc, lpeg.Cg, lpeg.Ct

local M = {}

local ws = S " \t\r\n" ^ 0
-- What does not fit into 53 bits is as good as the largest that does.
local function integer(text)
  local v = math.tointeger(tonumber(text)) or 1 << 53
  return math.max(-(1 << 53), math.min(1 << 53, v))
end
local int = C(P "-" ^ -1 * R "09" ^ 1) / integer
local name = R("az", "AZ", "__") * R("az", "AZ", "09", "__") ^ 0
local function tok(p) return ws * P(p) * ws end
local function sep(p, by) return p * (tok(by or ",") * p) ^ 0 end
local function opt(p) return p ^ -1 end
local function field(key, p) return Cg(p, key) end

-- ---- placements --------------------------------------------------------

local dim_word = opt(tok "dim" * tok "=")
local sf_word = opt((tok "split_factor" + tok "sf") * tok "=")
local reduce = opt((tok "reduce_op" + tok "reduceop") * tok "=")
  * (opt(S "'\"") * (P "RedOpType." + P "ReduceOp.") ^ -1 * C(name)
  * opt(S "'\""))
  * (1 - P ")") ^ 0

local function strided(d, f) return ("_S(%d, %d)"):format(d, f) end
local function shard(d) return ("S(%d)"):format(d) end
local function partial(op) return ("P(%s)"):format(op:lower()) end

local placement = ws * (
  (P "_StridedShard" + "StridedShard" + "_S") * tok "(" * dim_word * int
    * tok "," * sf_word * int * tok ")" / strided
  + (P "Shard" + "S") * tok "(" * dim_word * int * tok ")" / shard
  + P "S" * (R "09" / integer) * -R("az", "AZ", "09") / shard
  + (P "_NormPartial" + "NormPartial") * tok "(" * reduce * tok ")" / partial
  + (P "_MaskPartial" + "MaskPartial" + "_MaskP") * opt(tok "("
    * (1 - S "()") ^ 0 * tok ")") / function () return "P(sum)" end
  + (P "_Partial" + "Partial" + "P") * tok "(" * reduce * tok ")" / partial
  + (P "_Partial" + "Partial") * tok "(" * tok ")" * Cc "P(sum)"
  + P "P" * -R("az", "AZ", "09", "__") * Cc "P(sum)"
  + P "Replicate" * tok "(" * tok ")" * Cc "R"
  + P "R" * -R("az", "09", "__") * Cc "R"
) * ws

M.placement = placement
-- (Shard(dim=0), Replicate()) or [..] or one alone
local list = tok(S "([") * Ct(opt(sep(placement)) * opt(tok ",")) * tok(S ")]")
M.placement_list = list
-- S(0)R without separators
local joined = Ct(placement ^ 1)

-- ---- shapes and dtypes -------------------------------------------------

local shape = Ct(opt(sep(int)) * opt(tok ","))
local torch_size = P "torch.Size" * tok "(" * tok "[" * shape * tok "]"
  * tok ")"
local any_shape = torch_size + tok "(" * shape * tok ")"
  + tok "[" * shape * tok "]"

local dtypes = {float32 = "f32", float64 = "f64", float16 = "f16",
  bfloat16 = "bf16", int64 = "i64", int32 = "i32", int16 = "i16",
  int8 = "i8", uint8 = "u8", float8_e4m3fn = "float8_e4m3fn",
  float8_e5m2 = "float8_e5m2", bool = "bool", half = "f16", float = "f32",
  double = "f64", long = "i64", int = "i32", complex64 = "c64",
  complex128 = "c128"}
local dtype = P "torch." ^ -1 * C(name) / function (n)
  return dtypes[n] or n
end
M.dtypes = dtypes

-- ---- meshes ------------------------------------------------------------

local quoted = S "'\"" * C((1 - S "'\"\n") ^ 0) * S "'\""
local names = tok(S "([") * Ct(sep(quoted) * opt(tok ",")) * tok(S ")]")
local device = P "device" * tok(S ":=") * quoted + quoted

-- dp=2, tp=4
local named = Ct(Ct(C(name) * tok "=" * int)
  * (tok "," * Ct(C(name) * tok "=" * int)) ^ 0)
local function from_named(pairs)
  local m = {shape = {}, names = {}}
  for i, p in ipairs(pairs) do m.names[i], m.shape[i] = p[1], p[2] end
  return m
end

-- Nested lists of ranks: [[0, 1], [2, 3]] -> {2, 2}
local function size_of(t)
  local s = {}
  while type(t) == "table" do
    s[#s + 1] = #t
    t = t[1]
  end
  return {shape = s}
end
local ranks = P {Ct(tok "[" * opt(sep(V(1) + int)) * tok "]")} / size_of

local rest = (P "stride" * tok(S ":=") * (tok "(" * (1 - P ")") ^ 0 * tok ")"
  + int / 0)) + P "mesh_dim_names" * tok "=" * field("names", names)
  + P "Mesh" * tok ":" * ((P "[" * (1 - P "]") ^ 0 * P "]") ^ 0)
  + field("device", device)

local function join_mesh(t)
  local m = t[1] or {shape = {}}
  m.device = t.device
  m.names = m.names or t.names
  return m
end

local body = P "(" * (named / from_named) * opt(tok ",") * P ")"
  + ranks + tok "(" * shape * tok ")" / function (s) return {shape = s} end

M.mesh = P "DeviceMesh" * tok "(" * Ct(opt(field("device", device) * tok ",")
  * body * (tok "," * rest) ^ 0) * tok ")" / join_mesh
-- "mesh (dp=2, tp=2)", our own
M.own_mesh = P "mesh" * ws * P "(" * (named / from_named) * P ")"

-- Code: init_device_mesh("cuda", (2, 4), mesh_dim_names=("dp", "tp"))
local kwarg = (P "mesh_shape" * tok "=") ^ -1
M.init_mesh = P "init_device_mesh" * tok "(" * Ct(
  opt(opt(P "device_type" * tok "=") * (field("device", quoted)
    + (R("az", "AZ", "09") + S "_.()[]'\"") ^ 1) * tok ",")
  * kwarg * any_shape
  * opt(tok "," * opt(P "mesh_dim_names" * tok "=")
    * field("names", names))) / function (t)
  return {shape = t[1], device = t.device, names = t.names}
end

-- ---- specs and calls ---------------------------------------------------

local function spec_new(dt, sh, pl)
  return {kind = "dtensor", dtype = dt, shape = sh, placements = pl}
end
local function spec_old(pl, sh, mesh)
  return {kind = "dtensor", shape = sh, placements = pl, mesh = mesh}
end

-- Spec(f32[8, 4](S(0)R)); Spec(S(0) on (16, 2048)); Spec((Shard(dim=0),) on
-- (16, 2048)); the tail " @ mesh: (2, 4)" of one argument is let pass.
local tail = opt(tok "@" * ws * P "mesh" * tok ":" * any_shape / 0)
local any_list = list + Ct(placement ^ 1)
M.spec = P "DTensor" ^ -1 * P "Spec" * tok "(" * (
  dtype * tok "[" * shape * tok "]" * P "(" * joined * P ")" / spec_new
  + any_list * tok "on" * any_shape * tail / spec_old
  + P "mesh" * tok "=" * M.mesh * tok "," * P "placements" * tok "=" * list
    * (1 - P ")") ^ 0 / function (mesh, pl)
      return {kind = "dtensor", placements = pl, mesh = mesh}
    end
) * tok ")"

-- dt: f32[8, 32]| S(0)R        t: f32[8]      (DebugMode, and our own)
local number = (P "$" * R "09" ^ 1) ^ -1
M.debug_tensor = P "dt" * number * tok ":" * dtype * P "[" * shape * P "]"
    * (P "|" * ws * joined + P "[" * joined * P "]") / spec_new
  + P "t" * number * tok ":" * dtype * P "[" * shape * P "]" / function (dt, sh)
    return {kind = "tensor", dtype = dt, shape = sh}
  end

-- DTensor(local_tensor=..., device_mesh=..., placements=(...))
M.repr_tail = P "placements" * tok "=" * list

local balanced = P {"(" * (V(1) + (1 - S "()[]")) ^ 0 * ")"
  + "[" * (V(1) + (1 - S "()[]")) ^ 0 * "]"}
local text_value = C((balanced + (1 - S ",()[]\n")) ^ 1) / function (s)
  return {kind = "value", text = (s:gsub("%s*@ mesh:.*$", ""):gsub("^%s+", "")
    :gsub("%s+$", ""))}
end

-- A list of specs, else any value.
local tensors = tok "[" * Ct(sep(M.spec + M.debug_tensor)) * tok "]"
  / function (t) return {kind = "list", items = t} end
local item = ws * (M.spec + M.debug_tensor + tensors + text_value) * ws
M.arguments = P "(" * Ct(opt(item * (P "," * item) ^ 0)) * opt(P ",")

return M
