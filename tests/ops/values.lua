-- TEST: ranks={1} needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- Validator: identities between operators on plain tensors, so that a wrong
-- row (another kernel, another argument order) shows.

local failed = 0
local function same(a, b, what)
  local ok, err = pcall(dt.testing.assert_close, a, b)
  if not ok then
    failed = failed + 1
    print("FAILED " .. what .. ": " .. tostring(err))
  end
end

local op = dt.ops.aten
local x = dt.arange(1, 13):to(dt.float32):view(3, 4)
local y = x * 0.5 + 1

same(op.sub(x, y), op.add(x, op.neg(y)), "sub = add of neg")
same(op.div(x, y), op.mul(x, op.reciprocal(y)), "div = mul of reciprocal")
same(op.square(x), op.mul(x, x), "square")
same(op.sqrt(op.square(x)), x, "sqrt of square")
same(op.exp(op.log(x)), x, "exp of log")
same(op.t(op.t(x)), x, "t twice")
same(op.maximum(x, y), op.neg(op.minimum(op.neg(x), op.neg(y))), "maximum")
same(op.sum(x), op.sum(op.sum(x, {0}), {0}), "sum by dims")
same(op.mm(x, op.t(y)), op.matmul(x, op.t(y)), "mm = matmul")
same(op.cat({x, y}, 0):narrow(0, 3, 3), y, "cat and narrow")
same(op.softmax(x, 1), op.exp(op.log_softmax(x, 1)), "softmax")

if failed > 0 then os.exit(1) end
