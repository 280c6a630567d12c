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
same(op.concat({x, y}, 1), op.cat({x, y}, 1), "concat = cat")
same(op.special_expit(x), op.sigmoid(x), "special_expit = sigmoid")
same(op.swapaxes_(op.clone(x), 0, 1), op.t(x), "swapaxes_ = t")
same(op.quantile(x, 0.5, 1), op.quantile(x, dt.tensor({0.5}), 1)[0],
  "quantile by a number and by a tensor")
same(op.quantile(x, dt.tensor({0.0, 1.0})), dt.stack({x:min(), x:max()}),
  "quantiles at the ends")
same(op.nanquantile(x, 0.25, 0, true), op.quantile(x, 0.25, 0, true),
  "nanquantile without NaN")
same((op.embedding_bag(x, dt.tensor({2, 0, 1}), dt.tensor({0, 2}))),
  dt.stack({x[2] + x[0], x[1]}), "embedding_bag sums rows")
same((op.embedding_bag(x, dt.tensor({2, 0, 1}), dt.tensor({0, 2}), false, 2)),
  dt.stack({op.maximum(x[2], x[0]), x[1]}), "embedding_bag, largest")
same(op.fill_diagonal_(dt.zeros(3, 3), 1), dt.eye(3), "fill_diagonal_ = eye")
same(op.fill_diagonal_(dt.zeros(7, 3), 1, true):sum(0), dt.tensor({2.0, 2, 2}),
  "fill_diagonal_ goes on below")
same(op.norm_except_dim(x:view(3, 2, 2), 2, 1):flatten(),
  op.linalg_vector_norm(x:view(3, 2, 2), 2, {0, 2}), "norm_except_dim")
same(op._weight_norm(x, op.norm_except_dim(x, 2, 0)), x, "_weight_norm")
same(op.masked_scatter_(dt.zeros(3, 4), x:gt(5), y), op.masked_scatter(
  dt.zeros(3, 4), x:gt(5), y), "masked_scatter_")
same(op.softmax(x, 1), op.exp(op.log_softmax(x, 1)), "softmax")

-- random_(from, None) draws the last number, too, also the greatest of all.
for _, case in ipairs {{"uint8", 255}, {"int64", math.maxinteger}} do
  local drawn = dt.empty(200, {dtype = dt[case[1]]})
  op.random_["from"](drawn, case[2], dt.None)
  same(drawn, dt.full({200}, case[2], {dtype = dt[case[1]]}),
    "random_ from the last number of " .. case[1])
end

if failed > 0 then os.exit(1) end
