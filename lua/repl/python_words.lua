-- SPDX-License-Identifier: MIT
-- repl/python_words.lua: calls and examples of help pages, which are written
-- in Lua once, as Python says them: keyword tables are keywords, lists lists,
-- x:f is x.f, dt.f the name that PyTorch has. What Python does not have at all
-- has no such form.

local M = {}

-- Names that programs import, by the module they come from; others of dt are
-- torch's.
local imported = {}
for module, names in next, {
  ["torch.distributed.device_mesh"] = "init_device_mesh DeviceMesh",
  ["torch.distributed.tensor"] = "DTensor Shard Replicate Partial "
    .. "distribute_tensor distribute_module",
  ["torch.distributed.tensor.parallel"] = "ColwiseParallel RowwiseParallel "
    .. "SequenceParallel PrepareModuleInput PrepareModuleOutput "
    .. "PrepareModuleInputOutput parallelize_module loss_parallel ParallelStyle",
  ["torch.distributed.tensor.experimental"] = "context_parallel "
    .. "implicit_replication local_map register_sharding",
  ["torch.distributed.fsdp"] = "fully_shard FSDPModule MixedPrecisionPolicy "
    .. "CPUOffloadPolicy OffloadPolicy register_fsdp_forward_method "
    .. "share_comm_ctx DataParallelMeshDims",
  ["torch.nn.attention"] = "sdpa_kernel SDPBackend",
} do
  for name in names:gmatch "%S+" do imported[name] = module end
end

-- The first name after dt, where Python's is another; false: not in Python.
local places = {distributed = "dist", nn = "nn", F = "F", tensor_parallel = "",
  fsdp = "", spmd = "spmd", rank = "dist.get_rank", world_size =
  "dist.get_world_size", inf = "float('inf')", nan = "float('nan')"}
for name in ("slice ellipsis is_dtensor is_fake command error expect world debug "
  .. "float8 breakpoint trust meta save_plan checkpoint None"):gmatch "%S+" do
  places[name] = false
end

local function lacks() error({lacks = true}, 0) end

-- dt.NAMES as Python spells it.
local function spelled(names)
  local first = names[1]
  if imported[first] then return table.concat(names, ".") end
  local place = places[first]
  if place == false then lacks() end
  if place == nil then return "torch." .. table.concat(names, ".") end
  local rest = table.concat(names, ".", 2)
  if place == "" and rest == "" then lacks() end
  if place == "" or rest == "" then return place .. rest end
  return place .. "." .. rest
end

-- ---- reading: words, with what stands in brackets as a list of items ----

local closing = {["("] = ")", ["["] = "]", ["{"] = "}"}

local function word_at(text, i)
  local s = text:match('^"[^"]*"', i) or text:match("^'[^']*'", i)
    or text:match("^[%a_][%w_]*", i) or text:match("^%d[%w.]*[eE][-+]?%d+", i)
    or text:match("^%d[%w.]*", i) or text:match("^%s+", i)
    or text:match("^…", i) or text:match("^[=~<>]=", i) or text:sub(i, i)
  return s, i + #s
end

