-- TEST: ranks=4 world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- context_parallel: buffers cut and restored; ring attention on the cuda
-- profile equals one device, forward and backward, both rotations.

local T = require "tests.lua.lib.seeds"
local check = T.check
local cp = require "dt.cp"
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"cp"}})
local fill = dt.testing.fill
local close = dt.testing.assert_close

local function qkv()
  return fill({2, 2, 16, 4}, 9, 4, 4), fill({2, 2, 16, 4}, 7, 3, 4),
    fill({2, 2, 16, 4}, 11, 5, 8)
end

-- head-tail order: rank r holds chunks r and 7 - r
local b = dt.arange(16)
dt.context_parallel(mesh, {buffers = {b}, buffer_seq_dims = {0}}, function ()
  local r = dt.rank()
  T.same_numbers(b:tolist(), {2 * r, 2 * r + 1, 14 - 2 * r, 15 - 2 * r},
    "head and tail")
  local whole = cp.context_parallel_unshard(mesh, {b}, {0})[1]
  T.same_numbers(whole:tolist(), dt.arange(16):tolist(), "unshard")
end)
T.same_numbers(b:tolist(), dt.arange(16):tolist(), "restored")

local ok, err = pcall(dt.context_parallel, mesh, {buffers = {b},
  buffer_seq_dims = {}})
check(not ok and err.class == "ValueError", "lengths differ")
ok, err = pcall(cp.set_rotate_method, "bananas")
check(not ok and err.class == "NotImplementedError", "rotation")

-- one device
local q, k, v = qkv()
for _, t in ipairs {q, k, v} do t:requires_grad_() end
local want = F.scaled_dot_product_attention(q, k, v, {is_causal = true})
want:pow(2):sum():backward()

local function ring(method)
  cp.set_rotate_method(method)
  local a, c, d = qkv()
  local dy = want:detach()
  dt.context_parallel(mesh, {buffers = {a, c, d, dy},
    buffer_seq_dims = {2, 2, 2, 2}}, function ()
      local l = {}
      for i, t in ipairs {a, c, d} do l[i] = t:clone():requires_grad_() end
      local out, _, colls = T.run(function ()
        return F.scaled_dot_product_attention(l[1], l[2], l[3],
          {is_causal = true})
      end)
      check(#colls == (method == "allgather" and 1 or 3), method, #colls)
      close(out:detach(), dy, {atol = 1e-5})
      out:pow(2):sum():backward()
      local whole = cp.context_parallel_unshard(mesh, {l[1].grad, l[2].grad,
        l[3].grad}, {2, 2, 2})
      for i, t in ipairs {q, k, v} do
        close(whole[i], t.grad, {atol = 1e-5, rtol = 1e-4})
      end
    end)
end
-- The per-document balancer: PyTorch's orders, by document and by rank.
local function document_order(release, lengths, n, restore)
  dt._set_profile(release)
  local t = cp._PerDocumentHeadTailLoadBalancer(lengths, n, "cpu")
    :_generate_indices(restore)
  local rows = {}
  for i = 0, t:size(0) - 1 do
    local row = {}
    for k = 0, t:size(1) - 1 do row[k + 1] = ("%d"):format(t[{i, k}]:item()) end
    rows[i + 1] = table.concat(row, " ")
  end
  return table.concat(rows, " / ")
end
for _, case in ipairs {
  {"2.13", {{8, 4, 4}}, "0 1 6 7 2 3 4 5 8 11 9 10 12 15 13 14"},
  {"2.15", {{8, 4, 4}}, "0 1 6 7 8 11 12 15 2 3 4 5 9 10 13 14"},
  {"2.13", {{4, 4}, {8}}, "0 3 1 2 4 7 5 6 / 0 1 6 7 2 3 4 5"},
  {"2.15", {{4, 4}, {8}}, "0 3 4 7 1 2 5 6 / 0 1 6 7 2 3 4 5"},
  {"2.15", {{4, 4}, {8}}, "0 4 5 1 2 6 7 3 / 0 1 4 5 6 7 2 3", true},
} do
  local got = document_order(case[1], case[2], 2, case[4])
  check(got == case[3], case[1], got)
end
check(not pcall(document_order, "2.15", {{12, 4}}, 4))

dt._set_profile(nil, "cuda")
ring "allgather"
ring "alltoall"
T.finish()
