# SPDX-License-Identifier: MIT
# Packets and overloads of torch.ops as values: names, texts, schemas, classes.
import torch
o=torch.ops.aten.add.Tensor
s=o._schema
print(type(s), s.name, s.overload_name, s.is_mutable, len(s.arguments), s.arguments[0].name, s.arguments[0].type, s.arguments[2].default_value, s.arguments[2].kwarg_only, len(s.returns), s.returns[0].type, repr(s)[:60], str(s))
a = torch.ops.aten.add_.Tensor._schema
print(a.is_mutable, a.arguments[0].alias_info.is_write, a.arguments[1].alias_info)
print(isinstance(o, torch._ops.OpOverload), isinstance(o.overloadpacket, torch._ops.OpOverloadPacket), o.overloadpacket is torch.ops.aten.add, o.overloadpacket == torch.ops.aten.add)
print({o: 1}[torch.ops.aten.add.Tensor], hash(o)==hash(torch.ops.aten.add.Tensor), callable(o))
print(o in {torch.ops.aten.add.Tensor, torch.ops.aten.mul.Tensor}, o.overloadpacket in (torch.ops.aten.add,))
print(torch.ops.aten.view.default.is_view, torch.ops.aten.relu.default.name())
print('Tensor' in torch.ops.aten.add.overloads())
for q in (torch.ops.aten.sum.dim_IntList, torch.ops.aten.max_pool2d_with_indices.default, torch.ops.aten._softmax.default, torch.ops.aten.split.Tensor):
    for g in q._schema.arguments:
        print(g.name, g.kwarg_only, g.default_value)
    print(q.name(), [r.name for r in q._schema.returns])
print(str(torch.ops.aten.mm.default), repr(torch.ops.aten.mm), torch.ops.aten.mm.default.__name__)
print(type(o).__module__, type(o), type(o.overloadpacket))
print(hasattr(torch.ops.aten.add, "nope"), hasattr(torch.ops.aten,"nope"), hasattr(o,"nope"))
print("%s %r {}".format(o) % (o, o))
try: o.nope
except AttributeError as e: print(e)
try: torch.ops.aten.add.nope
except AttributeError as e: print(e)
print(torch.ops.aten, torch.ops)
