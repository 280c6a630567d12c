-- SPDX-License-Identifier: MIT
-- dt/diagnose/particular/collectives.lua: collectives that the ranks do not all come
-- to, or with tensors of another device.
-- The form of a row: particular/init.lua.

local all_to_all = require "dt.diagnose.all_to_all"

local on_a_blank_image = {{"run the vision part on every rank, on a blank image where "
    .. "there is none, and add its result times zero",
  torch = "h = h + 0.0 * model.visual(blank).sum()"}}

return {
  {class = {"collective-sequence-mismatch", "fsdp-divergent-module-execution"},
   alone = true, only = {"~ALLTOALL|all_to_all|all-to-all|alltoall", "=moe",
     "~Watchdog|hang|stuck|deadlock|timeout|timed out", "!=sizes_differ"},
   cause = all_to_all.cause, fixes = all_to_all.fixes},
  {class = "collective-sequence-mismatch", alone = true, only = {"=sizes_differ"},
   cause = "The ranks are in one collective, each with a tensor of its own size: what it "
     .. "is made from (the length, the resolution, the number of samples) is not the "
     .. "same on all of them, or another kind of batch has made one rank go another way.",
   fixes = {
     {"one size on all ranks: pad to the largest, cut after the collective",
      torch = "n = torch.tensor(x.size(0), device=x.device)\n"
        .. "dist.all_reduce(n, op=dist.ReduceOp.MAX)\n"
        .. "x = F.pad(x, (0, 0) * (x.ndim - 1) + (0, int(n) - x.size(0)))"},
     {"or give the ranks of one group batches of one shape (a bucket for each shape)"},
     {"print what each rank brings, before the collective",
      torch = "print(dist.get_rank(), x.shape)"},
   }},
  {class = "collective-sequence-mismatch", alone = true,
   only = {"sync_module_states", "~hang|never returns|stuck|deadlock|timeout|Watchdog"},
   cause = "Rank 0's parameters and buffers are sent one by one, in the order in which "
     .. "each rank has them. A rank with another number of them (a tied weight that "
     .. "to_empty() made two of, a buffer that rank 0 alone has) waits for one that "
     .. "nobody sends.",
   fixes = {
     {"tie the weights anew on every rank before wrapping", done = false,
      torch = "model.to_empty(device=device)\nmodel.tie_weights()"},
     {"compare what the ranks have before wrapping",
      torch = "print(dist.get_rank(), [n for n, _ in model.named_parameters()],\n"
        .. "      [n for n, _ in model.named_buffers()])"},
   }},
  {class = "collective-sequence-mismatch", alone = true,
   only = {"~uneven|unequal|one step less|one less|fewer|not the same number|"
       .. "different number|another number of", "~batches|steps|iterations|samples",
     "!~state_dict|checkpoint"},
   cause = "A rank whose data are at their end leaves the loop, and the others wait "
     .. "for it in the next reduction.",
   fixes = {
     {"as many steps on each rank: the rank with the fewest decides",
      done = "ReduceOp%.MIN",
      torch = "n = torch.tensor(len(loader), device=device)\n"
        .. "dist.all_reduce(n, op=dist.ReduceOp.MIN)"},
     {"cut the data evenly: DistributedSampler(drop_last=True), or pad the rest",
      done = "drop_last"},
     {"under DDP let the ranks that are done answer the others", done = "Join%(",
      only = {"~DDP|DistributedDataParallel"},
      torch = "from torch.distributed.algorithms.join import Join\n"
        .. "with Join([model]):\n    for batch in loader: step(batch)"}}},
  {class = "collective-sequence-mismatch",
   only = {"~checkpoint|state dict|state_dict", "~keys|optimizer state"},
   fixes = {{"let every rank hold the same keys: the same state-dict call on all "
       .. "of them, ranks with an empty shard included",
     torch = "state = get_optimizer_state_dict(model, optimizer)"}}},
  {class = "collective-sequence-mismatch",
   only = {"~full_tensor|state_dict|state dict",
     "~weight sync|sync_weight|send_weights|update_weights|broadcast|send(|sends"},
   fixes = {{"gather everything on all ranks first, then let one rank send what "
       .. "was gathered: no gathering waits for a rank that is still sending",
     torch = "full = {n: p.full_tensor() for n, p in model.named_parameters()}\n"
       .. "if dist.get_rank() == 0: send(full)"}}},
  {class = "collective-sequence-mismatch",
   only = {"~skips|skipped|skipping|_skip|early exit|leaves the loop|conditional "
       .. "collective|one rank decides|ranks disagree|found_inf|GradScaler"},
   cause = "A condition that comes out differently on the ranks stands before a "
     .. "collective: those that pass it wait for those that do not.",
   fixes = {{"let all ranks take the decision together: reduce the flag, then test "
       .. "what came back",
     torch = "skip = torch.tensor(float(skip), device=device)\n"
       .. "dist.all_reduce(skip, op=dist.ReduceOp.MAX)\n"
       .. "if skip.item() == 0: optimizer.step()"}}},
  {class = "collective-sequence-mismatch", alone = true,
   only = {"~set_model_state_dict|set_optimizer_state_dict|set_state_dict",
     "~full_state_dict=True|full_state_dict = True", "!~get_model_state_dict|saving",
     "~hang|Watchdog|stuck|timeout|never"},
   cause = "Distributing a full state dict is a collective. Ranks that hold no "
     .. "entries, or do not call it, make none of the calls that the others wait in.",
   fixes = {
     {"read it on rank 0 only? let it be sent out; all ranks call, the others with "
       .. "an empty dict",
      torch = "set_model_state_dict(model, sd, options=StateDictOptions(\n"
        .. "    full_state_dict=True, broadcast_from_rank0=True))"},
     {"or read the same full dict on every rank"},
   }},
  {class = "collective-sequence-mismatch", alone = true,
   only = {"~checkpoint|saving|save_pretrained|is saved|save_model|state_dict_type|"
       .. ".state_dict()|save_state", "~hang|Watchdog|stuck|timeout|never",
     "!~set_model_state_dict|set_optimizer_state_dict|set_state_dict"},
   cause = "Collecting a sharded state dict is a collective: every rank has to "
     .. "take part, also those that write nothing. Ranks that skip it, or go on to "
     .. "the next step before the others, meet another collective.",
   fixes = {
     {"collect the state on all ranks, write on one, and let the others wait",
      done = false,
      torch = "state = get_model_state_dict(model, options=StateDictOptions(\n"
        .. "    full_state_dict=True, cpu_offload=True))\n"
        .. "if dist.get_rank() == 0: torch.save(state, path)\n"
        .. "dist.barrier()"},
     {"or save in pieces, which gathers nothing",
      torch = 'dcp.save({"model": get_model_state_dict(model)}, '
        .. 'checkpoint_id=path)'},
   }},
  {class = "collective-sequence-mismatch", alone = true,
   only = {"CollectiveFingerPrint", "Tensor shapes:", "!/Op type: ",
     "!~OpType=ALLREDUCE|OpType=BROADCAST"},
   cause = "The ranks are in the same collective, each with a tensor of its own size. "
     .. "It wants one size on all of them: a dimension that the number of ranks does "
     .. "not divide was cut into unequal parts.",
   fixes = {
     {"pad the dimension before it is cut, and take the padding off afterwards",
      torch = "pad = -x.size(dim) % world_size\n"
        .. "x = torch.cat([x, x.new_zeros(*x.shape[:dim], pad, *x.shape[dim + 1:])], dim)"},
     {"or gather by a DTensor, which knows the size of each part",
      lua = "x:full_tensor()", torch = "x.full_tensor()"},
   }},
  {class = "collective-sequence-mismatch", alone = true,
   only = {"~OpType=ALLREDUCE|OpType=BROADCAST|op.preamble.length",
     "~Tensor shapes:|op.preamble.length", "!/Op type: "},
   cause = "The ranks are in the same collective, each with a tensor of its own size; "
     .. "it wants one size on all of them.",
   fixes = {
     {"agree on the largest size, and fill up to it",
      only = {"!~text-only|text only|without image|no image|no picture"},
      torch = "n = torch.tensor(x.size(0), device=x.device)\n"
        .. "dist.all_reduce(n, op=dist.ReduceOp.MAX)\n"
        .. "x = torch.cat([x, x.new_zeros(n.item() - x.size(0), *x.shape[1:])])"},
     {"gradients? let every rank use the same parameters in each step: run a part that "
       .. "its batch does not need on a blank input, times zero",
      only = {"~backward|gradient|train|DDP|batch"},
      torch = "loss = loss + 0.0 * model.part(blank).sum()"},
   }},
  {class = "collective-sequence-mismatch", alone = true,
   only = {"/Tensor dtypes: ", "!/Tensor shapes: ", "!/Op type: "},
   cause = "The ranks are in the same collective, each with a tensor of another dtype.",
   fixes = {{"one dtype on all ranks before the call",
     torch = "x = x.to(torch.float32)"}}},
  {class = "collective-sequence-mismatch", only = {"broadcast_from_rank0"},
   fixes = {{"when only one rank holds the values, say so: all ranks then take part",
     torch = "set_model_state_dict(model, sd, options=StateDictOptions(\n"
       .. "    full_state_dict=True, broadcast_from_rank0=True))"}}},
  {class = "collective-sequence-mismatch", alone = true,
   only = {"full_state_dict=True",
     "~FSDP + TP|FSDP+TP|parallelize_module|2D parallel",
     "~hang|Watchdog|stuck|timeout"},
   cause = "A model that is cut by FSDP and by tensor parallelism was given its "
     .. "full state piece by piece, with a scatter for each tensor; ranks did not "
     .. "come to them in the same order.",
   fixes = {
     {"upgrade: each rank takes its piece without a collective there",
      fixed_in = "2.6"},
     {"or save and load in pieces, which needs no full state",
      torch = "StateDictOptions(full_state_dict=False)"},
     {"or fully_shard, whose parameters are DTensors of both meshes",
      only = {"~FSDP(|FSDP1|FullyShardedDataParallel"},
      lua = "dt.fully_shard(model, {mesh = mesh})",
      torch = "fully_shard(model, mesh=dp_mesh)"},
   }},
  {class = "collective-sequence-mismatch",
   only = {"~order differs|other order|different order|misaligned|differ in size|"
       .. "another number of keys|order of keys|named_buffers", "broadcast"},
   cause = "The ranks go over a list of tensors, and the list is another one on "
     .. "some rank: then a broadcast of one tensor meets that of another.",
   fixes = {{"go over the names that one rank sends, in its order",
     torch = "names = [sorted(state)]\n"
       .. "dist.broadcast_object_list(names, src=0)\n"
       .. "for name in names[0]: dist.broadcast(state[name], src=0)"}}},
  {class = {"collective-sequence-mismatch", "dtensor-serialization"}, alone = true,
   only = {"~adapter|lora|peft",
     "~rank 0 only|rank == 0|by rank 0|main process|rank zero",
     "~shard|half of|own part|piece|its rows", "!~hang|Watchdog|timeout"},
   cause = "After fully_shard a rank's state dict holds its pieces: what one rank "
     .. "writes by itself is a part of each adapter.",
   fixes = {{"gather the adapters on all ranks, and write on one",
     torch = "state = {n: p.full_tensor() for n, p in model.named_parameters()\n"
       .. "         if p.requires_grad}\n"
       .. "if dist.get_rank() == 0: torch.save(state, path)"}}},
  {class = "collective-sequence-mismatch",
   only = {"~text only|text-only|no image|without image|multimodal|text and image|"
       .. "image and text|mixed text|image-text"},
   cause = "Ranks whose batch lacks an image skip the vision part, and its "
     .. "collectives with it: the others meet the next ones in another order.",
   fixes = on_a_blank_image},

  {class = "fsdp-divergent-module-execution",
   only = {"~micro-batch|micro batch|microbatch|number of batches|fewer batches|"
       .. "dynamic batch|dynamic_b|empty shard|empty batch|batch smaller|last "
       .. "batch|samples|dataloader|data loader"},
   cause = "FSDP units communicate each time they run, so all ranks have to run "
     .. "them equally often. A rank with fewer batches leaves its loop and the "
     .. "others wait for it in the next all-gather.",
   fixes = {{"agree on the number of batches before the loop, and fill up with an "
       .. "empty one times zero",
     torch = "n = torch.tensor(len(batches), device=device)\n"
       .. "dist.all_reduce(n, op=dist.ReduceOp.MAX, group=dp_group)"}}},
  {class = "fsdp-divergent-module-execution",
   only = {"~text only|text-only|no image|without image|multimodal|vision"},
   fixes = on_a_blank_image},

  {class = "collective-wrong-device",
   only = {"~the input tensor is on cpu|but the input tensor is on"}, alone = true,
   cause = "The communicator was made for one device and got a tensor of another: "
     .. "with CPU offload parameters, gradients and gathered state dicts are CPU "
     .. "tensors.",
   fixes = {
     {"bring the tensor to the communicator's device for the collective",
      torch = "t = t.to(device)  # before the broadcast"},
     {"or use a group whose backend takes CPU tensors",
      torch = 'group = dist.new_group(backend="gloo")'},
   }},
}
