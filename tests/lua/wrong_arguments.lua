-- TEST: ranks=1 needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- Every function of torch.nn.functional, called with arguments of wrong types:
-- what it says is never Lua's own.

local T = require "tests.lua.lib.check"
local F = require "dt.functional"

local x, ids = dt.ones(4, 3), dt.tensor({0, 1, 2, 1})
local wrong = {dt.None, 3, 0.5, "mean", {2, 2}, {}, print, dt.float32, x, ids}
-- Not of PyTorch: helpers of other modules.
local own = {_additive_mask = true}

local function raw(f, ...)
  local ok, e = pcall(f, ...)
  if ok then return nil end
  local text = type(e) == "table" and tostring(e.message or e) or tostring(e)
  return (text:find("attempt to") or text:find("bad argument #")) and text
end

local count = 0
for name, f in pairs(F) do
  if type(f) == "function" and not own[name] then
    local said = raw(f)
    for _, v in ipairs(wrong) do
      said = said or raw(f, v) or raw(f, x, v) or raw(f, v, x)
        or raw(f, x, x, v) or raw(f, x, ids, v) or raw(f, x, x, x, v)
    end
    count = count + 1
    T.eq(said, nil, name)
  end
end
T.eq(count > 100, true, "functions there are")
T.finish("wrong arguments")
