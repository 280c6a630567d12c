-- TEST: ranks={1} tags=quick
-- SPDX-License-Identifier: MIT
-- Keywords come in the order of a Lua table, which differs from run to run: a
-- call by keywords is the call by place, whatever the operator does with its
-- tensors, for plain and for distributed ones.
local T = require "tests.lua.lib.check"

local mesh = dt.init_device_mesh("cpu", {1})
local a, b = dt.arange(6):float():reshape(2, 3), dt.full({2, 3}, 2.0)
local w, idx = dt.arange(9):float():reshape(3, 3), dt.tensor {{1, 0, 1}}

-- `plain`: the operator has no strategy.
local function both(name, names, args, plain)
  local f = dt[name]
  local wanted = tostring(f(table.unpack(args)))
  for _, place in ipairs {false, not plain and "R" or nil} do
    local kw = {}
    for i, key in ipairs(names) do
      local v = args[i]
      if place and dt.is_tensor(v) then
        v = dt.distribute_tensor(v, mesh, place)
      end
      kw[key] = v
    end
    local got = f(kw)
    if place then got = got:full_tensor() end
    T.eq(tostring(got), wanted, name .. (place and " distributed" or ""))
  end
end

both("polar", {"abs", "angle"}, {a, b})
both("sub", {"input", "other"}, {a, b})
both("div", {"input", "other"}, {a, b})
both("pow", {"input", "exponent"}, {a, b})
both("mm", {"input", "mat2"}, {a, w})
both("where", {"condition", "input", "other"}, {a:gt(b), a, b})
both("addmm", {"input", "mat1", "mat2"}, {b, a, w})
both("addcdiv", {"input", "tensor1", "tensor2"}, {a, b, b + 1})
both("lerp", {"input", "end", "weight"}, {a, b, a / 10})
both("gather", {"input", "dim", "index"}, {a, 0, idx})
both("scatter_add", {"input", "dim", "index", "src"}, {a, 0, idx, b})
both("index_select", {"input", "dim", "index"}, {a, 1, dt.tensor {2, 0}})
both("atan2", {"input", "other"}, {a, b})
both("maximum", {"input", "other"}, {a, b})
both("searchsorted", {"sorted_sequence", "input"}, {a, b}, true)
both("bucketize", {"input", "boundaries"}, {b, dt.tensor {0.0, 1.0, 3.0}})
both("masked_select", {"input", "mask"}, {a, a:gt(2)}, true)
both("ldexp", {"input", "other"}, {a, b})
both("cross", {"input", "other"}, {a, w:narrow(0, 1, 2)})
both("outer", {"input", "vec2"}, {a:select(0, 1), b:select(0, 0)})
T.finish("keyword order")
