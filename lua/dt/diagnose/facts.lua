-- SPDX-License-Identifier: MIT
-- dt/diagnose/facts.lua: what a report states, class or no class: operator,
-- arguments, meshes, ranks that raised, frames, sizes.
--
-- An operator is looked for where PyTorch prints it (phrases below), then
-- anywhere in the form aten.name.overload; names that lost their underscores
-- are found by their letters in the table of operators.

local clean = require "dt.diagnose.clean"
local grammar = require "dt.diagnose.grammar"
local opnames = require "dt.diagnose.opnames"
local ops = require "dt.diagnose.ops"

local M = {}

-- ---- operators ---------------------------------------------------------

-- Operators outside aten that people meet, those whose name is often
-- written without its namespace, and some of aten that have no strategy.
local others = {
  "npu.npu_fusion_attention.default", "npu.npu_fusion_attention_grad.default",
  "npu.npu_fusion_attention_v2.default", "npu._npu_dtype_cast.default",
  "npu.npu_rms_norm.default", "npu.npu_rotary_mul.default",
  "npu.npu_swiglu.default", "flash_attn._flash_attn_forward.default",
  "flash_attn._flash_attn_varlen_forward.default",
  "flash_attn._flash_attn_backward.default",
  "flash_attn._flash_attn_varlen_backward.default",
  "_c10d_functional.all_gather_into_tensor.default",
  "c10d.broadcast_.default", "c10d.allreduce_.default",
  "_dtensor.shard_dim_alltoall.default", "torchtitan.deterministic_topk.default",
  "quanto.quantize_symmetric.default",
  "aten._pin_memory.default",
  "aten.masked_select.default",
  "aten.im2col.default",
  "aten.is_pinned.default",
  "aten._linalg_svd.default",
  "aten.linalg_qr.default",
  "aten.grid_sampler_2d.default",
  "aten.repeat_interleave.Tensor",
  "aten._weight_norm_interface.default",
}

local table_of_ops

-- {[name] = {first, last}}, {[squash] = name}, {[squashed base] = name}
function M.ops()
  if table_of_ops then return table_of_ops end
  local t = {span = {}, by_squash = {}, by_base = {}}
  local function add(op, span)
    t.span[op] = span
    t.by_squash[clean.squash(op)] = op
    local base = clean.squash(op:match "^[^.]+%.([^.]+)")
    if not t.by_base[base] or op:find "%.default$" then t.by_base[base] = op end
  end
  for _, row in ipairs(ops) do
    local span = {row[1], row[2]}
    for op in row[3]:gmatch "%S+" do add(op, span) end
  end
  for _, op in ipairs(others) do add(op, nil) end
  table_of_ops = t
  return t
end

-- Operators that take functions; they have no namespace.
local higher_order = {flex_attention = true, flex_attention_backward = true}

-- "aten::add.Tensor", "aten.mm", "torch.ops.npu.x" to namespace.name.overload.
function M.canonical(op)
  if higher_order[op] then return op end
  op = op:gsub("^torch%.ops%.", ""):gsub("::", "."):gsub("%.+$", "")
  if op:find "^torch%." then return nil end
  local ns, base, over = op:match "^([%w_]+)%.([%w_]+)%.?([%w_]*)$"
  if not ns then return nil end
  if over == "" then over = "default" end
  return ns .. "." .. base .. "." .. over
end

-- A name whose underscores or dots were lost.
local function by_letters(word)
  local s = clean.squash(word)
  if #s < 5 then return nil end
  local t = M.ops()
  return t.by_squash[s] or t.by_squash[s .. "default"] or t.by_base[s]
end

local NAME = "[%w_]+[%.:]+[%w_%.:]*[%w_]"

-- Where PyTorch prints the operator: before or after these words.  In this
-- order; the first that gives one wins.
local before = {"got mixed torch", "got mixed", ": in-place operations that",
  ": DTensor does not support cross"}
local after = {"Operator ", "All operands in ", "Sharding propagation failed for ",
  "failed on op Op(op=", "failed on op ", "from dtensor args for ",
  "mesh from args for op : ", "cross-mesh operation on ",
  "redistribution occurred for ", "OutputShapeException: ", "NYI: ",
  "NotImplementedError: ", "Op(op=", "Cannot run ",
  "DTensorSpec in args for ", "implementation for ", "operator ", "operation: "}

local PLACES = 1000             -- of one phrase that are looked at

local function op_before(flat, mark)
  local at = flat:find(mark, 1, true)
  for _ = 1, PLACES do
    if not at then break end
    local head = flat:sub(math.max(1, at - 120), at - 1)
    local tail = head:match("(" .. NAME .. ")[`'\"%s:*()]*$")
    local op = tail and M.canonical(tail)
    if op then return op, at end
    local word = head:match("([%w_]+)[`'\"%s:*()]*$")
    if word and higher_order[word] then return word, at end
    -- a name cut in two by a line break
    local a, b = head:match("([%w_%.]+) ([%w_%.]+)[`'\"%s:*()]*$")
    op = a and M.canonical(a .. b)
    if op and M.ops().span[op] then return op, at end
    at = flat:find(mark, at + 1, true)
  end
