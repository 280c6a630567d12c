-- SPDX-License-Identifier: MIT
-- dt/python/testing.lua: tests in the manner of PyTorch's own: a class over
-- DTensorTestBase, MultiThreadedTestCase or unittest.TestCase, with_comms,
-- run_tests().  Each test_* method runs on all ranks; what fails is said with
-- its name, and the first failure's report is shown.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local V = require "dt.python.values"
local attrs = require "dt.python.attrs"
local protect = require "dt.python.protect"
local calls = require "dt.python.call"
local exceptions = require "dt.python.exceptions"

local None, builtin, namespace = dt.None, V.builtin, attrs.namespace
local collected = {}                -- classes with tests, as they were made

local Base = nnm.Module:extend("TestCase")
Base.__python = true
Base.__made = function (class) collected[#collected + 1] = class end

local function method(name, f)
  Base[name] = calls.lua_method(builtin(f, name))
end

local function fail(text, ...)
  util.raise("AssertionError", text, ...)
end

local function message(given, otherwise)
  return given and given ~= None and V.str(given) or otherwise
end

local function same(a, b, kw)
  if util.is_tensor(a) and util.is_tensor(b) then
    local t = {equal_nan = true}
    for _, name in ipairs {"atol", "rtol"} do
      t[name] = kw and V.dict_get(kw, name)
    end
    if util.is_dtensor(a) ~= util.is_dtensor(b) then
      a = util.is_dtensor(a) and a:full_tensor() or a
      b = util.is_dtensor(b) and b:full_tensor() or b
    end
    local ok, err = pcall(dt.testing.assert_close, a, b, t)
    return ok, err
  end
  if type(a) == "number" and type(b) == "number" then
    return a == b or math.abs(a - b) <= (kw and V.dict_get(kw, "atol") or 1e-5)
      * math.max(1, math.abs(b))
  end
  if V.is_seq(a) and V.is_seq(b) and a.n == b.n then
    for i = 1, a.n do
      local ok, err = same(a[i], b[i], kw)
      if not ok then return false, err end
    end
    return true
  end
  return V.equal(a, b) == true
end

method("assertEqual", function (a, kw)
  local ok, err = same(a[2], a[3], kw)
  if not ok then
    fail("%s", message(a[4], err and exceptions.exception(err).message
      or ("%s != %s"):format(V.repr(a[2]), V.repr(a[3]))))
  end
  return None
end)
method("assertNotEqual", function (a, kw)
  if same(a[2], a[3], kw) then fail("%s == %s", V.repr(a[2]), V.repr(a[3])) end
  return None
end)
local function truth(name, wanted)
  method(name, function (a)
    if V.truth(a[2]) ~= wanted then
      fail("%s", message(a[3], ("%s is not %s"):format(V.repr(a[2]),
        wanted and "true" or "false")))
    end
    return None
  end)
end
truth("assertTrue", true)
truth("assertFalse", false)
local compare = require("dt.python.ops").compare
for name, sign in pairs {assertIs = "is", assertIsNot = "is not",
  assertIn = "in", assertNotIn = "not in", assertLess = "<",
  assertGreater = ">", assertLessEqual = "<=", assertGreaterEqual = ">="} do
  method(name, function (a)
    if not V.truth(compare[sign](a[2], a[3])) then
      fail("%s %s %s does not hold", V.repr(a[2]), sign, V.repr(a[3]))
    end
    return None
  end)
end
method("assertIsNone", function (a)
  if a[2] ~= None then fail("%s is not None", V.repr(a[2])) end
  return None
end)
method("assertIsNotNone", function (a)
  if a[2] == None then fail("unexpectedly None") end
  return None
end)
method("assertIsInstance", function (a)
  if not require("dt.python.builtins").is_class(a[2], a[3]) then
    fail("%s is not an instance of %s", V.repr(a[2]), V.str(a[3]))
  end
  return None
end)

-- assertRaises(E), assertRaisesRegex(E, text): scopes, or with a callable.
local function raises(class, text, f, args, kw)
  local held = {}
  local scope = namespace {
    catches = true,
    __enter__ = function () return held.self end,
    __exit__ = function (_, err)
      if err == nil then fail("%s not raised", V.str(class.__name__)) end
      local e = exceptions.exception(err)
      if not exceptions.catches(class, e) then return false end
      -- The text is a regular expression; its plain part must be there.
      local plain = text and text:gsub("\\(.)", "%1")
      if plain and not plain:find("[%*%+%?%[|]")
         and not e.message:find(plain, 1, true) then
        fail("%q does not match %q", plain, e.message)
      end
      held.self.exception = e
      return true
    end,
  }
  held.self = scope
  if not f then return scope end
  local out = table.pack(protect.catching(calls.call, f, args, kw))
  if not scope.__exit__(scope, not out[1] and out[2] or nil) then
    error(out[2], 0)
  end
  return None
end
method("assertRaises", function (a, kw)
  return raises(a[2], nil, a[3], V.list({table.unpack(a, 4, a.n)},
    math.max(0, a.n - 3)), kw)
end)
method("assertRaisesRegex", function (a, kw)
  return raises(a[2], a[3], a[4], V.list({table.unpack(a, 5, a.n)},
    math.max(0, a.n - 4)), kw)
end)
method("subTest", function () return namespace {} end)
method("skipTest", function (a)
  util.raise("SkipTest", "%s", message(a[2], ""))
end)
method("setUp", function () return None end)
method("tearDown", function () return None end)
method("build_device_mesh", function (a)
  return dt.init_device_mesh(V.to_lua(attrs.get(a[1], "device_type")),
    {dt.world_size()})
end)
method("init_pg", function () return None end)
method("destroy_pg", function () return None end)

local function property(name, f)
  Base[name] = V.call(require("dt.python.class").names.property,
    V.list {builtin(f, name)})
end
property("rank", dt.rank)
property("world_size", dt.world_size)
Base.device_type, Base.backend = "cpu", "gloo"
property("device", function () return "cpu" end)

-- ---- running ----

local function tests_of(class)
  local out, seen, c = {}, {}, class
  while c and c ~= Base do
    for key, v in pairs(c) do
      if type(key) == "string" and key:find("^test") and not seen[key]
         and (V.raw(v) or getmetatable(v) == V.builtin_mt) then
        seen[key], out[#out + 1] = true, key
      end
    end
    c = rawget(c, "__base")
  end
  table.sort(out)
  return out
end

-- PyTorch's test classes give every process the same seed before each test.
local function seeded()
  dt._rng(dt._rng(), true)
end

local function run_one(class, name)
  local self = calls.call(class, V.list({}, 0))
  seeded()
  attrs.get(self, "setUp").call(V.list({}, 0))
  return pcall(calls.call, attrs.get(self, name), V.list({}, 0))
end

local function run_tests()
  local n, bad, skipped, first = 0, 0, 0, nil
  for _, class in ipairs(collected) do
    for _, name in ipairs(tests_of(class)) do
      local ok, err = run_one(class, name)
      n = n + 1
      local word = "ok"
      if not ok and type(err) == "table" and err.class == "SkipTest" then
        skipped, word = skipped + 1, "skipped '" .. err.message .. "'"
      elseif not ok then
        bad, word = bad + 1, "FAIL"
        first = first or err
      end
      print(("%s (%s.%s) ... %s"):format(name, "__main__", class.__name, word))
    end
  end
  print(("Ran %d test%s"):format(n, n == 1 and "" or "s")
    .. (bad > 0 and (", %d failed"):format(bad) or "")
    .. (skipped > 0 and (", %d skipped"):format(skipped) or ""))
  if first then error(first, 0) end
  return None
end

-- Decorators that change nothing here.
local function plain(a)
  if getmetatable(a[1]) == V.func_mt then return a[1] end
  return builtin(function (b) return b[1] end)
end

local cases = {DTensorTestBase = Base, TestCase = Base,
  DTensorContinuousTestBase = Base, MultiProcessTestCase = Base,
  MultiThreadedTestCase = Base, DTensorOpTestBase = Base, FSDPTest = Base,
  NUM_DEVICES = dt.world_size(), DEVICE_TYPE = "cpu",
  run_tests = builtin(run_tests, "run_tests"),
  main = builtin(run_tests, "main")}
for _, name in ipairs {"with_comms", "skip_if_lt_x_gpu", "requires_nccl",
  "requires_gloo", "skip_unless_torch_gpu", "parametrize", "skipIf",
  "skipUnless", "skip", "instantiate_parametrized_tests"} do
  cases[name] = builtin(plain, name)
end
local M = namespace(cases)
for _, path in ipairs {"torch.testing._internal.common_utils",
  "torch.testing._internal.common_distributed",
  "torch.testing._internal.common_fsdp", "unittest",
  "torch.testing._internal.distributed._tensor.common_dtensor"} do
  attrs.provide(path, M)
end

return M
