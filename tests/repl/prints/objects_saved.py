# SPDX-License-Identifier: MIT
# What torch.save writes of a program's own objects, and who may load it; the
# defaults of an optimizer; torch.range.
import argparse
import collections
import io
import os
import tempfile
import warnings

import torch
import torch.nn as nn

warnings.simplefilter("ignore")


class Config:
    def __init__(self, width):
        self.width = width


class Table(dict):
    class Row:
        pass


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.config = Config(3)
        self.layer = nn.Linear(3, 2)

    def forward(self, x):
        return self.layer(x).relu()


def again(v, **options):
    file = io.BytesIO()
    torch.save(v, file)
    file.seek(0)
    return torch.load(file, **options)


def why(v):
    try:
        return again(v)
    except Exception as e:
        return type(e).__name__, str(e).split("GLOBAL ")[-1].split(" was ")[0]


for v in (Config(1), {"args": argparse.Namespace(lr=0.1)}, Table(a=1),
          Table.Row(), b"xy",
          collections.defaultdict(list), nn.Linear(1, 1), nn.Linear, [len],
          collections.Counter("aab"), 1 + 2j):
    print(why(v))
print(again({"args": argparse.Namespace(lr=0.1)}, weights_only=False))
print(type(again(Table(a=1), weights_only=False)).__name__)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.pt")
    net = Net()
    torch.save(net, path)
    loaded = torch.load(path, weights_only=False)
    x = torch.randn(2, 3)
    print(type(loaded).__name__, loaded is net, loaded.config.width,
          torch.equal(loaded(x), net(x)))
    try:
        torch.load(path)
    except Exception as e:
        print(str(e).split("GLOBAL ")[1].split(". ")[0])
    net.layer.bias.data.fill_(7.)
    print(torch.equal(loaded.layer.bias, net.layer.bias))
    torch.save({"config": Config(5), "state": net.state_dict()}, path)
    loaded = torch.load(path, weights_only=False)
    print(loaded["config"].width, loaded["state"]["layer.bias"])

adam = torch.optim.Adam([torch.ones(1, requires_grad=True)], lr=0.1)
print(adam.defaults is adam.defaults, list(adam.defaults))
adam.defaults["lr"] = 0.5
adam.add_param_group({"params": [torch.ones(1, requires_grad=True)]})
print([g["lr"] for g in adam.param_groups], adam.defaults["lr"])

print(torch.range(1, 4), torch.range(0, 1, 0.25), torch.range(4, 1, -1))
print(torch.range(1, 4, 2, dtype=torch.int64))
for bad in ((4, 1), (1, 2, 0)):
    try:
        torch.range(*bad)
    except RuntimeError as e:
        print(e)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    torch.range(1, 2)
    print(seen[0].category.__name__, str(seen[0].message)[:27])