end

local namespaces = {aten = true, prims = true, npu = true, flash_attn = true,
  torchao = true, quanto = true, _c10d_functional = true, c10d = true,
  _dtensor = true, torchtitan = true, xpu = true, hpu = true, mlu = true,
  transformer_engine = true, te = true, xformers = true, vllm = true,
  fbgemm = true, musa = true, torchvision = true, mylib = true, custom = true}

local function op_after(flat, mark)
  local at = flat:find(mark, 1, true)
  for _ = 1, PLACES do
    if not at then break end
    local rest = flat:sub(at + #mark, at + #mark + 160)
    local name = rest:match("^[`'\"*(<%s]*(" .. NAME .. ")")
    local op = name and M.canonical(name)
    if op and (namespaces[op:match "^[^.]+"] or mark == "Operator "
               or mark == "All operands in " or M.ops().span[op]) then
      return op, at
    end
    at = flat:find(mark, at + 1, true)
  end
end

-- Any name of a known namespace, in messages rather than in code.
local function op_anywhere(flat)
  for at, name in flat:gmatch("%f[%w_]()(" .. NAME .. ")") do
    name = name:gsub("^torch%.ops%.", "")
    local ns = name:match "^[%w_]+"
    if namespaces[ns] then
      local op = M.canonical(name)
      -- transformer_engine.pytorch.Linear is a class of a module
      local class = op and op:find "^[%w_]+%.%w+%.%u%l"
        and not M.ops().span[op] and not op:find "%.Tensor" and not
        op:find "%.Scalar"
      if op and not class and (M.ops().span[op] or ns ~= "custom") and not
        op:find "^c10d%.distributed" then
        return op, at
      end
    end
  end
end

-- Letters before a phrase, in articles: "npufusionattention操作中同时存在".
local function op_by_letters(flat)
  for word in flat:gmatch "[%a][%w_%.]+" do
    if #word >= 10 and (word:find "attention" or word:find "^aten"
                        or word:find "^npu" or word:find "foreach") then
      local op = by_letters(word)
      if op then return op end
    end
  end
end

-- The operator of the table that `op` is when it lost its underscores.
local function known(op)
  local t = M.ops()
  if t.span[op] then return op end
  local found = t.by_squash[clean.squash(op)]
  if found then return found end
  -- an overload joined to the name: aten.add_Tensor
  local base = op:match "^aten%.([%w_]+)%.default$"
  return base and opnames.joined(t, base) or op
end

-- OpOverload(op='aten.view', overload='default')
local function op_overload(flat)
  local op, over = flat:match "op='([%w_]+%.[%w_]+)', overload='([%w_]+)'"
  return op and M.canonical(op .. "." .. over)
end

local find_op

-- The operator of the error, and how it was found: "message", "text",
-- "letters".
function M.op_of(doc)
  local op, how = find_op(doc.flat)
  op = op and known(op)
  if op and M.ops().span[op] then return op, how end
  -- a name that a line break cut in two
  if #doc.text < 1 << 20 then
    local whole, how2 = find_op((doc.text:gsub("\n%s*", "")))
    whole = whole and known(whole)
    if whole and M.ops().span[whole] and how2 == "message" then
      return whole, how2
    end
  end
  return op, how
end

function find_op(flat)
  for _, mark in ipairs(before) do
    local op = op_before(flat, mark)
    if op then return op, "message" end
  end
  for _, mark in ipairs(after) do
    local op = op_after(flat, mark)
    if op then return op, "message" end
  end
  local op = op_overload(flat) or op_anywhere(flat)
  if op then return op, "text" end
  op = op_by_letters(flat)
  if op then return op, "letters" end
end

-- The operator behind `mark`, for classes that know where theirs stands.
function M.op_at(doc, mark) return (op_after(doc.flat, mark)) end

-- ---- frames ------------------------------------------------------------

-- Frames of tracebacks, outermost first as printed: {path, line, func}.
function M.frames_of(doc)
  local list = {}
  for _, line in ipairs(doc.lines) do
    local path, no, fn = line:match '^%s*File "([^"]+)", line (%d+),? ?i?n? ?(.*)$'
    if path then
      list[#list + 1] = {path = path, func = fn,
        line = math.tointeger(tonumber(no)) or 0}
      if #list >= 4000 then break end
    end
  end
  return list
end

local function of_library(path)
  return path:find("torch/", 1, true) or path:find("<frozen", 1, true)
    or path:find("/runpy.py", 1, true) or path:find("importlib", 1, true)
