-- TEST: ranks=4 world={threads,mpi} needs=data args=--trust
-- SPDX-License-Identifier: MIT
-- Tensors in files: .npy, .safetensors, .pt, and checkpoints written on one mesh
-- and read on another; files cut short are refused and the old one stays.

local T = require "tests.lua.lib.check"
local checkpoint = dt.distributed.checkpoint

local dir = ("build/files-%s-%d"):format(dt.world(), dt.world_size())
dt._make_dir("build")
dt._make_dir(dir)

local function fails(f, text, what)
  local ok, err = pcall(f)
  T.ok(not ok and tostring(err):find(text, 1, true), what
    .. ": " .. tostring(err))
end

-- one tensor, every dtype, views
local all = {"float64", "float32", "float16", "bfloat16", "float8_e4m3fn",
  "float8_e5m2", "int64", "int32", "int16", "int8", "uint8", "bool",
  "complex64"}
local map = {}
for i, name in ipairs(all) do
  map[name] = dt.arange(6):reshape({2, 3}):to(dt[name])
  map["view" .. i] = dt.arange(6.0):reshape({2, 3}):t()
end
map.scalar, map.empty = dt.tensor(3.5), dt.zeros(0, 4)
dt.save(map, dir .. "/all.safetensors")
for name, t in pairs(dt.load(dir .. "/all.safetensors")) do
  T.eq(tostring(t.dtype), tostring(map[name].dtype), name)
  T.ok(t:to(dt.complex64):eq(map[name]:to(dt.complex64)):all():item()
    or t:numel() == 0, name .. ": values")
end
dt.save(map.view3, dir .. "/v.npy")
T.ok(dt.load(dir .. "/v.npy"):eq(map.view3):all():item(), "npy")
fails(function () dt.save(map.bfloat16, dir .. "/b.npy") end, "bfloat16",
  "numpy has no bf16")

-- what is cut short is refused
local function cut(from, to, n)
  if dt.rank() == 0 then
    local f = assert(io.open(from, "rb"))
    local text = f:read("a")
    f:close()
    dt._write_file(to, text:sub(1, n < 0 and #text + n or n))
  end
  dt.barrier()
end
for _, n in ipairs {0, 4, 9, 100, -1} do
  cut(dir .. "/all.safetensors", dir .. "/cut.safetensors", n)
  fails(function () dt.load(dir .. "/cut.safetensors") end, "cut",
    "safetensors of " .. n)
  cut(dir .. "/v.npy", dir .. "/cut.npy", math.min(n, 100))
  fails(function () dt.load(dir .. "/cut.npy") end, "", "npy of " .. n)
end

-- PyTorch's files: what is saved comes back, sharing what it shared
local base = dt.arange(6.0)
dt.save({w = base, part = base:narrow(0, 2, 3), n = 3, list = {1.5, "x"}},
  dir .. "/all.pt")
local back = dt.load(dir .. "/all.pt")
T.eq(back.n, 3, "number of a .pt")
T.eq(back.list[2], "x", "list of a .pt")
T.ok(back.w:eq(base):all():item(), "tensor of a .pt")
back.w:fill_(7)
T.eq(back.part:tolist()[1], 7, "a view shares its storage")
for _, n in ipairs {0, 3, 40, 200, 700, -1} do
  cut(dir .. "/all.pt", dir .. "/cut.pt", n)
  fails(function () dt.load(dir .. "/cut.pt") end, "", ".pt of " .. n)
end

-- pickles that were made to do harm
local zip = require "dt.io.zip"
local values = require "dt.io.torch_values"
for what, p in pairs {marks = "(((", itself = "]2a", deep = ("]"):rep(9999)
  .. ("a"):rep(9998) .. ".", long = "X\xff\xff\xff\x7f", digits =
  "\x8b\xff\xff\xff\x7f", key = "}]]s.", memo = "h\5.",
  called = "cos\nsystem\nX\2\0\0\0ls\x85R.",
  tensor = "ctorch._utils\n_rebuild_tensor_v2\n)R.", built = "K\1b.",
  number = "K\1K\1R.", operand = "\xff."} do
  local text = table.concat(zip.write {{"a/data.pkl", p}})
  local ok, e = pcall(values.load, text, "harm.pt")
  T.ok(not ok and type(e) == "table" and e.class == "UnpicklingError",
    what .. ": " .. tostring(e))
end
local at = table.concat(zip.write {{"a/data.pkl", "N."}})
T.eq(values.load(at, "none.pt"), dt.None, "None alone")

-- a checkpoint changes its mesh
local flat = dt.init_device_mesh("cpu", {4})
local square = dt.init_device_mesh("cpu", {2, 2})
dt.manual_seed(5)
local whole = {w = dt.randn(7, 6), b = dt.randn(5), plain = dt.randn(3)}
local state = {
  model = {w = dt.distribute_tensor(whole.w, square, "S(0) S(1)"),
    b = dt.distribute_tensor(whole.b, flat, "S(0)"), plain = whole.plain},
  step = 12, rate = 0.1 + 0.2, note = 'a "text"\nof é', done = true,
}
local folder = dir .. "/ckpt"
checkpoint.save(state, {checkpoint_id = folder})
local function read(mesh, w, b)
  local into = {model = {w = dt.distribute_tensor(dt.zeros(7, 6), mesh, w),
    b = dt.distribute_tensor(dt.zeros(5), mesh, b), plain = dt.zeros(3)},
    step = 0, rate = 0, note = "", done = false}
  checkpoint.load(into, {checkpoint_id = folder})
  T.ok(into.model.w:full_tensor():eq(whole.w):all():item(), "w as " .. w)
  T.ok(into.model.b:full_tensor():eq(whole.b):all():item(), "b as " .. b)
  T.ok(into.model.plain:eq(whole.plain):all():item(), "plain")
  for _, key in ipairs {"step", "rate", "note", "done"} do
    T.eq(into[key], state[key], key)
  end
end
read(square, "S(0) S(1)", "S(0) R")
read(square, "S(1) S(0)", "R R")
read(square, "S(0) S(0)", "S(0) S(0)")
read(square, "R S(1)", "R S(0)")
read(flat, "S(0)", "S(0)")
read(flat, "S(1)", "R")

-- a save that fails half-way leaves the old one
fails(function ()
  checkpoint.save({w = dt.DTensor.from_local(dt.ones(2), flat,
    {dt.Partial()}, {run_check = false})}, folder)
end, "partial", "partial tensors")
read(flat, "S(0)", "R")
checkpoint.save(state, folder)
read(square, "S(0) R", "S(0) R")

-- a name may have several lines
local odd = 'two\nlines, a "quote"\r end'
checkpoint.save({[odd] = whole.plain, [odd .. "2"] = "x"}, dir .. "/odd")
local named = {[odd] = dt.zeros(3), [odd .. "2"] = ""}
checkpoint.load(named, dir .. "/odd")
T.ok(named[odd]:eq(whole.plain):all():item(), "a name of two lines")
T.eq(named[odd .. "2"], "x", "of a value")

-- refusals
fails(function () checkpoint.load({zzz = dt.zeros(1)}, folder) end,
  "Missing key", "missing")
fails(function ()
  checkpoint.load({model = {w = dt.zeros(7, 7)}}, folder)
end, "Size mismatch", "size")
fails(function () checkpoint.load({}, dir .. "/none") end, "no checkpoint",
  "no folder")
cut(folder .. "/checkpoint.json", folder .. "/checkpoint.json", 40)
fails(function () checkpoint.load(state, folder) end, "cut short", "index")

T.finish()
