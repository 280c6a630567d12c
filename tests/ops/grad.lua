-- TEST: ranks={1} needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- Validator: gradients against central differences, along a random direction
-- of each input, in f64.  Tolerance 1e-5: the step is 1e-6, so the error of
-- the difference is near 1e-9 / 1e-6 of rounding plus 1e-12 of curvature.

local ok, bad = 0, 0
local function fd(name, f, shapes)
  local ins = {}
  for i, s in ipairs(shapes) do
    dt.manual_seed(i)
    ins[i] = dt.rand(s, {dtype=dt.float64}):add(0.2):detach():requires_grad_()
  end
  local good, err = pcall(function()
    local out = f(table.unpack(ins)):sum()
    out:backward()
    for i, x in ipairs(ins) do
      local eps = 1e-6
      local d = dt.rand(shapes[i], {dtype=dt.float64})
      local p, m = {table.unpack(ins)}, {table.unpack(ins)}
      for k = 1, #ins do p[k] = ins[k]:detach(); m[k] = ins[k]:detach() end
      p[i] = p[i] + d * eps; m[i] = m[i] - d * eps
      local num = (f(table.unpack(p)):sum():item() - f(table.unpack(m)):sum():item()) / (2 * eps)
      local ana = (x.grad * d):sum():item()
      if math.abs(num - ana) > 1e-5 * (1 + math.abs(num)) then error(("input %d: %g vs %g"):format(i, num, ana)) end
    end
  end)
  if good then ok = ok + 1 else bad = bad + 1; print("FAILED", name, tostring(err)) end
end
local o = dt.ops.aten
for _, n in ipairs{"exp","log","sqrt","rsqrt","sin","cos","tanh","sigmoid","relu","gelu","silu","erf","neg","abs","reciprocal","square","expm1","log1p","softplus","elu","leaky_relu"} do fd(n, function(x) return o[n](x) end, {{3,4}}) end
for _, n in ipairs{"add","sub","mul","div","pow","maximum","minimum","remainder"} do fd(n, function(x, y) return o[n](x, y) end, {{3,4},{4}}) end
fd("mm", function(a,b) return o.mm(a,b) * o.mm(a,b) end, {{3,4},{4,2}})
fd("bmm", function(a,b) return o.bmm(a,b) end, {{2,3,4},{2,4,2}})
fd("addmm", function(c,a,b) return o.square(o.addmm(c,a,b)) end, {{2},{3,4},{4,2}})
fd("linear", function(a,w,b) return o.square(o.linear(a,w,b)) end, {{2,3,4},{5,4},{5}})
fd("matmul", function(a,b) return o.square(o.matmul(a,b)) end, {{2,1,3,4},{2,4,5}})
for _, n in ipairs{"sum","mean","prod","amax","max","std","var","logsumexp"} do fd(n, function(x) if n=="logsumexp" then return o.logsumexp(x,{1}) end return o[n](x) end, {{3,4}}) end
for _, n in ipairs{"softmax","log_softmax","cumsum","cumprod"} do fd(n, function(x) return o.square(o[n](x,1)) end, {{3,4}}) end
fd("ln", function(x,w,b) return o.square(o.layer_norm(x,{4},w,b)) end, {{3,4},{4},{4}})
fd("rms", function(x,w) return o.square(o.rms_norm(x,{4},w)) end, {{3,4},{4}})
fd("cat", function(x,y) return o.square(o.cat({x,y},1)) end, {{3,4},{3,2}})
fd("stack", function(x,y) return o.square(o.stack({x,y},1)) end, {{3,4},{3,4}})
fd("slice", function(x) return o.square(o.slice(x,1,1,4,2)) end, {{3,4}})
fd("sel", function(x) return o.square(o.select(x,1,-1)) end, {{3,4}})
fd("repeat", function(x) return o.square(o["repeat"](x,{2,1,3})) end, {{3,4}})
fd("mse", function(x,y) return o.mse_loss(x,y) end, {{3,4},{3,4}})
fd("l1", function(x,y) return o.l1_loss(x,y) end, {{3,4},{3,4}})
fd("norm", function(x) return o.linalg_vector_norm(x,3,{1}) end, {{3,4}})
fd("sdpa", function(q,k,v) return o.square(o.scaled_dot_product_attention(q,k,v)) end, {{2,2,4,4},{2,2,4,4},{2,2,4,4}})
fd("lerp", function(a,b,c) return o.lerp(a,b,c) end, {{3},{3},{3}})
fd("addcdiv", function(a,b,c) return o.addcdiv(a,b,c) end, {{3},{3},{3}})
fd("ce", function(x) return o.cross_entropy_loss(x, dt.tensor({1,0,2})) end, {{3,4}})
print(ok .. " gradients agree")
if bad > 0 or ok == 0 then os.exit(1) end
