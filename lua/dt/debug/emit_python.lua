-- SPDX-License-Identifier: MIT
-- dt/debug/emit_python.lua: what surrounds the lines of a program for
-- PyTorch: imports, processes, helpers that the lines call, what is shown at
-- the end, and what dtrepl had.

local dt = require "dt"

local M = {}

local REAL = 16                 -- at most as many processes
M.REAL = REAL
local SHOWN = 64                -- elements of a tensor that is shown
local NAMED = 6                 -- tensors of variables that are shown

local IMPORTS = [[
import os
import sys
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import (DTensor, Partial, Replicate, Shard,
                                      distribute_tensor)
from torch.distributed.tensor.placement_types import _StridedShard
]]

local LOSS = [[
from torch.distributed.tensor.parallel import loss_parallel
]]

local RULES = [[
from torch.distributed.tensor.experimental import register_sharding
]]

local FORK = [[
# %d processes, made here; torchrun makes its own.
import shutil
import tempfile
from datetime import timedelta
children, rank, store = [], 0, None


def leave(kind=None, value=None, trace=None):
    """Say what is raised and by whom; wait for the other processes."""
    alone = kind is not None and not dist.is_initialized()
    if kind is not None:
        import traceback
        text = "".join(traceback.format_exception(kind, value, trace))
        print(f"[rank{rank}]:", text, file=sys.stderr, end="")
    sys.stdout.flush()
    sys.stderr.flush()
    if children or kind is not None or rank > 0:
        for child in children:
            if alone:                   # they wait for this one
                os.kill(child, 15)
            if os.waitpid(child, 0)[1]:
                kind = kind or RuntimeError
        if rank == 0 and store is not None:
            shutil.rmtree(os.path.dirname(store), ignore_errors=True)
        os._exit(0 if kind is None else 1)


if "WORLD_SIZE" in os.environ:
    dist.init_process_group("gloo")
else:
    sys.excepthook = leave
    store = os.path.join(tempfile.mkdtemp(), "store")
    for r in range(1, %d):
        child = os.fork()
        if child == 0:
            rank, children = r, []
            break
        children.append(child)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank,
                            world_size=%d, timeout=timedelta(seconds=60))
    sys.excepthook = leave              # that call has set its own
]]

local FAKE = [[
# One process that pretends to be rank 0 of %d; under torchrun, real ranks.
if "WORLD_SIZE" in os.environ:
    dist.init_process_group("gloo")
else:
    from torch.testing._internal.distributed.fake_pg import FakeStore
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=%d)
]]

local SHOW = [[


def show(name, x):
    sys.stdout.write(f"[{dist.get_rank()}] {name} = {x}\n")
    sys.stdout.flush()
]]

local BYTES = [[


def numbers(text, dtype, shape):
    """A tensor of these bytes (base64)."""
    import base64
    data = bytearray(base64.b64decode(text))
    if not data:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(data, dtype=torch.uint8).view(dtype).reshape(shape)


def fill(x, text):
    """What dtrepl drew, or found in memory that nobody wrote."""
    t = x.to_local() if isinstance(x, DTensor) else x
    t.data.copy_(numbers(text, t.dtype, t.shape))
    return x
]]

local DRAWN = [[


def drawn(seed, words, pair=0):
    """The generator after so many words; a normal number may be left over."""
    torch.manual_seed(seed)
    if pair:
        torch.empty(pair - 1, dtype=torch.uint8).random_()
        torch.empty((), dtype=torch.float64).normal_()
        words -= pair + 3
    torch.empty(words, dtype=torch.uint8).random_()
]]

local ZEROED = [[


def zeroed(x):
    """Memory that nobody wrote was zero in dtrepl."""
    t = x.to_local() if isinstance(x, DTensor) else x
    t.data.zero_()
    return x
]]

local IMPLICIT = [[


def implicitly(f):
    from torch.distributed.tensor.experimental import implicit_replication
    with implicit_replication():
        return f()
]]

local EXPLICIT = [[


def explicitly(f):
    from torch.distributed.tensor._utils import ExplicitRedistributionContext
    with ExplicitRedistributionContext(strict=True):
        return f()
]]

local COLLECTIVE = [[


def collective(kind, x, mesh, mdim, op="sum", dim=0, concat_dim=0, src=0,
               out_splits=None, in_splits=None):
    """One over a mesh dimension; gives a new tensor."""
    import torch.distributed._functional_collectives as funcol
    x, n, group = x.detach().contiguous(), mesh.size(mdim), (mesh, mdim)
    if kind == "broadcast":
        y = funcol.broadcast(x, src, group)
    elif kind == "all_reduce":
        y = funcol.all_reduce(x, "sum" if op == "avg" else op, group)
    elif kind == "all_gather":
        f = getattr(funcol, "all_gather_single", funcol.all_gather_tensor)
        y = f(x, dim, group)
    elif kind == "reduce_scatter":
        f = getattr(funcol, "reduce_scatter_single",
                    funcol.reduce_scatter_tensor)
        y = f(x, "sum" if op == "avg" else op, dim, group)
    elif kind == "all_to_all_v":
        y = funcol.all_to_all_single(x, out_splits, in_splits, group)
    else:
        parts = torch.cat([p.unsqueeze(0) for p in x.chunk(n, dim)])
        y = funcol.wait_tensor(
            funcol.all_to_all_single(parts, None, None, group))
        y = torch.cat(list(y.unbind(0)), concat_dim)
    y = funcol.wait_tensor(y)
    return y / n if op == "avg" else y
]]

