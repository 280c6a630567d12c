# SPDX-License-Identifier: MIT
"""Hooks of modules in their dictionaries and of all modules; pruning; the older
norms of weights; groups of optimizers that are refused."""
import torch, torch.nn as nn, torch.nn.utils.prune as prune
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook, register_module_full_backward_hook
m = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
hs = [register_module_forward_pre_hook(lambda m, i: print('pre', type(m).__name__, type(i).__name__)), register_module_forward_hook(lambda m, a, k, o: print('post', type(m).__name__, k, o.shape), with_kwargs=True),
  register_module_full_backward_hook(lambda m, gi, go: print('bwd', type(m).__name__, type(gi), len(go)))]
m[0].register_forward_pre_hook(lambda m, i: print('own')); m[1].register_full_backward_hook(lambda m, gi, go: print('own b', type(gi), gi[0].shape)); m[1].register_full_backward_pre_hook(lambda m, go: print('own pre b', type(go)))
m(torch.ones(1, 2, requires_grad=True)).sum().backward()
for h in hs: h.remove()
print(m[0]._forward_pre_hooks.keys().__len__(), len(m[1]._backward_hooks), m[0]._forward_hooks, list(m[1]._backward_pre_hooks.values())[0].__name__)
m[0]._forward_pre_hooks.clear(); m[1]._backward_hooks.clear(); m(torch.ones(1, 2)).sum().backward()
print([k for k in m.__dict__ if 'hook' in k], len(m.__dict__['_forward_hooks']))
h = m.register_forward_hook(lambda *a: print('x')); print(len(m._forward_hooks)); h.remove(); print(len(m._forward_hooks), not m._forward_hooks)
from torch.distributed.elastic.multiprocessing.errors import record
from torch.utils.hooks import RemovableHandle
import torch.utils.hooks as H
from torch.types import Device, Number, _size
import torch.distributed.elastic.multiprocessing.errors as E
import torch.types
torch.manual_seed(0)
@record
def main(a): return a
print(main(1), main.__name__)
m = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Conv1d(1, 3, 2))
for f in (lambda: prune.random_unstructured(m[0], 'weight', 3), lambda: prune.random_structured(m[0], 'weight', .5, 1), lambda: prune.identity(m[0], 'bias'), lambda: prune.ln_structured(m[2], 'weight', 1, float('inf'), 0),
          lambda: prune.l1_unstructured(m[2], 'bias', 9), lambda: prune.l1_unstructured(m[2], 'bias', 'a'), lambda: prune.l1_unstructured(m[2], 'bias', 1.5), lambda: prune.remove(m[1], 'weight'), lambda: prune.ln_structured(m[2], 'bias', 1, 2, 0), lambda: prune.custom_from_mask(m[2], 'bias', torch.tensor([1, 0, 1]))):
    try: f()
    except Exception as e: print(type(e).__name__, e)
print(m[0].weight, m[0].weight_mask.int(), m[0].bias, m[2].weight.shape, m[2].bias)
print([type(h).__name__ for h in m[0]._forward_pre_hooks.values()], [len(h) for h in m[0]._forward_pre_hooks.values() if hasattr(h, '__len__')], list(m.state_dict()))
m[0](torch.ones(5)).sum().backward(); print(m[0].weight_orig.grad)
class Foo(prune.BasePruningMethod):
    PRUNING_TYPE = 'unstructured'
    def compute_mask(self, t, default_mask):
        mask = default_mask.clone(); mask.view(-1)[::2] = 0; return mask
l = nn.Linear(3, 2); Foo.apply(l, 'bias'); print(l.bias, l.bias_mask)
from torch.optim.optimizer import Optimizer, required
class A(Optimizer):
    def __init__(self, params, lr=required): super().__init__(params, dict(lr=lr))
def told(f):
    try: r = f(); print('fine', type(r).__name__)
    except Exception as e: print(type(e).__name__, e)
p = nn.Parameter(torch.ones(2)); q = nn.Parameter(torch.ones(2))
print(required)
told(lambda: A([p]))
told(lambda: A([p], lr=.1))
told(lambda: A([{'params': [p]}, {'params': [q], 'lr': .3}]))
told(lambda: torch.optim.SGD([{'params': [p]}, q], lr=.1))
told(lambda: torch.optim.SGD([{'params': []}, torch.ones(1).relu()], lr=.1))
told(lambda: torch.optim.SGD([{'params': [p]}, {'params': [p]}], lr=.1))
told(lambda: torch.optim.SGD([p, p], lr=.1))
told(lambda: torch.optim.SGD([{'lr': .1}], lr=.1))
told(lambda: torch.optim.SGD([{'params': [p * 2]}], lr=.1))
told(lambda: torch.optim.SGD([1], lr=.1))
told(lambda: torch.optim.SGD(p, lr=.1))
told(lambda: torch.optim.SGD([('a', p), ('b', q)], lr=.1))
told(lambda: torch.optim.SGD([('a', p), q], lr=.1))
told(lambda: torch.optim.SGD({'params': [p]}, lr=.1))
told(lambda: torch.optim.SGD({'a': p}, lr=.1))
o = torch.optim.SGD([p], lr=.1)
told(lambda: o.add_param_group([q]))
told(lambda: o.add_param_group({'params': p}))
told(lambda: o.add_param_group({'params': q, 'lr': .5}))
told(lambda: o.add_param_group({'params': [('a', nn.Parameter(torch.ones(1)))]}))
told(lambda: A([p]).step())
print(len(o.param_groups), o.param_groups[1]['lr'], o.param_groups[1]['params'])
told(lambda: Optimizer([p], {}).step())
told(lambda: torch.optim.SGD([p], lr=-1))
told(lambda: torch.optim.SGD([p], lr=.1, nesterov=True))
told(lambda: torch.optim.Adam([p], betas=(1., .9)))
told(lambda: torch.optim.AdamW([p], weight_decay=-1))
told(lambda: torch.optim.RMSprop([p], alpha=-1))
told(lambda: torch.optim.Adam([p], lr=torch.tensor([.1, .2])))
from collections import OrderedDict
m = nn.Sequential(nn.Linear(2, 2)); m.register_forward_hook(lambda *a: print('left')); m._forward_hooks = OrderedDict(); m(torch.ones(1, 2)); print(len(m._forward_hooks))
m = nn.Linear(2, 3); prune.global_unstructured({(m, 'bias'): 1}.keys(), prune.L1Unstructured, amount=2); print(m.bias_mask.sum())
try: prune.custom_from_mask(m, 'weight', torch.ones(2))
except AssertionError as e: print(e, list(dict(m.named_parameters())))
torch.distributed.init_process_group('gloo')
for r in ([0, '1'], 0, [0.5], [0, None], [0]):
    try: print(torch.distributed.new_group(r).size())
    except TypeError as e: print(e)
