-- TEST: ranks={1} needs=data
-- SPDX-License-Identifier: MIT
-- release_gradients.lua: the operators that a gradient calls, in order, in 2.13
-- and, where the second text is another one, in 2.15.  What PyTorch calls was
-- listed under both by a TorchDispatchMode around y.sum().backward(); detach,
-- which it calls where a gradient is kept, is left out, and so are the first two
-- calls, of sum's own gradient, and the names "default".

local T = require "tests.lua.lib.check"
local aten = dt.ops.aten

local function leaf(rows)
  local t = dt.tensor(rows)
  t.requires_grad = true
  return t
end
local function a() return leaf {1.0, 2, 3} end
local function b() return leaf {1.0, 3, 2} end
local function sq() return leaf {{1.0, 2, 3}, {4, 5, 6}, {7, 8, 9}} end

local cases = {
  {"maximum", function () return dt.maximum(a(), b()) end,
    "div.Scalar eq.Tensor where.self gt.Tensor masked_fill_.Scalar "
    .. "div.Scalar eq.Tensor where.self lt.Tensor masked_fill_.Scalar",
    "gt.Tensor div.Scalar eq.Tensor where.self masked_fill.Scalar lt.Tensor "
    .. "div.Scalar eq.Tensor where.self masked_fill.Scalar"},
  {"minimum", function () return dt.minimum(a(), b()) end,
    "div.Scalar eq.Tensor where.self lt.Tensor masked_fill_.Scalar "
    .. "div.Scalar eq.Tensor where.self gt.Tensor masked_fill_.Scalar",
    "lt.Tensor div.Scalar eq.Tensor where.self masked_fill.Scalar gt.Tensor "
    .. "div.Scalar eq.Tensor where.self masked_fill.Scalar"},
  {"fmax", function () return dt.fmax(a(), b()) end,
    "ge.Tensor isnan logical_or_ masked_fill.Scalar ge.Tensor isnan "
    .. "logical_or_ logical_not_ masked_fill.Scalar",
    "gt.Tensor isnan logical_or_ div.Scalar eq.Tensor where.self "
    .. "masked_fill.Scalar ge.Tensor isnan logical_or_ logical_not_ div.Scalar "
    .. "eq.Tensor where.self masked_fill.Scalar"},
  {"fmin", function () return dt.fmin(a(), b()) end,
    "le.Tensor isnan logical_or_ masked_fill.Scalar le.Tensor isnan "
    .. "logical_or_ logical_not_ masked_fill.Scalar",
    "lt.Tensor isnan logical_or_ div.Scalar eq.Tensor where.self "
    .. "masked_fill.Scalar le.Tensor isnan logical_or_ logical_not_ div.Scalar "
    .. "eq.Tensor where.self masked_fill.Scalar"},
  {"clamp", function () return a():clamp(1, 2) end,
    "scalar_tensor ge.Scalar le.Scalar logical_and_ where.self",
    "scalar_tensor gt.Scalar lt.Scalar logical_and_ where.self"},
  {"clamp_min", function () return dt.clamp_min(a(), 1) end,
    "scalar_tensor ge.Scalar where.self",
    "scalar_tensor gt.Scalar where.self"},
  {"clamp_max", function () return dt.clamp_max(a(), 2) end,
    "scalar_tensor le.Scalar where.self",
    "scalar_tensor lt.Scalar where.self"},
  {"clamp_t", function () return aten.clamp.Tensor(a(), b(), b() + 1) end,
    "scalar_tensor lt.Tensor lt.Tensor logical_and where.self gt.Tensor "
    .. "lt.Tensor logical_or where.self scalar_tensor ge.Tensor le.Tensor "
    .. "logical_and where.self",
    "lt.Tensor eq.Tensor le.Tensor logical_and lt.Tensor logical_and "
    .. "logical_or logical_not div.Scalar eq.Tensor where.self "
    .. "masked_fill.Scalar lt.Tensor ge.Tensor logical_and logical_or "
    .. "gt.Tensor logical_and logical_or logical_not div.Scalar eq.Tensor "
    .. "logical_and where.self masked_fill.Scalar lt.Tensor eq.Tensor "
    .. "eq.Tensor logical_or logical_and lt.Tensor gt.Tensor logical_or "
    .. "div.Scalar where.self masked_fill.Scalar"},
  {"clamp_min_t", function () return dt.clamp_min(a(), b()) end,
    "scalar_tensor lt.Tensor where.self scalar_tensor ge.Tensor where.self",
    "gt.Tensor div.Scalar eq.Tensor where.self masked_fill.Scalar lt.Tensor "
    .. "div.Scalar eq.Tensor where.self masked_fill.Scalar"},
  {"cummax", function () return (aten.cummax(a(), 0)) end,
    "zeros scatter_add",
    "new_zeros scatter_add"},
  {"cummin", function () return (aten.cummin(a(), 0)) end,
    "zeros scatter_add",
    "new_zeros scatter_add"},
  {"cumprod", function () return aten.cumprod(a(), 0) end,
    "mul.Tensor eq.Scalar zeros cumsum eq.Scalar bitwise_not "
    .. "masked_fill.Scalar flip cumsum flip div.Tensor where.self eq.Scalar "
    .. "max.dim zeros_like scatter_.value logical_and_ bitwise_not "
    .. "bitwise_and_.Tensor bitwise_not masked_fill.Scalar cumprod ne.Scalar "
    .. "masked_fill.Scalar sub.Scalar relu_ gather eq.Scalar "
    .. "masked_fill_.Scalar mul.Tensor sum.dim_IntList mul.Tensor where.self",
    "mul.Tensor eq.Scalar new_zeros cumsum eq.Scalar bitwise_not "
    .. "masked_fill.Scalar flip cumsum flip div.Tensor where.self eq.Scalar "
    .. "max.dim logical_and bitwise_not bitwise_and_.Tensor bitwise_not "
    .. "masked_fill.Scalar cumprod ne.Scalar masked_fill.Scalar sub.Scalar "
    .. "relu_ gather eq.Scalar masked_fill_.Scalar mul.Tensor sum.dim_IntList "
    .. "mul.Tensor where.self"},
  {"logcumsumexp", function () return aten.logcumsumexp(a(), 0) end,
    "scalar_tensor abs log gt.Scalar where.self lt.Scalar where.self "
    .. "sub.Tensor flip logcumsumexp flip add.Tensor exp sub.Tensor flip "
    .. "logcumsumexp flip add.Tensor exp sub.Tensor"},
  {"cumsum", function () return a():cumsum(0) end,
    "flip cumsum flip"},
  {"max_dim", function () return (aten.max.dim(sq(), 1)) end,
    "unsqueeze unsqueeze new_zeros scatter.src"},
  {"sort", function () return (sq():sort(1)) end,
    "new_zeros scatter.src"},
  {"topk", function () return (sq():topk(2, 1)) end,
    "new_zeros scatter.src"},
  {"kthvalue", function () return (aten.kthvalue(sq(), 2, 1)) end,
    "unsqueeze unsqueeze new_zeros scatter.src"},
  {"median", function () return (aten.median.dim(sq(), 1)) end,
    "unsqueeze unsqueeze new_zeros scatter.src"},
  {"mode", function () return (aten.mode(sq(), 1)) end,
    "unsqueeze unsqueeze new_zeros scatter.src"},
  {"max", function () return sq():max() end,
    "isnan isnan logical_and eq.Tensor logical_or_ sum div.Tensor "
    .. "mul.Tensor"},
  {"amax", function () return sq():amax(1) end,
    "view eq.Tensor view sum.dim_IntList div.Tensor mul.Tensor"},
  {"abs", function () return a():abs() end,
    "sgn mul.Tensor"},
  {"diagonal", function () return sq():diagonal() end,
    "diagonal_backward"},
  {"slice", function () return sq():narrow(1, 1, 2) end,
    "slice_backward"},
  {"select", function () return sq():select(0, 1) end,
    "select_backward"},
  {"unfold", function () return a():unfold(0, 2, 1) end,
    "unfold_backward"},
  {"gather", function () return sq():gather(1, dt.tensor {{0}, {1}, {2}}) end,
    "new_zeros scatter_add"},
  {"index", function () return aten.index.Tensor(sq(), {dt.tensor {0, 2}}) end,
    "new_zeros index_put"},
  {"prod", function () return a():prod() end,
    "view ones slice.Tensor cat cumprod slice.Tensor flip cat cumprod flip "
    .. "mul.Tensor mul.Tensor view"},
  {"prod_dim", function () return sq():prod(1) end,
    "unsqueeze unsqueeze ones slice.Tensor cat cumprod slice.Tensor flip "
    .. "cat cumprod flip mul.Tensor mul.Tensor"},
  {"addcdiv", function () return aten.addcdiv(a(), a(), b()) end,
    "empty_like fill_.Scalar div_.Tensor mul.Tensor mul.Tensor mul.Scalar "
    .. "div.Tensor neg mul.Tensor new_empty_strided copy_"},
  {"addcmul", function () return aten.addcmul(a(), a(), b()) end,
    "mul.Scalar mul.Tensor mul.Scalar mul.Tensor new_empty_strided copy_"},
  {"lerp", function () return aten.lerp.Scalar(a(), b(), 0.3) end,
    "mul.Scalar mul.Scalar"},
  {"where", function () return dt.where(dt.tensor {true, false, true}, a(), b()) end,
    "scalar_tensor where.self scalar_tensor where.self"},
  {"pow", function () return a() ^ b() end,
    "ge.Scalar eq.Scalar logical_and log mul.Tensor scalar_tensor "
    .. "where.self mul.Tensor sub.Scalar pow.Tensor_Tensor mul.Tensor "
    .. "mul.Tensor scalar_tensor eq.Scalar where.self"},
  {"xlogy", function () return aten.xlogy(a(), b()) end,
    "mul.Tensor div.Tensor xlogy.Tensor le.Scalar eq.Scalar "
    .. "bitwise_and.Tensor masked_fill.Scalar"},
  {"hypot", function () return aten.hypot(a(), b()) end,
    "mul.Tensor div.Tensor mul.Tensor div.Tensor"},
  {"atan2", function () return aten.atan2(a(), b()) end,
    "mul.Tensor mul.Tensor add.Tensor reciprocal eq.Scalar "
    .. "masked_fill.Scalar mul.Tensor mul.Tensor neg mul.Tensor mul.Tensor"},
  {"logaddexp", function () return aten.logaddexp(a(), b()) end,
    "sub.Tensor exp add.Scalar div.Tensor sub.Tensor exp add.Scalar "
    .. "div.Tensor"},
  {"sinc", function () return aten.sinc(a()) end,
    "mul.Scalar mul.Tensor mul.Scalar sin cos mul.Tensor sub.Tensor "
    .. "div.Tensor mul.Tensor scalar_tensor eq.Scalar where.self"},
  {"logsumexp", function () return sq():logsumexp({1}) end,
    "unsqueeze unsqueeze sub.Tensor exp mul.Tensor"},
  {"norm", function () return aten.norm.ScalarOpt_dim(sq(), 2, {1}) end,
    "unsqueeze unsqueeze div.Tensor eq.Scalar masked_fill_.Scalar "
    .. "mul.Tensor"},
  {"std", function () return sq():std(1) end,
    "mul.Scalar div.Tensor eq.Scalar masked_fill_.Scalar unsqueeze mean.dim "
    .. "sub.Tensor mul.Scalar mul.Tensor"},
  {"var", function () return sq():var(1) end,
    "unsqueeze mean.dim sub.Tensor mul.Scalar mul.Tensor"},
}

local function backward_calls(f)
  local y = f():sum()
  local before = #dt.debug.history()
  y:backward()
  local list, all = {}, dt.debug.history()
  for i = before + 1, #all do
    local name = all[i].op:gsub("^aten%.", ""):gsub("%.default$", "")
    if name ~= "detach" then list[#list + 1] = name end
  end
  return table.concat(list, " ")
end

for _, release in ipairs {"2.13", "2.15"} do
  dt._set_profile(release)
  for _, c in ipairs(cases) do
    local want = release == "2.13" and c[3] or c[4] or c[3]
    T.eq(backward_calls(c[2]), ("ones_like expand " .. want):gsub(" $", ""),
      c[1] .. " in " .. release)
  end
end
T.finish()
