-- SPDX-License-Identifier: MIT
-- repl/help/everyday.lua: help pages of the names that people use every day and
-- that are no operators: name = {how it is called, what it does, an example
-- that runs on four ranks}.

return {
  init_device_mesh = {"dt.init_device_mesh(device, {sizes}, {mesh_dim_names = "
    .. "{names}})", "A mesh over all ranks; the product of the sizes is their "
    .. "number.\nmesh[\"tp\"] is one dimension of it.",
    'dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})'},
  DeviceMesh = {"DeviceMesh(device, ranks, {mesh_dim_names = {names}})",
    "A mesh over these ranks, a list or nested lists.\nMethods: size(dim), "
    .. "get_rank(), get_local_rank(dim), get_coordinate(), get_group(dim), "
    .. "_flatten(name);\nfields: ndim, shape, mesh_dim_names, device_type.",
    'DeviceMesh("cpu", {{0, 1}, {2, 3}}, {mesh_dim_names = {"dp", "tp"}}):size(0)'},
  ["x.device_mesh"] = {"x.device_mesh", "The mesh a distributed tensor lies on.",
    'dt.ones(4, 4, {device_mesh = dt.init_device_mesh("cpu", {4})}).device_mesh'},
  ["x.placements"] = {"x.placements", "Where the pieces of a distributed tensor are: a "
    .. "placement for each mesh dimension.\n:help placements tells the notation.",
    'dt.ones(4, 4, {device_mesh = dt.init_device_mesh("cpu", {4}), '
    .. 'placements = {Shard(0)}}).placements'},
  Shard = {"Shard(dim), \"S(dim)\"", "Placement: the tensor is cut along this "
    .. "dimension, as torch.chunk cuts; the parts may be uneven.", 'Shard(0)'},
  Replicate = {"Replicate(), \"R\"", "Placement: each rank has the whole.",
    'Replicate()'},
  Partial = {"Partial(op = \"sum\"), \"P(sum)\"", "Placement: each rank has a "
    .. "part of the sum (avg, min, max, product); redistribute to Replicate or\n"
    .. "Shard reduces it.", 'Partial()'},
  DTensor = {"DTensor.from_local(t, mesh, placements), dt.distribute_tensor(t, "
    .. "mesh, placements)", "A distributed tensor: a mesh, a placement for each "
    .. "mesh dimension, and this rank's part.\nMethods: redistribute, to_local, "
    .. "full_tensor; fields: device_mesh, placements, shape.",
    'DTensor.from_local(dt.ones(2, 4), dt.init_device_mesh("cpu", {4}), '
    .. '{Shard(0)}).shape'},
  distribute_tensor = {"dt.distribute_tensor(t, mesh, placements, "
    .. "{src_data_rank = 0})",
    "A distributed tensor of a whole one: rank 0's data are scattered or "
    .. "broadcast, so every rank\ngives a tensor of the same shape. Placements: "
    .. "{Shard(0), Replicate()} or \"S(0) R\".",
    'dt.distribute_tensor(dt.randn(8, 4), dt.init_device_mesh("cpu", {4}), "S(0)")'},
  distribute_module = {"dt.distribute_module(module, mesh, partition_fn, input_fn, "
    .. "output_fn)", "Make a module's parameters distributed: what "
    .. "partition_fn(name, module, mesh) leaves plain\nbecomes Replicate.",
    'dt.distribute_module(nn.Linear(4, 4), dt.init_device_mesh("cpu", {4})).weight.placements'},
  ["x:redistribute"] = {"x:redistribute(mesh, placements)  x:redistribute{placements = "
    .. "…}", "The same tensor with other placements; what has to move is moved "
    .. "(:plan x \"R\" shows it).\nGradients go the way back.",
    'dt.ones(8, 4, {device_mesh = dt.init_device_mesh("cpu", {4}), placements = '
    .. '{Shard(0)}}):redistribute{placements = {Replicate()}}.placements'},
  ["x:full_tensor"] = {"x:full_tensor()", "The whole tensor, plain, on every rank: "
    .. "redistribute to Replicate, then to_local.",
    'dt.ones(8, 4, {device_mesh = dt.init_device_mesh("cpu", {4}), placements = '
    .. '{Shard(0)}}):full_tensor().shape'},
  ["x:to_local"] = {"x:to_local(), x:to_local{grad_placements = …}", "This rank's part, "
    .. "plain, in the same memory. Of a P(sum) it is a part of the sum.\n"
    .. "grad_placements says what its gradient is, where that is not the "
    .. "tensor's placements.",
    'dt.ones(8, 4, {device_mesh = dt.init_device_mesh("cpu", {4}), placements = '
    .. '{Shard(0)}}):to_local().shape'},
  from_local = {"DTensor.from_local(t, mesh, placements, {run_check = false})",
    "A distributed tensor of the parts that the ranks have: nothing moves and "
    .. "nothing is checked\n(Replicate promises equal data, Shard parts as "
    .. "torch.chunk cuts).",
    'DTensor.from_local(dt.ones(2, 4), dt.init_device_mesh("cpu", {4}), '
    .. '{Shard(0)}).shape'},
  manual_seed = {"dt.manual_seed(n)", "Seed the generators of this rank: the same "
    .. "number on all ranks draws the same plain tensors.",
    'dt.manual_seed(0)'},
  parallelize_module = {"require(\"dt.parallel\").parallelize_module(module, mesh, "
    .. "plan)", "Make parts of a module distributed in place: plan is a style, or "
    .. "a table of names\n(with * and ?) and styles: ColwiseParallel, "
    .. "RowwiseParallel, SequenceParallel, PrepareModuleInput.",
    'dt.parallelize_module(nn.Linear(8, 8), dt.init_device_mesh("cpu", {4}), '
    .. 'dt.ColwiseParallel()).weight.placements'},
  ColwiseParallel = {"ColwiseParallel{input_layouts = Replicate(), output_layouts "
    .. "= Shard(-1), use_local_output = true}", "Style: a Linear's weight is cut "
    .. "by output features, Shard(0); an Embedding's by columns.\nInput "
    .. "replicated, output cut along the last dimension.",
    'dt.ColwiseParallel()'},
  RowwiseParallel = {"RowwiseParallel{input_layouts = Shard(-1), output_layouts = "
    .. "Replicate(), use_local_output = true}", "Style: a Linear's weight is cut "
    .. "by input features, Shard(1); an Embedding's by rows.\nInput cut along the "
    .. "last dimension; the output is a sum that is reduced.",
    'dt.RowwiseParallel()'},
  SequenceParallel = {"SequenceParallel{sequence_dim = 1, use_local_output = "
    .. "false}", "Style: norms and dropout on parts of the sequence; parameters "
    .. "are Replicate, inputs become Shard(1).", 'dt.SequenceParallel()'},
  PrepareModuleInput = {"PrepareModuleInput{input_layouts = …, "
    .. "desired_input_layouts = …}", "Style: a module's inputs become distributed "
    .. "with input_layouts and are moved to the desired ones\nbefore its forward.",
    'dt.PrepareModuleInput{input_layouts = {Shard(1)}, desired_input_layouts = '
    .. '{Replicate()}}'},
  PrepareModuleOutput = {"PrepareModuleOutput{output_layouts = …, "
    .. "desired_output_layouts = …}", "Style: a module's outputs are moved to the "
    .. "desired layouts after its forward.",
    'dt.PrepareModuleOutput{output_layouts = {Replicate()}, '
    .. 'desired_output_layouts = {Shard(1)}}'},
  fully_shard = {"dt.fully_shard(module, {mesh = …, reshard_after_forward = None, "
    .. "mp_policy = …})", "FSDP2: parameters are cut over the mesh, gathered "
    .. "before forward and backward, freed after them;\ngradients are "
    .. "reduce-scattered. Wrap the inner modules first. Make the optimizer after "
    .. "it.", 'dt.fully_shard(nn.Linear(8, 8), {mesh = dt.init_device_mesh("cpu", '
    .. '{4})}).weight.placements'},
  implicit_replication = {"dt.implicit_replication(function () … end)",
    "Inside, plain tensors that meet distributed ones count as Replicate: right "
    .. "only where they are\nequal on all ranks.",
    'dt.implicit_replication(function () return 1 end)'},
  register_sharding = {"dt.register_sharding(dt.ops.ns.name.overload, function "
    .. "(…) return {{{outputs}, {inputs}}, …} end)", "Give an operator rules on one "
    .. "mesh dimension: rows of placements. :doctor OP finds those that hold.",
    'dt.register_sharding'},
  local_map = {"dt.local_map(f, out_placements, in_placements)", "A function on "
    .. "local parts as one on distributed tensors.", 'dt.local_map'},
  loss_parallel = {"dt.loss_parallel(function () … end)", "Inside, cross_entropy "
    .. "takes logits that are cut along the classes.", 'dt.loss_parallel'},
  ["x:backward"] = {"y:backward(gradient)", "Gradients of all leaves that y came from, "
    .. "into their .grad (added up). y has one element, or gradient is given.",
    '(function () local x = dt.ones(2, {requires_grad = true}) '
    .. 'x:sum():backward() return x.grad end)()'},
  ["x.grad"] = {"x.grad", "The gradient that backward gave a leaf, nil before. Its "
    .. "placements may be other than the leaf's (:grads).",
    '(function () local x = dt.ones(2, {requires_grad = true}) '
    .. 'x:sum():backward() return x.grad end)()'},
  ["x.grad_dtype"] = {"x.grad_dtype", "The dtype to which backward brings a leaf's "
    .. "gradient: its own, unless another is set; dt.None: any.",
    '(function () local x = dt.ones(2, {requires_grad = true}) '
    .. 'x.grad_dtype = dt.bfloat16 x:sum():backward() return x.grad end)()'},
  no_grad = {"dt.no_grad(function () … end)", "Inside, nothing is kept for "
    .. "backward.", 'dt.no_grad(function () return dt.ones(2) + 1 end)'},
  ["x:item"] = {"x:item()", "The number in a tensor of one element.",
    'dt.ones(1):item()'},
  rank = {"dt.rank()", "The number of this rank, from 0.", 'dt.rank()'},
  world_size = {"dt.world_size()", "How many ranks there are.",
    'dt.world_size()'},
  breakpoint = {"dt.breakpoint()", "Stop all ranks here, when somebody debugs "
    .. "(dtrepl -d FILE, :run FILE).", 'dt.breakpoint'},
  AdamW = {"dt.optim.AdamW(module:parameters(), {lr = 1e-3, weight_decay = 1e-2})",
    "An optimizer: opt:step(), opt:zero_grad(). Make it after parameters became "
    .. "distributed.", 'dt.optim.AdamW(nn.Linear(2, 2):parameters(), {lr = 1e-3})'},
  SGD = {"dt.optim.SGD(module:parameters(), {lr = 1e-3, momentum = 0})",
    "An optimizer: opt:step(), opt:zero_grad().",
    'dt.optim.SGD(nn.Linear(2, 2):parameters(), {lr = 0.1})'},
}
