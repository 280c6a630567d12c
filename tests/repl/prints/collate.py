# SPDX-License-Identifier: MIT
import torch
from collections import namedtuple, defaultdict, OrderedDict
from torch.utils.data import default_collate, default_convert
P = namedtuple("P", "a b")
def show(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
class Items(torch.utils.data.Dataset):
    def __init__(self, f): self.f = f
    def __len__(self): return 4
    def __getitem__(self, i): return self.f(i)
for f in [lambda i: (i, str(i)), lambda i: {"a": i, "b": [i, i * .5], "c": ("x", i)},
          lambda i: P(i, torch.ones(1) * i), lambda i: i % 2 == 0, lambda i: [i] * i,
          lambda i: None, lambda i: (torch.tensor(i), {"q": b"z"}), lambda i: "s%d" % i]:
    def run():
        for batch in torch.utils.data.DataLoader(Items(f), batch_size=2): print(batch)
    show(run)
show(lambda: default_collate([P(1,2.), P(3,4.)]))
show(lambda: default_collate(["a","b"]))
show(lambda: default_collate([b"a",b"b"]))
show(lambda: default_collate([(1,2),(3,4)]))
show(lambda: default_collate([[1,2],[3]]))
show(lambda: default_collate([{"a":1,"b":"x"},{"a":2,"b":"y"}]))
show(lambda: default_collate([None,None]))
show(lambda: default_collate([True,False]))
show(lambda: default_collate([torch.ones(2),torch.ones(3)]))
show(lambda: default_collate([1.5,2]))
show(lambda: default_collate([OrderedDict(a=1), OrderedDict(a=2)]))
show(lambda: default_collate(((torch.ones(1),"a",{"k":[1,2]}),(torch.ones(1),"b",{"k":[3,4]}))))
show(lambda: default_collate([{"a":1},{"b":2}]))
import numpy as np
from torch.utils.data._utils.collate import default_collate_fn_map, collate
show(lambda: default_collate([np.ones(2),np.zeros(2)]))
show(lambda: default_convert([np.ones(2), 1, "a", {"b": np.zeros(1)}, P(np.ones(1),2)]))
show(lambda: default_collate([]))
for b in torch.utils.data.DataLoader(Items(lambda i: {"n": (1, torch.zeros(2))}), batch_size=None): print(b)
class A:
    def __init__(s,x): s.x=x
def ca(batch, *, collate_fn_map=None): return [b.x for b in batch]
m = {**default_collate_fn_map, A: ca}
show(lambda: collate([{"q":A(1)},{"q":A(2)}], collate_fn_map=m))
def total(batch, *, collate_fn_map=None): return sum(batch)
default_collate_fn_map[int] = total
for b in torch.utils.data.DataLoader([(1, 2.), (3, 4.), (5, 6.)], batch_size=2): print(b)
