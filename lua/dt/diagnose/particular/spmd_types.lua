-- SPDX-License-Identifier: MIT
-- dt/diagnose/particular/spmd_types.lua: what spmd_types says of a call, message by
-- message.
-- The form of a row: particular/init.lua.

local rows = {
  {only = {"Invariant type on axis", "cannot mix with other types"},
   cause = "An invariant tensor (I) has a gradient that is the same on all ranks "
     .. "of the axis already; beside R, V or P each rank makes only its share of "
     .. "it, and the sum over the axis would be missing.",
   fixes = {{"convert the invariant operand to replicated: nothing is sent "
       .. "forward, backward sums its gradient over the axis",
     torch = "w = spmd.convert(w, axis, src=spmd.I, dst=spmd.R)"}}},
  {only = {"Partial type on axis", "cannot combine with Varying"},
   cause = "One operand is an addend of a sum over the axis (P), the other differs "
     .. "from rank to rank (V): together they mean nothing.",
   fixes = {{"reduce the addends first, to the whole sum or to a part of it on each rank",
     torch = "x = spmd.all_reduce(x, axis, src=spmd.P, dst=spmd.R)  # or\n"
       .. "x = spmd.reduce_scatter(x, axis, src=spmd.P, dst=spmd.S(0))"}}},
  {only = {"Partial type on axis", "cannot propagate through non-linear ops"},
   cause = "The operand is an addend of a sum over the axis (P), and the operator "
     .. "is not linear: applied to the addends it gives something else than "
     .. "applied to their sum.",
   fixes = {{"reduce before the operator",
     torch = "x = spmd.all_reduce(x, axis, src=spmd.P, dst=spmd.R)"}}},
  {only = {"Partial type on axis", "in a linear op requires all operands"},
   cause = "What is added to addends of a sum (P) without being one is added on "
     .. "every rank: the sum over the axis holds it as often as there are ranks. "
     .. "Typical is a bias in a row-parallel layer.",
   fixes = {
     {"reduce first, and add then",
      torch = "x = spmd.all_reduce(x, axis, src=spmd.P, dst=spmd.R) + b"},
     {"or make the other operand an addend, zeros on all ranks but the first",
      torch = "b = spmd.convert(b, axis, src=spmd.R, dst=spmd.P)"},
   }},
  {only = {"Partial in multiple factors of multilinear op"},
   cause = "A product of two sums is not the sum of the products of their addends.",
   fixes = {{"reduce all factors but one before the product",
     torch = "a = spmd.all_reduce(a, axis, src=spmd.P, dst=spmd.R)"}}},
  {only = {"Partial type in nonlinear argument"},
   cause = "What divides is an addend of a sum (P): a quotient is linear in what "
     .. "is divided only.",
   fixes = {{"reduce the divisor",
     torch = "d = spmd.all_reduce(d, axis, src=spmd.P, dst=spmd.R)"}}},
  {only = {"/args%[%d+%] missing axis"},
   cause = "In strict mode every operand has a type on every axis of the mesh, and "
     .. "this one has none on the axis that is named.",
   fixes = {
     {"say what the tensor is on the axis, where it is made",
      torch = "x = spmd.assert_type(x, {axis: spmd.R})"},
     {"or check only what has types",
      torch = "typecheck(strict_mode=False)"},
   }},
  {only = {"In-place and out= operations cannot change a tensor's SPMD type"},
   cause = "The result is of another type than the tensor it is written into.",
   fixes = {{"write it out of place and assign the result",
     torch = "x = x * y  # not x.mul_(y)"}}},
  {only = {"backward() on a Replicate loss"},
   cause = "A replicated loss counts once on every rank of the axis: its gradients "
     .. "would be summed over equal losses.",
   fixes = {{"reduce the loss to invariant, or call backward() on the addends themselves",
     torch = "loss = spmd.all_reduce(loss, axis, src=spmd.P, dst=spmd.I)"}}},
  {only = {"backward() on a Varying loss"},
   cause = "Every rank of the axis has a loss of its own; what is to be "
     .. "differentiated is their sum.",
   fixes = {{"say that the losses are addends",
     torch = "loss = spmd.reinterpret(loss, axis, src=spmd.V, dst=spmd.P)"}}},
  {only = {"backward() called on a loss tensor with no SPMD type"},
   cause = "The loss has no type, so nobody can tell whether its gradients are "
     .. "right.",
   fixes = {{"let what the loss is made of have types, or assert the loss's",
     torch = "spmd.assert_type(loss, {axis: spmd.P})"}}},
  {only = {"No valid sharding strategy for"},
   cause = "In global mode an operator may send nothing; with the operand cut "
     .. "along this dimension it would have to.",
   fixes = {
     {"redistribute before it",
      torch = "x = spmd.redistribute(x, axis, src=spmd.S(1), dst=spmd.R)"},
     {"or let this part be checked by the rules for each rank's own part",
      torch = "with spmd.local():"},
   }},
  {only = {"expected input type"},
   cause = "The collective was told one type of its tensor (src), and the tensor "
     .. "has another on the axis.",
   fixes = {{"name the type that the tensor has, or convert it before",
     torch = "x = spmd.redistribute(x, axis, src=spmd.R, dst=spmd.S(0))"}}},
  {only = {"tensor has no type for axis"},
   cause = "The collective's tensor has no type on the axis.",
   fixes = {{"assert it before the call",
     torch = "spmd.assert_type(x, {axis: spmd.V})"}}},
  {only = {"autograd Function is not registered for SPMD type checking"},
   cause = "What the Function's forward and backward send is not known.",
   fixes = {
     {"where it sends nothing, say so",
      torch = "@spmd.register_local_autograd_function"},
     {"or give it an spmd_typecheck() made of spmd.rules"},
   }},
  {only = {"type checking for raw torch.distributed"},
   cause = "Of this collective of torch.distributed spmd_types knows no rule.",
   fixes = {{"call the one of spmd_types, or leave the call unchecked",
     torch = "with spmd.no_typecheck():"}}},
  {only = {"SPMD type mismatch on axis"},
   cause = "The tensor has a type already, and the assertion names another: one of "
     .. "the two is wrong, or a collective is missing between them.",
   fixes = {{"convert the tensor, or correct the assertion",
     torch = "x = spmd.convert(x, axis, src=spmd.R, dst=spmd.V)"}}},
  {only = {"requires expert_mode=True"},
   cause = "This change of type is right only where the numbers are known to be "
     .. "so; spmd_types wants that to be said.",
   fixes = {{"when it is meant, say so; else take convert() or a collective",
     torch = "spmd.reinterpret(x, axis, src=spmd.R, dst=spmd.V, "
       .. "expert_mode=True)"}}},
  {only = {"is not the innermost axis in its PartitionSpec group"},
   cause = "The dimension is cut on several axes, and only the innermost of them "
     .. "can be moved alone.",
   fixes = {{"move the innermost axis first, then this one"}}},
  {only = {"PartitionSpec conflict"},
   cause = "An axis of the mesh can cut one dimension of a tensor only; the tensor "
     .. "has a type already, and the new one names another dimension.",
   fixes = {
     {"assert the dimension that is cut",
      torch = "spmd.assert_type(x, {axis: spmd.S(0)})  # the one it has"},
     {"or move the cut to the other dimension first",
      torch = "x = spmd.redistribute(x, axis, src=spmd.S(0), dst=spmd.S(1))"},
   }},
}

for _, row in ipairs(rows) do row.class, row.alone = "spmd-type-error", true end

return rows
