-- SPDX-License-Identifier: MIT
-- dt/diagnose/opnames.lua: the operator of a report that does not print its
-- full name: from the symbols of C++ frames, from the line that raises, from
-- the frames of torch's own functions, from a name in the text.  Each answer
-- says where it was read.

local clean = require "dt.diagnose.clean"
local code = require "dt.diagnose.code"

local M = {}

-- Functions whose work another operator does; what DTensor then names.
local composite = {
  matmul = "aten.mm.default", mm = "aten.mm.default", linear = "aten.mm.default",
  bmm = "aten.bmm.default", einsum = "aten.bmm.default",
  layer_norm = "aten.native_layer_norm.default",
  rms_norm = "aten._fused_rms_norm.default",
  group_norm = "aten.native_group_norm.default",
  batch_norm = "aten.native_batch_norm.default",
  softmax = "aten._softmax.default", log_softmax = "aten._log_softmax.default",
  cross_entropy = "aten._log_softmax.default",
  scaled_dot_product_attention =
    "aten._scaled_dot_product_flash_attention.default",
  conv1d = "aten.convolution.default", conv2d = "aten.convolution.default",
  conv3d = "aten.convolution.default", _conv_forward = "aten.convolution.default",
  dropout = "aten.native_dropout.default", pad = "aten.constant_pad_nd.default",
  flatten = "aten.view.default", reshape = "aten.view.default",
  view = "aten.view.default", item = "aten._local_scalar_dense.default",
  tolist = "aten._local_scalar_dense.default",
  nonzero = "aten.nonzero.default", masked_select = "aten.masked_select.default",
  where = "aten.where.self", norm = "aten.linalg_vector_norm.default",
  vector_norm = "aten.linalg_vector_norm.default",
  to = false, size = false, float = false, len = false, print = false,
  range = false, zeros = false, ones = false, randn = false, rand = false,
  empty = false, full = false, arange = false, tensor = false, clone = false,
  detach = false, contiguous = false, cuda = false, cpu = false,
  copy = false, set = false, min = false, max = false, sum = false,
  all = false, any = false, abs = false, split = false, sort = false,
  index = false, repr = false, zip = false, dot = false, pow = false,
}

local preferred = {"Tensor", "default", "int", "self", "dim", "Scalar", "List"}

-- The operator of the table whose base is `name`, by the overload that code
-- with tensors reaches most often.
local function by_name(ops, name)
  for _, over in ipairs(preferred) do
    local op = ("aten.%s.%s"):format(name, over)
    if ops.span[op] then return op end
  end
end