-- Items up to `close`, each a list of words and groups; where it ended.
local function read(text, i, close)
  local items, item = {{}}, nil
  item = items[1]
  while i <= #text do
    local w, after = word_at(text, i)
    i = after
    if w == close then return items, i end
    if closing[w] then
      local inner
      inner, i = read(text, i, closing[w])
      item[#item + 1] = {open = w, items = inner}
    elseif w == "," and close then
      item = {}
      items[#items + 1] = item
    else
      item[#item + 1] = w
    end
  end
  if close then lacks() end
  return items, i
end

local function trimmed(item)
  local first, last = 1, #item
  while type(item[first]) == "string" and item[first]:match("^%s") do
    first = first + 1
  end
  while last >= first and type(item[last]) == "string"
      and item[last]:match("^%s") do
    last = last - 1
  end
  return table.move(item, first, last, 1, {})
end

-- The items of a group without the empty one that a last comma or () leaves.
local function items_of(group)
  local out = {}
  for _, item in ipairs(group.items) do
    local t = trimmed(item)
    if #t > 0 then out[#out + 1] = t end
  end
  return out
end

-- NAME = VALUE, or ["NAME"] = VALUE: both, and whether it is one.
local function keyed(item)
  local name = item[1]
  if type(name) == "table" and name.open == "[" then
    name = name.items[1][1]:match("^[\"'](.*)[\"']$")
  end
  local i = type(item[2]) == "string" and item[2]:match("^%s") and 3 or 2
  if type(name) ~= "string" or item[i] ~= "=" then return nil end
  return name, trimmed(table.move(item, i + 1, #item, 1, {}))
end

-- ---- saying ----

local say

local words = {["true"] = "True", ["false"] = "False", ["nil"] = "None",
  ["~="] = "!=", ["^"] = "**"}

-- "S(0) R" -> [Shard(0), Replicate()]; nil for another text.
local function placements(text)
  local out = {}
  for word in text:gmatch "%S+" do
    local dim, op = word:match("^S%((%-?%d+)%)$"), word:match("^P%((%a+)%)$")
    out[#out + 1] = dim and ("Shard(%s)"):format(dim) or word == "R" and
      "Replicate()" or op and ('Partial("%s")'):format(op) or nil
    if not dim and not op and word ~= "R" then return nil end
  end
  return #out > 0 and "[" .. table.concat(out, ", ") .. "]" or nil
end

local function is_keyed(group)
  for _, item in ipairs(items_of(group)) do
    if keyed(item) then return true end
  end
end

-- Arguments of a call; a table with keys is keywords.
local function arguments(items)
  local out = {}
  for _, item in ipairs(items) do
    local only = #item == 1 and item[1]
    if type(only) == "table" and only.open == "{" and is_keyed(only) then
      for _, sub in ipairs(items_of(only)) do
        local name, value = keyed(sub)
        out[#out + 1] = name and ("%s=%s"):format(name, #value > 0 and say(value)
          or "…") or say(sub)
      end
    else
      local name, value = keyed(item)
      out[#out + 1] = name and ("%s=%s"):format(name, say(value)) or say(item)
    end
  end
  return "(" .. table.concat(out, ", ") .. ")"
end

-- A table that is a value.
local function list(group)
  local out, plain = {}, true
  for _, item in ipairs(items_of(group)) do
    local name, value = keyed(item)
    if name then
      out[#out + 1] = ('"%s": %s'):format(name, say(value))
    else
      out[#out + 1] = say(item)
      plain = plain and #item == 1 and type(item[1]) == "string"
        and item[1]:match("^[%d\"']") ~= nil
    end
  end
  local text = table.concat(out, ", ")
  if is_keyed(group) then return "{" .. text .. "}" end
  if #out == 1 and text:match("^%l[%l_]*$") then return text end
  if not plain or #out == 0 then return "[" .. text .. "]" end
  return "(" .. text .. (#out == 1 and "," or "") .. ")"
end

-- x[{a, b}] is x[a, b].
local function index(group)
  local items = items_of(group)
  local only = #items == 1 and #items[1] == 1 and items[1][1]
  if type(only) == "table" and only.open == "{" then items = items_of(only) end
  local out = {}
  for i, item in ipairs(items) do out[i] = say(item) end
  return "[" .. table.concat(out, ", ") .. "]"
end

local function is_value(w)
  return type(w) == "table" or w ~= nil and w:match("^[%w_\"'.]") ~= nil
end

-- function (a) return V end, from word i: a lambda, and the word after it.
local function lambda(item, i)
  local depth, stop = 1, i + 1
  local params
  while stop <= #item and depth > 0 do
    local w = item[stop]
    if w == "function" then depth = depth + 1 end
    if w == "end" then depth = depth - 1 end
    if not params and type(w) == "table" then params = w end
    stop = stop + 1
  end
  local body, seen = {}, false
  for k = i + 1, stop - 2 do
    if seen then body[#body + 1] = item[k] end
    seen = seen or item[k] == params
  end
  body = trimmed(body)
  if body[1] == "…" then return "function", stop end
  if #body == 0 then return "lambda *_: None", stop end
  if body[1] ~= "return" then lacks() end
  local names = arguments(items_of(params)):sub(2, -2)
  return ("lambda%s: %s"):format(names ~= "" and " " .. names or "",
    say(trimmed(table.move(body, 2, #body, 1, {})))), stop
end

-- The names after dt at word i, and the word after them.
local function chain(item, i)
  local names = {}
  while item[i + 1] == "." and type(item[i + 2]) == "string" do
    names[#names + 1], i = item[i + 2], i + 2
  end
  if #names == 0 then lacks() end
  if #names == 1 and names[1] == "None" then return "None", i + 1 end
  return spelled(names), i + 1
end

-- #VALUE at word i: the value's names and brackets are taken.
local function length(item, i)
  local stop = i + 1
  while is_value(item[stop]) or item[stop] == ":" do stop = stop + 1 end
  return "len(" .. say(table.move(item, i + 1, stop - 1, 1, {})) .. ")", stop
end

local function group_text(w, before)
  local called = is_value(before) and before ~= "return"
  if w.open == "{" then
    return called and arguments {{w}} or list(w)
  elseif w.open == "[" then
    return called and index(w) or list(w)
  end
  return arguments(items_of(w))
end

local function single(w, before)
  if w:match("^[\"']") then
    return placements(w:sub(2, -2)) or w
  elseif w == ":" and is_value(before) then
    return "."
  elseif w == "local" or w == "require" then
    lacks()
  end
  return words[w] or w
end

-- Words and groups as Python.
function say(item)
  local out, i, before = {}, 1, nil
  while i <= #item do
    local w = item[i]
    local text, after = nil, i + 1
    if type(w) == "table" then
      text = group_text(w, before)
    elseif w == "dt" and before ~= "." then
      text, after = chain(item, i)
    elseif w == "function" then
      text, after = lambda(item, i)
    elseif w == "#" then
      text, after = length(item, i)
    else
      text = single(w, before)
    end
    out[#out + 1] = text
    before, i = item[after - 1], after
  end
  return table.concat(out)
end

-- Pages whose names Python spells otherwise: how it is called, an example; false
-- where Python has no such name.
M.own = {
  ["autograd"] = {"torch.autograd.grad, backward, Function",
    "w = torch.ones(2, requires_grad=True); torch.autograd.grad(w.sum(), [w])"},
  ["autograd.backward"] = {"torch.autograd.backward(tensors, gradients)",
    "w = torch.ones(2, requires_grad=True); torch.autograd.backward([w.sum()]); w.grad"},
  ["autograd.grad"] = {"torch.autograd.grad(outputs, inputs, grad_outputs=None, "
    .. "retain_graph=None, create_graph=False, allow_unused=None)",
    "w = torch.ones(2, requires_grad=True); torch.autograd.grad(w.sum(), [w])"},
  ["x.grad"] = {"x.grad", "w = torch.ones(2, requires_grad=True); w.sum().backward(); "
    .. "w.grad"},
  ["x:backward"] = {"y.backward(gradient=None)",
    "w = torch.ones(2, requires_grad=True); w.sum().backward(); w.grad"},
  ["x.mT"] = {"x.mT", "torch.ones(2, 3).mT.shape"},
  ["module:load_state_dict"] = {"module.load_state_dict(state, strict=True)",
    "m = nn.Linear(2, 2); m.load_state_dict(m.state_dict())"},
  parallelize_module = {"parallelize_module(module, device_mesh, "
    .. "{\"name\": ColwiseParallel(), …})", "parallelize_module(nn.Linear(4, 4), "
    .. "init_device_mesh(\"cpu\", (4,)), ColwiseParallel()).weight.placements"},
  ["lr_scheduler.MultiplicativeLR"] = {"torch.optim.lr_scheduler.MultiplicativeLR("
    .. "optimizer, lr_lambda)", "torch.optim.lr_scheduler.MultiplicativeLR("
    .. "torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1), lambda e: 0.9)"},
  ["lr_scheduler.SWALR"] = {"torch.optim.swa_utils.SWALR(optimizer, swa_lr)",
    "torch.optim.swa_utils.SWALR(torch.optim.SGD(nn.Linear(2, 2).parameters(), "
    .. "lr=0.1), 0.05)"},
  ["fsdp.replicate"] = {"torch.distributed._composable.replicate(module, "
    .. "device_mesh=mesh)", "from torch.distributed._composable import replicate; "
    .. "replicate"},
  share_comm_ctx = {"share_comm_ctx(modules)",
    "from torch.distributed.fsdp import share_comm_ctx; share_comm_ctx"},
  register_fsdp_forward_method = {"register_fsdp_forward_method(module, name)",
    "from torch.distributed.fsdp import register_fsdp_forward_method; "
    .. "register_fsdp_forward_method"},
  barrier = {"torch.distributed.barrier(group=None)",
    "torch.distributed.barrier()"},
  context_parallel_unshard = {"context_parallel_unshard(mesh, buffers, seq_dims)",
    "from torch.distributed.tensor.experimental._attention import "
    .. "context_parallel_unshard; context_parallel_unshard"},
  _StridedShard = {"_StridedShard(dim, split_factor=…)",
    "from torch.distributed.tensor.placement_types import _StridedShard; "
    .. "_StridedShard(0, split_factor=2)"},
  _MaskPartial = {"_MaskPartial(reduce_op=\"sum\", offset_shape=…, offset_dim=0)",
    "from torch.distributed.tensor.placement_types import _MaskPartial; "
    .. "_MaskPartial()"},
  DataParallelMeshDims = {"DataParallelMeshDims(shard=…, replicate=…)",
    "from torch.distributed.fsdp import DataParallelMeshDims; DataParallelMeshDims"},
  get_printoptions = false, ["x.name"] = false, ["mesh:ranks"] = false,
}

-- with torch.no_grad(): for what Lua gives a function.
local function context(text)
  local head, inside = text:match("^(dt%.[%w_.]+%([^()]*%)?)function %(%) (.*) end%)$")
  if not head then return nil end
  head = head:gsub(",? ?$", "")
  local body = inside == "…" and "…" or say(read(inside:gsub("^return ", ""), 1)[1])
  return ("with %s): %s"):format(say(read(head .. ")", 1)[1]):sub(1, -2), body)
end

-- An operator whose name is a word of Lua, or whose overload's is one of Python.
local function unworded(text)
  text = text:gsub("^(torch%.ops%.%l+)%[\"(%l+)\"%]", "%1.%2")
  return (text:gsub("^(torch%.ops%.[%w_.]+)%.from(%b())", 'getattr(%1, "from")%2'))
end

-- What makes distributed tensors has a module of its own.
local function placed(text)
  return (unworded(text):gsub("torch(%.%l+)(%b())", function (name, inside)
    return inside:find("device_mesh=", 1, true)
      and "torch.distributed.tensor" .. name .. inside or nil
  end))
end

-- translate(text): a call or an expression of Lua as Python's; nil where Python
-- has nothing like it.
function M.translate(text)
  local ok, out = pcall(function ()
    return context(text) or say(read(text, 1)[1])
  end)
  if ok then return placed(out) end
  if type(out) ~= "table" then error(out, 0) end
  return nil
end

-- The names and brackets of Lua in a sentence, as Python's.
function M.prose(text)
  text = text:gsub("%f[%w]dt%.([%w_.]*[%w_])", function (names)
    return M.translate("dt." .. names)
  end)
  text = text:gsub("%f[%w]([%w_]+):(%a[%w_]*%f[(%s,;.])", function (x, name)
    return #x <= 6 and x .. "." .. name or nil
  end)
  return (text:gsub("%b{}", M.translate))
end

-- The import that a name of the text needs, as a line; nil for none.
function M.import(text)
  local name = text:match("^[%w_]+")
  local module = imported[name]
  return module and ("from %s import %s"):format(module, name)
end

return M