end

-- The last frame that is the user's own.
function M.user_frame(frames)
  for i = #frames, 1, -1 do
    local f = frames[i]
    if not of_library(f.path) and not f.path:find("site-packages", 1, true)
    then
      return f
    end
  end
  for i = #frames, 1, -1 do
    if not of_library(frames[i].path) then return frames[i] end
  end
end

-- ---- meshes and arguments ----------------------------------------------

local function same_mesh(a, b)
  if #a.shape ~= #b.shape then return false end
  for i = 1, #a.shape do
    if a.shape[i] ~= b.shape[i] then return false end
  end
  return table.concat(a.names or {}, ",") == table.concat(b.names or {}, ",")
end

local function pieces(text, mark, p, found)
  local at, n = 1, 0
  while n < 100 do
    local a = text:find(mark, at, true)
    if not a then return end
    local ok, value = pcall(p.match, p, text:sub(a, a + 4000))
    if ok and value and (not value.shape or #value.shape > 0) then
      found[#found + 1] = value
    end
    at, n = a + #mark, n + 1
  end
end

-- A mesh given in words: "a (2, 2, 2) mesh", "mesh (ddp, fsdp, abcd)".
local function told(flat)
  local shape, names
  local printed = flat:match "@ mesh:%s*%((%d[%d,%s]*)%)"
  if printed then                   -- as an operator's schema prints it
    shape = {}
    for n in printed:gmatch "%d+" do
      shape[#shape + 1] = math.tointeger(tonumber(n)) or 1 << 53
    end
  end
  local at = 1
  for _ = 1, 60 do
    local a = flat:find("[Mm]esh", at)
    if not a or (shape and names) then break end
    local near = flat:sub(math.max(1, a - 40), a + 80)
    if not shape then
      -- the pair is beside the word: "(2, 4) device mesh", "mesh of shape
      -- (2, 4)"; any pair nearby would make a mesh of a loop's bounds
      local list = flat:sub(math.max(1, a - 40), a - 1):match
        "[%[(](%d+%s*,%s*%d+[%d,%s]*)[%])][ %-]?[Dd]?e?v?i?c?e?[ %-_]?$"
        or flat:sub(a, a + 60):match
        "^[Mm]esh[%a_]*[%s:=,`'\"]*[%a%s]-[=:%s]*[%[(](%d+%s*,%s*%d+[%d,%s]*)[%])]"
      if list then
        shape = {}
        for n in list:gmatch "%d+" do
          shape[#shape + 1] = math.tointeger(tonumber(n)) or 1 << 53
        end
      end
    end
    if not names then
      local list = near:match "%(([%a_][%w_]*%s*,%s*[%a_][%w_,%s]*)%)"
      if list and not list:find "_size" then
        names = {}
        for n in list:gmatch "[%w_]+" do names[#names + 1] = n end
      end
    end
    at = a + 4
  end
  if not shape or #shape > 6 then return nil end
  local n = 1.0
  for _, s in ipairs(shape) do n = n * s end
  if n < 2 or n > 1 << 20 then return nil end
  if names and #names ~= #shape then names = nil end
  return {shape = shape, names = names}
end

-- Distinct meshes in the order met; those printed come before those in code,
-- those given in words are taken when there is none.
function M.meshes_of(doc)
  local all, list = {}, {}
  pieces(doc.flat, "DeviceMesh(", grammar.mesh, all)
  pieces(doc.flat, "mesh (", grammar.own_mesh, all)
  pieces(doc.flat, "init_device_mesh(", grammar.init_mesh, all)
  for _, m in ipairs(all) do
    local new = true
    for _, o in ipairs(list) do new = new and not same_mesh(m, o) end
    if new then list[#list + 1] = m end
  end
  if #list == 0 then list[1] = told(doc.flat:sub(1, 200000)) end
  return list
end

local function call_arguments(flat, op)
  for _, mark in ipairs {"failed for " .. op .. "(", "occurred for " .. op .. "(",
                         op .. "("} do
    local at = flat:find(mark, 1, true)
    if at then
      local rest = flat:sub(at + #mark - 1, at + #mark + 6000)
      local ok, list = pcall(grammar.arguments.match, grammar.arguments, rest)
      if ok and list and #list > 0 then return list end
    end
  end
end

local function has_spec(list)
  for _, a in ipairs(list) do
    if a.kind ~= "value" then return true end
  end
end

-- Arguments of the failing call, else every spec the text prints.
function M.args_of(doc, op)
  local list = op and call_arguments(doc.flat, op)
  if list and has_spec(list) then return list end
  local found = {}
  local at = doc.flat:find("args_schema=", 1, true)
  if at then
    local rest = doc.flat:sub(at + 12, at + 6000)
    if rest:sub(1, 1) ~= "(" then rest = "(" .. rest end
    local ok, args = pcall(grammar.arguments.match, grammar.arguments,
      rest)
    if ok and args and has_spec(args) then return args end
  end
  pieces(doc.flat, "Spec(", grammar.spec, found)
  if #found == 0 then pieces(doc.flat, "dt: ", grammar.debug_tensor, found) end
  while #found > 8 do found[#found] = nil end
  return found
end

-- Placements printed in a DTensor's repr or in a call of the report's code.
function M.placements_of(doc)
  local found = {}
  pieces(doc.flat, "placements=", grammar.repr_tail, found)
  return found
end

-- ---- ranks -------------------------------------------------------------

-- Ranks whose line ended in an exception; all ranks that spoke.
function M.ranks_of(doc)
  local set, list, warned = {}, {}, {}
  for line, ranks in pairs(doc.raised) do
    local to = clean.exception_of(line):find "Warning$" and warned or set
    for _, r in ipairs(ranks) do to[r] = true end
  end
  if not next(set) then set = warned end
  for r in pairs(set) do list[#list + 1] = r end
  table.sort(list)
  return list, doc.ranks
end

-- The last exception of the text: class, message.
function M.exceptions_of(doc)
  local list = {}
  for i, line in ipairs(doc.lines) do
    local class, message = clean.exception_of(line)
    if class then
      list[#list + 1] = {class = class, message = message, line = i}
      if #list >= 200 then break end
    end
  end
  return list
end

-- The device the report is about: of a mesh, of the operator, or named.
local devices = {{"torch_xla", "xla"}, {"%f[%a]xla%f[%A]", "xla"},
  {"xlasharded", "xla"}, {"%f[%a]tpu%f[%A]", "xla"},
  {"torch_npu", "npu"}, {"%f[%a]npu", "npu"}, {"%f[%a]ascend%f[%A]", "npu"},
  {"%f[%a]hpu%f[%A]", "hpu"}, {"gaudi", "hpu"}, {"%f[%a]xpu%f[%A]", "xpu"},
  {"%f[%a]rocm%f[%A]", "cuda"}, {"%f[%a]nccl%f[%A]", "cuda"},
  {"%f[%a]cuda", "cuda"}}

-- What a list of the environment says of machines without such a device, too.
local said_of_all = {"is cuda available: false", "cuda used to build pytorch: "
  .. "n[%a/]+", "cuda runtime version: n[%a/]+ ?c?u?d?a?", "cuda_module_loading set to: n/a",
  "rocm used to build pytorch: n/a", "is rocm available: false",
  "is xpu available: false", "hip runtime version: n/a", "torch%.cuda%.is_available%(%)"}

function M.device_of(doc, meshes, op)
  for _, m in ipairs(meshes) do
    if m.device then return m.device end
  end
  local ns = op and op:match "^[^.]+"
  if ns == "npu" or ns == "hpu" or ns == "xpu" then return ns end
  local low = (doc.flat:sub(1, 200000) .. "\n" .. doc.machine:sub(1, 100000)):lower()
  local made = low:match "device_?mesh%(%s*[\"'](%l+)[\"']"
  if made then return made end
  for _, text in ipairs(said_of_all) do low = low:gsub(text, "") end
  for _, d in ipairs(devices) do
    if low:find(d[1]) then return d[2] end
  end
end

-- ---- sizes -------------------------------------------------------------

-- World and degrees: tp=8, tensor_parallel_size 4, --nproc_per_node=8, ...
local degrees = {
  tp = {"tensor[_%- ]parallel[_%- ]?%a*[\"']?%s*[:= ]%s*(%d+)",
        "tp[_%- ]?%a*[\"']?%s*[:=]%s*(%d+)", "tp(%d+)%f[%D]"},
  dp = {"dp[_%a]*[\"']?%s*[:=]%s*(%d+)", "fsdp[\"']?%s*=%s*(%d+)",
        "data_parallel_%a+%s*[:= ]%s*(%d+)"},
  cp = {"cp[_%a]*[\"']?%s*[:=]%s*(%d+)",
        "context_parallel_%a+%s*[:= ]%s*(%d+)"},
  world = {"nproc[_-]per[_-]node[= ]+(%d+)", "world[_ ]size[\"']?%s*[:= ]+(%d+)",
           "num_processes[\"']?%s*[:= ]+(%d+)", "%f[%d](%d+)%s*gpus?%f[%A]"},
}

function M.degrees_of(doc)
  local low, out = doc.flat:sub(1, 200000):lower(), {}
  for key, patterns in pairs(degrees) do
    for _, p in ipairs(patterns) do
      local v = tonumber((low:match(p)))
      if v and v > 1 and v <= 1 << 20 then out[key] = v; break end
    end
  end
  return out
end

return M