-- What `path` of a call or an operator sign comes to.
local function op_of_path(ops, path)
  local last = path:match "[%w_]+$"
  if not last then return nil end
  local tensor = path:find "^torch%.[%w_]+$" or path:find "^F%.[%w_]+$"
    or path:find "functional%.[%w_]+$" or not path:find "%."
  local made = composite[last]
  if made then return made end
  if made == false and not path:find "^torch%.%w" and path:find "[%.%?]" == nil
  then
    return nil
  end
  if made == false and not path:find "^torch%.%w" then return nil end
  local op = by_name(ops, last)
  if op and (tensor or #last > 3) then return op end
end

-- The operator that a function's or a method's name comes to, or nil.
function M.comes_to(name) return composite[name] or nil end

-- ---- C++ symbols -------------------------------------------------------

-- "add_Tensor", "mm", "index_put_": base and overload are joined.
function M.joined(ops, name)
  if ops.span["aten." .. name .. ".default"] then
    return "aten." .. name .. ".default"
  end
  local base, over = name:match "^(.+)_([%a][%w]*)$"
  while base do
    local op = ("aten.%s.%s"):format(base, over)
    if ops.span[op] then return op end
    local shorter, more = base:match "^(.+)_([%a][%w]*)$"
    if not shorter then break end
    base, over = shorter, more .. "_" .. over
  end
end

local function of_symbols(ops, flat)
  local n = 0
  for name in flat:gmatch "at::_ops::([%w_]+)::" do
    n = n + 1
    local op = M.joined(ops, name)
    if op then return op end
    if n > 50 then break end
  end
  for len, rest in flat:gmatch "_ops(%d+)([%a_][%w_]*)" do
    local k = math.tointeger(tonumber(len)) or 0
    local op = k > 0 and k <= #rest and M.joined(ops, rest:sub(1, k))
    if op then return op end
  end
end

-- ---- the line that raises ----------------------------------------------

local skipped = {"torch/distributed/tensor", "torch/distributed/_tensor",
  "torch/_compile", "torch/_dynamo", "torch/_ops", "torch/utils/",
  "torch/_prims", "torch/_subclasses", "torch/overrides", "torch/_library",
  "torch/autograd", "torch/_tensor.py"}

local function of_dispatch(path)
  for _, s in ipairs(skipped) do
    if path:find(s, 1, true) then return true end
  end
end

-- The first operator of a list that a message about several tensors can mean.
local function choose(ops, list, several)
  local found
  for _, o in ipairs(list) do
    local op = not (several and o[2] < 2) and op_of_path(ops, o[1])
    if op and (not found or o[1]:find "^[%w]+_?$") then
      found = op
      if not o[1]:find "%." then break end
    end
  end
  return found
end

-- Innermost frame that is not the dispatcher's own, with its line of code.
local function of_frames(ops, doc, several)
  local lines, tried = doc.lines, 0
  for i = #lines, 1, -1 do
    local path, fn = lines[i]:match '^%s*File "([^"]+)", line %d+,? ?i?n? ?(.*)$'
    if path and not of_dispatch(path) then
      tried = tried + 1
      if tried > 3 then return nil end
      local text = lines[i + 1] or ""
      local under = lines[i + 2]
      if not (under and under:find "^%s*[~%^]+%s*$") then under = nil end
      local op = choose(ops, code.operators_of_line(text, under), several)
      if not op and path:find("torch/nn/functional", 1, true) then
        op = composite[fn] or by_name(ops, fn)
      end
      if op then return op, text:match "^%s*(.-)%s*$" end
      if not path:find("site-packages", 1, true)
        and not path:find("torch/", 1, true) then
        return nil
      end
    end
  end
end

-- Functions whose arguments are looked at, not computed with further.
local looking = {print = true, assert_close = true, allclose = true,
  assertEqual = true, info = true, debug = true, warning = true, log = true}

-- Functions that make the tensors of an example: no layout is at stake there.
local making = {rand = true, randn = true, randint = true, randperm = true,
  zeros = true, ones = true, empty = true, full = true, arange = true,
  linspace = true, eye = true, tensor = true}

-- Operators of a statement without those that only make its tensors.
local function computed_in(tree)
  local kept = {}
  for _, o in ipairs(code.operators(tree)) do
    if not making[o[1]:match "^torch%.([%w_]+)$" or ""] then
      kept[#kept + 1] = o
    end
  end
  return kept
end

-- Does a statement only print or compare results?
local function only_looks(tree)
  if tree.kind == "assert" then return true end
  local value = tree.kind == "expr" and tree.value
  return value and value.kind == "call" and value.fn
    and looking[code.dotted(value.fn):match "[%w_]+$"] or false
end

-- A line of code that is alone in the text: the last before the error.
-- What a block begins with compares numbers, not tensors.
local function of_snippet(ops, doc, several)
  local found, text
  for _, s in ipairs(code.statements(doc)) do
    local before = doc.lines[s.line - 1]
    if s.tree.kind ~= "if" and s.tree.kind ~= "while" and s.tree.kind ~= "with"
      and not only_looks(s.tree)
      and not (before and before:find '^%s*File "') then
      local op = choose(ops, computed_in(s.tree), several)
      if op then found, text = op, s.text end
    end
  end
  return found, text
end

-- ---- names in the text -------------------------------------------------

-- Base and overload without the namespace: "squeeze_.dim".
local function of_overload(ops, text)
  local seen = 0
  for base, over in text:gmatch "%f[%w_.]([%a_][%w_]*)%.(%a[%w_]*)%f[^%w_]" do
    seen = seen + 1
    if seen > 2000 then return nil end
    local op = ("aten.%s.%s"):format(base, over)
    if ops.span[op] then return op, base .. "." .. over end
  end
end

-- A word with an underscore that is an operator's base: "convolution_backward".
local function of_words(ops, text)
  local seen = 0
  for word in text:gmatch "%f[%w_]([%a_][%w]*_[%w_]+)%f[^%w_]" do
    seen = seen + 1
    if seen > 400 then return nil end
    if #word >= 8 and word:find "%l" and not composite[word] then
      local op = by_name(ops, word) or ops.by_base[clean.squash(word)]
      if op and op:match "^aten%.([%w_]+)%." == word then return op, word end
    end
  end
end

-- English words that are operators' names as well.
local english = {}
for w in ([[repeat select expand random normal exponential gather scatter
  mean embedding convolution threshold round floor ceil unique unfold average
  permute transpose narrow chunk stack squeeze slice block renorm geometric
  uniform values indices affine linear fill histogram quantile median mode
  minimum maximum equal square trace cross inverse logical special alias
  movement detach resize identity vector matrix roll sign reciprocal erase
  polar polygon complex signbit angle bucket multiply divide subtract add
  negative positive greater less concat broadcast]]):gmatch "%S+" do
  english[w] = true
end

local HEAD <const> = 160        -- letters of a text that stand for its title

-- What stands for the title, cut between two words: half a name is another name.
local function title_of(text)
  local head = text:sub(1, HEAD)
  if #head < #text and text:find("^[%w_]", HEAD + 1) then
    head = head:gsub("[%w_]+$", "")
  end
  return head
end

-- An operator whose bare name no prose uses ("bucketize"): in the title, or in
-- backquotes.
local function of_title(ops, text)
  local function take(word)
    if #word < 5 or english[word] or composite[word] ~= nil then return nil end
    local op = by_name(ops, word)
    return op and op:match "^aten%.([%w_]+)%." == word and op or nil
  end
  local lists = {title_of(text):gmatch "%f[%w_]([%l][%w_]+)%f[^%w_]",
    text:gmatch "`[%w_%.]-([%l_][%w_]*)[%(%)]*`"}
  for _, words in ipairs(lists) do
    local seen = 0
    for word in words do
      seen = seen + 1
      if seen > 400 then break end
      local op = take(word)
      if op then return op, word end
    end
  end
end

-- A function of torch in backquotes: `torch.stack(...)` is code, whatever the word
-- means elsewhere.
local function of_quoted(ops, text)
  for word in text:gmatch "`torch%.(%l[%w_]*)[%(`]" do
    local op = composite[word] or composite[word] == nil and by_name(ops, word)
    if op then return op, word end
  end
end

-- The operator whose sharding rule a frame is in: gen_slice_strategy,
-- index_put_single_dim_strategy, prop_index_put.  Rules that several share, as
-- reshape's, name none.
local function of_rules(ops, doc)
  for i = #doc.lines, 1, -1 do
    local fn = doc.lines[i]:match
      'File "[^"]-[_/]tensor/_?ops/[^"]*", line %d+, in ([%l_%d]+)'
    local base = fn and fn:gsub("^gen_", ""):gsub("^prop_", "")
      :gsub("_single_dim", ""):gsub("_strategy$", ""):gsub("_rules?$", "")
    local op = base and base ~= fn and base ~= "reshape" and base ~= "view"
      and by_name(ops, base)
    if op and op:match "^aten%.([%w_]+)%." == base then return op, fn end
  end
end

-- Messages that one operator prints, whatever called it; a word of the text that
-- names another of its family goes before it.
local of_message <const> = {
  {"Attempted to flatten ", "aten.view.default", {"_unsafe_view"}},
  {"Cannot flatten unevenly", "aten.view.default", {"_unsafe_view"}},
  {"Cannot unflatten unevenly", "aten.view.default", {"_unsafe_view"}},
  {"Attempted to split the sharded dimension", "aten.view.default",
    {"_unsafe_view"}},
  {"' is invalid for input of size", "aten.view.default", {"_unsafe_view"}},
  {"for tensor parallel convolution", "aten.convolution.default",
    {}},
}

local function of_words_printed(ops, flat)
  for _, m in ipairs(of_message) do
    if flat:find(m[1], 1, true) then
      for _, word in ipairs(m[3]) do
        if flat:find(word, 1, true) then return by_name(ops, word), word end
      end
      return m[2], m[1]:match "^(.-) ?$"
    end
  end
end

-- The operator of a report whose message names none: op, how, the words it
-- was read from.  `several`: the message speaks of more than one tensor.
function M.find(ops, doc, several)
  local op = of_symbols(ops, doc.flat)
  if op then return op, "symbol" end
  local from
  op, from = of_frames(ops, doc, several)
  if op then return op, "line", from end
  op, from = of_snippet(ops, doc, several)
  if op then return op, "line", from end
  op, from = of_rules(ops, doc)
  if op then return op, "word", from end
  op, from = of_words_printed(ops, doc.flat)
  if op then return op, "word", from end
  op, from = of_overload(ops, doc.text:sub(1, 100000))
  if op then return op, "word", from end
  op, from = of_words(ops, doc.text:sub(1, 100000))
  if op then return op, "word", from end
  op, from = of_quoted(ops, doc.text:sub(1, 100000))
  if op then return op, "word", from end
  op, from = of_title(ops, doc.text:sub(1, 100000))
  if op then return op, "word", from end
end

return M
