# SPDX-License-Identifier: MIT
# Arguments of modules by name, with Python's refusals; functions put on classes
# of the library; optimizers of named parameters.
import types
import torch
import torch.nn as nn
def r(n, f):
    try:
        v = f(); print(n, getattr(v, "shape", v) if not isinstance(v, tuple) else [x.shape for x in v if isinstance(x, torch.Tensor)])
    except Exception as e: print(n, type(e).__name__, str(e)[:150])
x = torch.ones(2, 3); T = torch.tensor([0, 1])
r("lin", lambda: nn.Linear(3, 2)(input=x))
r("ln", lambda: nn.LayerNorm(3)(input=x))
r("rms", lambda: nn.RMSNorm(3)(x=x))
r("emb", lambda: nn.Embedding(4, 2)(input=T))
r("ce", lambda: nn.CrossEntropyLoss()(input=x, target=T))
r("ce2", lambda: nn.CrossEntropyLoss()(x, target=T))
r("mse", lambda: nn.MSELoss()(input=x, target=x))
r("relu", lambda: nn.ReLU()(input=x))
r("seq", lambda: nn.Sequential(nn.ReLU())(input=x))
r("bil", lambda: nn.Bilinear(3, 3, 2)(input1=x, input2=x))
r("cos", lambda: nn.CosineSimilarity()(x1=x, x2=x))
r("trip", lambda: nn.TripletMarginLoss()(anchor=x, positive=x, negative=x))
r("mha", lambda: nn.MultiheadAttention(4, 2)(query=torch.ones(2,1,4), key=torch.ones(2,1,4), value=torch.ones(2,1,4), need_weights=False))
r("lstm", lambda: nn.LSTM(3, 4)(input=x.unsqueeze(0))[0])
r("gru", lambda: nn.GRUCell(3, 4)(input=x, hx=torch.zeros(2, 4)))
r("tel", lambda: nn.TransformerEncoderLayer(4, 2)(src=torch.ones(2,1,4), src_mask=None))
r("drop", lambda: nn.Dropout(0.)(input=x))
r("conv", lambda: nn.Conv1d(2, 2, 1)(input=x))
r("bag", lambda: nn.EmbeddingBag(4, 2)(input=T, offsets=torch.tensor([0])))
r("bn", lambda: nn.BatchNorm1d(3)(input=x))
r("pois", lambda: nn.PoissonNLLLoss()(log_input=x, target=x))
r("gnll", lambda: nn.GaussianNLLLoss()(input=x, target=x, var=x))
r("ctc", lambda: nn.CTCLoss()(log_probs=torch.zeros(2,1,3), targets=torch.tensor([[1]]), input_lengths=torch.tensor([2]), target_lengths=torch.tensor([1])))
r("soft", lambda: nn.Softmax(dim=-1)(input=x))
r("pool", lambda: nn.MaxPool1d(1)(input=x))
r("bad", lambda: nn.Linear(3, 2)(x=x))
r("bad2", lambda: nn.Linear(3, 2)(x, foo=1))
r("none", lambda: nn.Linear(3, 2)())
r("twice", lambda: nn.Linear(3, 2)(x, input=x))
r("many", lambda: nn.Linear(3, 2)(x, x))
orig = nn.Linear.forward
nn.Linear.forward = lambda self, x: orig(self, x) * 2
l = nn.Linear(2, 2, bias=False)
with torch.no_grad(): l.weight.fill_(1)
print(l(torch.ones(1, 2)))
class My(nn.Linear):
    def forward(self, x): return super().forward(x) + 1
m = My(2, 2, bias=False)
with torch.no_grad(): m.weight.fill_(1)
print(m(torch.ones(1, 2)))
nn.Linear.forward = orig
print(l(torch.ones(1, 2)))
nn.Module.count = property(lambda self: sum(p.numel() for p in self.parameters()))
print(l.count, nn.Sequential(l).count)
nn.Linear.tag = "x"; print(l.tag, nn.Linear.tag)
def reset(self): return "reset"
l.reset_parameters = reset.__get__(l); print(l.reset_parameters())
l.forward = types.MethodType(lambda self, x: x + self.in_features, l); print(l(torch.ones(1)))
print(isinstance(l, nn.Linear), hasattr(nn.Linear, "tag"))
m = nn.Linear(2, 2)


def q(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, str(e)[:200])
o = torch.optim.SGD(m.named_parameters(), lr=0.1)
print([(k, v if k != "params" else len(v)) for k, v in o.param_groups[0].items()])
print(o.state_dict())
m(torch.ones(1, 2)).sum().backward(); o.step()
o = torch.optim.AdamW([{"params": [("w", m.weight)], "lr": 0.5}, {"params": [("b", m.bias)]}], lr=0.1)
print([g["param_names"] for g in o.param_groups], [g["lr"] for g in o.param_groups])
q(lambda: torch.optim.SGD([("w", m.weight), m.bias], lr=0.1))
q(lambda: torch.optim.SGD([m.weight, ("b", m.bias)], lr=0.1))
q(lambda: torch.optim.SGD([{"params": [("w", m.weight)]}, {"params": [m.bias]}], lr=0.1))
q(lambda: torch.optim.SGD([("w", 3)], lr=0.1))
q(lambda: torch.optim.SGD([], lr=0.1))
o2 = torch.optim.SGD(m.parameters(), lr=0.2)
q(lambda: o2.load_state_dict(torch.optim.SGD(m.named_parameters(), lr=0.7).state_dict()))
print(o2.param_groups[0]["lr"], "param_names" in o2.param_groups[0])
o3 = torch.optim.SGD(m.named_parameters(), lr=0.2); o3.load_state_dict(o2.state_dict()); print(o3.param_groups[0].get("param_names"))
o3.add_param_group({"params": [("x", nn.Parameter(torch.ones(1)))]}); print(o3.param_groups[1]["param_names"])
q(lambda: torch.optim.SGD({"a": m.weight}, lr=0.1))
q(lambda: torch.optim.SGD(m.weight, lr=0.1))
print(torch.optim.SGD(m.named_parameters(), lr=0.1))
class Plain(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))
    @torch.no_grad()
    def step(self, closure=None):
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is not None: p.add_(p.grad, alpha=-g["lr"])
net = nn.Linear(2, 2)
o = Plain(net.named_parameters())
print({k: (v if k != "params" else len(v)) for k, v in o.param_groups[0].items()})
net(torch.ones(1, 2)).sum().backward(); o.step()
try: Plain([("w", net.weight), net.bias])
except Exception as e: print(type(e).__name__, e)