-- The values shown at the end: results with a name of the script's and those of
-- the last step; not what steps that were left out wrote later.  {id...}
local function to_show(P)
  local list, seen = {}, {}
  local function add(id)
    local v, n = P.values[id], 1
    for _, k in ipairs(v.shape) do n = n * k end
    local late = P.stale and P.stale[v.storage]
    if not seen[id] and not late and n <= SHOWN then
      seen[id] = true
      table.insert(list, 1, id)
    end
  end
  local last = P.steps[#P.steps]
  for _, id in ipairs(last and last.outs or {}) do add(id) end
  for i = #P.steps, 1, -1 do
    local s = P.steps[i]
    for _, id in ipairs(s.kind ~= "leaf" and s.outs or {}) do
      if P.values[id].name and #list < NAMED then add(id) end
    end
  end
  if #list == 0 then list = {table.unpack(last and last.outs or {})} end
  return list
end

-- What this rank has of it, as one text, or "": what it had after the last
-- step, where steps that are left out wrote it later.
local function had(P, id)
  local last, v = P.steps[#P.steps], P.values[id]
  local late = P.stale and P.stale[v.storage] and last.kind == "op"
  local t = not dt.debug.no_data()
    and dt.debug.revive(id, late and last.seq + 1 or math.maxinteger)
  if not t then return "" end
  return dt.debug.quietly(function ()
    local x = (t.is_dtensor and t:to_local() or t):detach()
    return pcall(dt._bytes, x) and tostring(x) or ""    -- else not kept
  end)
end

-- shown(P, names) -> the lines that show this rank's results, {text...}.
function M.shown(P, names)
  local out = {}
  for _, id in ipairs(not P.fails and #P.steps > 0 and to_show(P) or {}) do
    if names[id] then
      out[#out + 1] = ('show("%s", %s)'):format(names[id], names[id])
    end
  end
  return out
end

-- The number that the last step read, as this rank had it, or "".
local function had_read(s)
  local t = s and s.read and not dt.debug.no_data()
    and dt.debug.revive(s.ins[1], s.seq)
  if not t then return "" end
  return dt.debug.quietly(function ()
    local x = t.is_dtensor and t:to_local() or t
    return x:numel() == 1 and tostring(x:detach():item()) or ""
  end)
end

-- Comments of what the ranks had: what most have, and who had something else.
local function had_lines(out, texts)
  for r, text in ipairs(texts) do
    if text ~= "" and (r == 1 or text ~= texts[1]) then
      out[#out + 1] = ("# dtrepl had%s: %s"):format(
        r > 1 and " on rank " .. r - 1 or "", (text:gsub("\n", "\n#   ")))
    end
  end
end

local function show_lines(P, names, out, alone)
  if not alone then
    had_lines(out, dt.debug.from_all(had_read(P.steps[#P.steps])))
  end
  for _, id in ipairs(to_show(P)) do
    if names[id] then
      out[#out + 1] = ('show("%s", %s)'):format(names[id], names[id])
      if not alone then had_lines(out, dt.debug.from_all(had(P, id))) end
    end
  end
end

-- had_apart(P, names) -> comments of what each rank had of what it shows, where
-- ranks did different things.  Collective.
function M.had_apart(P, names)
  local mine, out = {}, {}
  for _, id in ipairs(not P.fails and #P.steps > 0 and to_show(P) or {}) do
    local text = names[id] and had(P, id) or ""
    if text ~= "" then mine[#mine + 1] = names[id] .. "\2" .. text end
  end
  for r, all in ipairs(dt.debug.from_all(table.concat(mine, "\1"))) do
    for name, text in all:gmatch("([^\1\2]+)\2([^\1]+)") do
      out[#out + 1] = ("# dtrepl had %s on rank %d: %s"):format(name, r - 1,
        (text:gsub("\n", "\n#   ")))
    end
  end
  return out
end

local function any(P, f)
  for _, s in ipairs(P.steps) do if f(s) then return true end end
  return false
end

local function text_has(lines, pattern)
  for _, l in ipairs(lines) do if l:find(pattern) then return true end end
  return false
end

-- script(P, lines, names, {alone}) -> text.  Collective, unless `alone`.
-- What the lines call is defined; the lines decide, as they hold what every rank
-- wrote: this rank's own part may need less.
function M.script(P, lines, names, o)
  local n = P.ranks
  local out = {IMPORTS, n <= REAL and FORK:format(n, n, n) or FAKE:format(n, n)}
  local function part(text) out[#out + 1] = text:gsub("^\n+", "\n") .. "" end
  local shows = not P.fails and #P.steps > 0
  if shows or text_has(lines, "show%(") then part(SHOW) end
  if text_has(lines, "%f[%w_]fill%(") or text_has(lines, "%f[%w_]numbers%(") then
    part(BYTES)
  end
  if text_has(lines, "drawn%(") then part(DRAWN) end
  if text_has(lines, "zeroed%(") then part(ZEROED) end
  if any(P, function (s) return s.implicit end) then part(IMPLICIT) end
  if text_has(lines, "explicitly%(") then part(EXPLICIT) end
  if any(P, function (s) return s.taken_over end) then
    out[1] = out[1] .. LOSS
  end
  if text_has(lines, "^register_sharding%(") then out[1] = out[1] .. RULES end
  if any(P, function (s) return s.kind == "raw" end) then part(COLLECTIVE) end
  local head = table.concat(out, "\n"):gsub("\n\n\n+", "\n\n\n")
  local body = {}
  for i, l in ipairs(lines) do body[i] = l end
  if shows and not P.differ then show_lines(P, names, body, o.alone) end
  if not P.fails then body[#body + 1] = "dist.barrier()" end
  body[#body + 1] = "dist.destroy_process_group()"
  if n <= REAL then
    body[#body + 1] = 'if "WORLD_SIZE" not in os.environ:\n    leave()'
  end
  return head .. "\n\n" .. table.concat(body, "\n") .. "\n"
end

return M
