# SPDX-License-Identifier: MIT
# Calls that do not fit: of operators, functions and methods, by class and the
# first line; and keywords where functions of torch.nn.functional take them.
import torch
import torch.nn.functional as F

x = torch.ones(2, 3)
aten = torch.ops.aten


def c(name, f):
    try:
        r = f()
        print(name, list(r.shape))
    except Exception as e:
        print(name, type(e).__name__, str(e).split("\n")[0])


c("packet", lambda: aten.mm(x, 3))
c("packet kw", lambda: aten.mm(x, foo=x))
c("overload", lambda: aten.mm.default(x))
c("twice", lambda: aten.sum.dim_IntList(x, [1], dim=1))
c("places", lambda: aten.new_ones.default(x, [1, 1], torch.float32))
c("many", lambda: aten.mm.default(x, x, x))
c("None", lambda: aten.mm.default(None, x))
c("None of many", lambda: aten.mul(None, x))
c("dtype for a tensor", lambda: aten.mm.default(x, torch.float32))
c("tuple for a tensor", lambda: aten.mm.default(x, (1, 2)))
c("list for a tensor", lambda: aten.mm.default(x, [1, 2]))
c("listing", lambda: torch.fmod(x, [1]))
c("listing tuple", lambda: torch.fmod(x, (1,)))
c("method out", lambda: x.fmod(x, out=x))
c("method without arguments", lambda: x.ceil(out=x))
c("foreach", lambda: torch._foreach_neg(x))
c("linear", lambda: F.linear(x))
c("linear list", lambda: F.linear(x, [x]))
c("conv2d", lambda: F.conv2d(x, True))
c("layer_norm", lambda: F.layer_norm(x))
c("layer_norm []", lambda: F.layer_norm(x, []))
c("relu", lambda: F.relu(x, foo=1))
c("mse", lambda: F.mse_loss(x))
c("twice", lambda: F.kl_div(x, x, input=x))
c("pool", lambda: F.max_pool2d(x, foo=1))
c("softmax", lambda: F.softmax(x, x))
c("tanh", lambda: F.tanh(x, 3, x))
c("glu", lambda: F.glu(x, 1, 2))
c("gelu", lambda: F.gelu(x, True))
c("embedding", lambda: F.embedding(input=torch.tensor([0, 1]), weight=x))
c("mse", lambda: F.mse_loss(target=x, input=x))
c("linear", lambda: F.linear(input=x, weight=x))
c("softmax", lambda: F.softmax(x, 0, 3, torch.float64))
c("conv1d", lambda: F.conv1d(torch.ones(1, 1, 4), bias=None, stride=2,
                             weight=torch.ones(1, 1, 2)))
c("avg_pool2d", lambda: F.avg_pool2d(torch.ones(1, 1, 4, 4), 2, None))
c("sdpa", lambda: F.scaled_dot_product_attention(
    query=torch.ones(1, 2, 2), key=torch.ones(1, 2, 2),
    value=torch.ones(1, 2, 2)))

# What is no tensor, or no number, where one must be.
i = torch.tensor([0, 1])
c("mse int", lambda: F.mse_loss(3, x))
c("mse None", lambda: F.mse_loss(x, None))
c("huber weight", lambda: F.huber_loss(x, x, weight=3))
c("softmax", lambda: F.softmax(None, 0))
c("log_softmax", lambda: F.log_softmax("a", 1))
c("dropout", lambda: F.dropout(x, "a"))
c("dropout tensor", lambda: F.dropout(x, x))
c("hardtanh", lambda: F.hardtanh(x, 0.0, "a"))
c("embedding", lambda: F.embedding(i, 3))
c("embedding ids", lambda: F.embedding(3, x))
c("embedding 0-d", lambda: F.embedding(i, torch.tensor(1.0), 0))
c("embedding_bag", lambda: F.embedding_bag(i, x, 3))
c("sdpa", lambda: F.scaled_dot_product_attention(x, 3, x))
c("group_norm", lambda: F.group_norm(x, True))
c("interpolate", lambda: F.interpolate(3, 2))
c("gaussian", lambda: F.gaussian_nll_loss(x, x, "a"))
c("multi_margin", lambda: F.multi_margin_loss(x, i, weight=1))
c("triplet", lambda: F.triplet_margin_loss(x, x, x, "a"))

# Margins by place.
y = x * 2
print(F.triplet_margin_loss(x, y, y, 0.5).item(),
      F.margin_ranking_loss(x[0], y[0], x[0], 0.5).item(),
      F.multi_margin_loss(x, i, 2, 0.5).item())
