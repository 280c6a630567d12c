-- TEST: ranks=2 needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- What a program of Python says in its line for inputs that no variable holds
-- is what the fixes of an error say: they can be typed.

local T = require "tests.lua.lib.check"
local python = require "torch"

local head = [[
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import distribute_tensor, DTensor, Shard, Replicate
mesh = init_device_mesh("cpu", (2,))
d = distribute_tensor(torch.ones(4, 4), mesh, [Shard(0)])
class Box:
    def __init__(self):
        self.bias = torch.ones(4)
        self.rows = [torch.ones(4), torch.ones(4)]
    def read(self):
        raise ValueError("a property is not read")
    unread = property(read)
box = Box()
table = nn.ParameterList([nn.Parameter(torch.ones(4))])
batch = {"x": torch.ones(4, 4), "n": 2}
def half(t):
    return t * 0.5
]]

-- {line, what fixes name, what they must not name}
local rows = {
  {"y = d + box.bias", "distribute_tensor(box.bias, mesh"},
  {"q = distribute_tensor(torch.ones(2, 4, 6, 8), mesh, [Shard(1)])\n"
    .. "mask = torch.ones(6, 6, dtype=torch.bool).tril()\n"
    .. "F.scaled_dot_product_attention(q, q, q, attn_mask=mask)",
    "inside `with sdpa_kernel(SDPBackend.MATH):`",
    "q.full_tensor(), q.full_tensor()"},
  {"plain = torch.ones(4, 4)\ny = torch.addmm(plain, d, plain)",
    "distribute_tensor(plain, mesh, [Replicate()])",
    "; distribute_tensor(plain"},
  {"y = d + box.rows[1]", "distribute_tensor(box.rows[1], mesh"},
  {"y = d * box.bias[:2].repeat(2)", 
    "distribute_tensor(box.bias[:2].repeat(2), mesh"},
  {"y = d @ batch[\"x\"]", "distribute_tensor(batch[\"x\"], mesh"},
  {"y = d + table[0]", "distribute_tensor(table[0], mesh"},
  {"y = torch.cat([batch[\"x\"], d])", "distribute_tensor(batch[\"x\"], mesh"},
  {"parts = [d, torch.ones(4, 4)]\ny = torch.stack(parts)",
    "distribute_tensor(parts[1], mesh"},
  {"y = F.kl_div(d.log(), F.softmax(batch[\"x\"] / 2, dim=-1))",
    "distribute_tensor(F.softmax(batch[\"x\"] / 2, dim=-1), mesh"},
  {"y = half(d) + torch.ones(4, 4).tril()",
    "distribute_tensor(torch.ones(4, 4).tril(), mesh"},
  {"y = half(d) + torch.ones(4, 4).tril()", "half(d).full_tensor()"},
  {"y = (d + 1) * (torch.ones(4) + 2)",
    "distribute_tensor((torch.ones(4) + 2), mesh"},
  {"y = (d + 1) * (torch.ones(4) + 2)", "(d + 1).full_tensor()"},
  {"box.bias += d.sum(0)", "distribute_tensor(box.bias, mesh"},
  {"y = d.masked_fill(torch.ones(4, 4).triu(1).bool(), 0)",
    "distribute_tensor(torch.ones(4, 4).triu(1).bool(), mesh"},
  -- What is not known has its argument's name: two products, one inside half().
  {"y = half(torch.ones(4)) * half(d)", "distribute_tensor(input, mesh",
    "distribute_tensor(half"},
  {"y = d + getattr(box, \"bias\") if box else box.unread",
    "distribute_tensor(getattr(box, \"bias\"), mesh"},
  -- What functions of the line made of a tensor is whole where that is.
  {"y = torch.einsum(\"ij,jk->ik\", d, batch[\"x\"].t())",
    "distribute_tensor(batch[\"x\"], mesh"},
  {"ids = torch.arange(4)\ny = F.cross_entropy(d, ids)", "d.full_tensor()"},
  {"w = torch.ones(4, 4)\ny = F.linear(d, w)",
    "distribute_tensor(w, mesh, [Replicate()])", "(mat2, mesh"},
  -- A variable that still holds a parameter is not the optimizer's name for it.
  {[[
net = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
net[0].weight = nn.Parameter(distribute_tensor(net[0].weight.data, mesh, [Shard(0)]))
for p in net.parameters():
    p.grad = torch.ones_like(p)
opt = torch.optim.SGD(net.parameters(), lr=0.1, foreach=True)
opt.step()]], "foreach=False (and no fused=True) where the optimizer is made",
    "distribute_tensor(p,"},
  {"net = nn.Linear(4, 4, bias=False)\ny = net(d)",
    "net.weight = nn.Parameter(distribute_tensor(net.weight, mesh"},
  -- A plain tensor that differs makes each rank's result its own.
  {"own = torch.ones(4, 4) * torch.distributed.get_rank()\ny = d + own",
    "x d.full_tensor()"},
}

local function report(line)
  local env = python.environment("operands.py")
  python.run(head, env, "operands_head.py")
  local ok, e = pcall(python.run, line, env, "operands.py")
  if ok then return "no error" end
  return type(e) == "table" and e.autopsy or tostring(e)
end

for i, row in ipairs(rows) do
  local said = report(row[1])
  T.has(said, row[2], ("%d: %s"):format(i, row[1]))
  if row[3] then
    T.ok(not said:find(row[3], 1, true), ("%d does not say %s"):format(i, row[3]))
  end
end

T.finish()
