-- SPDX-License-Identifier: MIT
-- torch/spmd/einsum.lua: spmd_types.rules.einsum: the type of an operation
-- that an equation of dimensions describes.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local asserts = require "dt.spmd.assert"
local phantom = require "torch.spmd.phantom"
local advice = require "dt.spmd.advice"
local state = require "dt.spmd.state"

local core = dt._spmd
local given = args.given

local function refuse(...) util.raise("TypeError", ...) end
local function wrong(...) util.raise("SpmdTypeError", ...) end
local function name_of(axis) return core.axis_info(axis).name end

-- ---- the equation ----

-- The labels of one operand: letters and "_"; "..." is one label.
local function labels_of(text, equation)
  local out, i = {}, 1
  while i <= #text do
    local c = text:match("^[%z\1-\127\194-\244][\128-\191]*", i) or text:sub(i, i)
    if text:sub(i, i + 2) == "..." then
      c = "..."
    elseif not c:find("^[%a_\194-\244]") then
      refuse("rules.einsum: unexpected '%s' in '%s'; labels are single letters "
        .. "(any script), '_' or '...'", c, equation)
    end
    out[#out + 1] = c
    i = i + #c
  end
  return out
end

local function has(list, x)
  for _, v in ipairs(list) do
    if v == x then return true end
  end
  return false
end

local function check_labels(labels, text, equation)
  local seen = {}
  for _, l in ipairs(labels) do
    if seen[l] and l == "..." then
      refuse("rules.einsum: operand '%s' has two '...' in '%s'", text, equation)
    end
    seen[l] = l ~= "_"
  end
  seen = {}
  for _, l in ipairs(labels) do
    if seen[l] then
      refuse("rules.einsum: operand '%s' repeats a label in '%s'; repeated "
        .. "labels (diagonals) are not supported", text, equation)
    end
    seen[l] = l ~= "_" and l ~= "..."
  end
end

local function operand(text, equation)
  local stripped = text:match("^%s*(.-)%s*$")
  if stripped == "" then
    refuse("rules.einsum: empty operand in '%s'", equation)
  end
  local labels = labels_of(text:gsub("%s", ""), equation)
  check_labels(labels, stripped, equation)
  return {labels = labels, text = table.concat(labels),
    dots = has(labels, "...")}
end

local function check_output(out, ins, equation)
  local dots = false
  for _, p in ipairs(ins) do dots = dots or p.dots end
  for _, l in ipairs(out.labels) do
    local found = l == "_" or l == "..."
    for _, p in ipairs(ins) do found = found or has(p.labels, l) end
    if not found then
      refuse("rules.einsum: output label '%s' does not appear on any input in "
        .. "'%s'", l, equation)
    end
  end
  if out.dots and not dots then
    refuse("rules.einsum: output uses '...' but no input does in '%s'",
      equation)
  end
end

local function parse(equation)
  local _, arrows = equation:gsub("%->", "")
  if arrows ~= 1 then
    refuse("rules.einsum: equation '%s' must contain exactly one '->'",
      equation)
  end
  local left, right = equation:match("^(.-)%->(.*)$")
  local ins = {}
  for part in (left .. ","):gmatch("(.-),") do
    ins[#ins + 1] = operand(part, equation)
  end
  if right:find(",", 1, true) then
    refuse("rules.einsum: '%s' lists several outputs; write one rules.einsum "
      .. "per output instead", equation)
  end
  local out = right:find("%S") and operand(right, equation)
    or {labels = {}, dots = false}
  check_output(out, ins, equation)
  return ins, out
end

-- ---- operands ----

local function shape_text(x)
  if not util.is_tensor(x) then return ("%d dim(s)"):format(x.ndim) end
  return "shape " .. V.repr(V.tuple({table.unpack(x.shape)}, x.ndim))
end

-- The labels with "..." as that many of their own.
local function expanded(part, wide)
  local out = {}
  for _, l in ipairs(part.labels) do
    if l == "..." then
      for i = 0, wide - 1 do out[#out + 1] = "..." .. i end
    else
      out[#out + 1] = l
    end
  end
  return out
end

local function check_rank(equation, i, part, x)
  local n = #part.labels - (part.dots and 1 or 0)
  local where = ("operand %d ('%s', %s)"):format(i - 1, part.text,
    shape_text(x))
  if not part.dots and x.ndim ~= n then
    wrong("rules.einsum: '%s': %s has %d label(s) but %d dim(s)", equation,
      where, n, x.ndim)
  elseif x.ndim < n then
    wrong("rules.einsum: '%s': %s needs at least %d dim(s) for its explicit "
      .. "labels but has %d", equation, where, n, x.ndim)
  end
  return part.dots and x.ndim - n or nil, where
end

-- The labels of each operand, and how many dimensions "..." stands for.
local function bound(equation, ins, list)
  if #ins ~= #list then
    refuse("rules.einsum: '%s' has %d operand(s) but %d value(s) were passed",
      equation, #ins, #list)
  end
  local wide, from
  for i, x in ipairs(list) do
    if not phantom.is_typed(x) then
      refuse("rules.einsum: operands must be tensors or NdimWithSpmdType, got "
        .. "%s; write a separate rule for the None case", V.type_name(x))
    end
    local here, where = check_rank(equation, i, ins[i], x)
    if here and wide and here ~= wide then
      wrong("rules.einsum: '%s': '...' must stand for the same number of dims "
        .. "on every operand, but %s gives it %d and %s gives it %d", equation,
        from, wide, where, here)
    end
    if here then wide, from = here, where end
  end
  local out = {}
  for i, part in ipairs(ins) do out[i] = expanded(part, wide or 0) end
  return out, wide or 0
end

-- ---- shards ----

local function axes_text(list)
  if #list == 0 then return "None" end
  local out = {}
  for i, a in ipairs(list) do out[i] = name_of(a) end
  return "(" .. table.concat(out, ", ") .. ")"
end

local function global_axes(x, d)
  local spec, out = phantom.spec(x), {}
  for _, a in ipairs(spec and spec[d] or {}) do
    if not state.inside() or state.is_global(a) then out[#out + 1] = a end
  end
  return out
end

local function same_axes(a, b)
  return table.concat(a, ",") == table.concat(b, ",")
end

-- The axes that shard each label, and the label of each such axis.
local function label_axes(equation, list, labels)
  local of_label, of_axis = {}, {}
  local function look(i, d, l, axes)
    if l == "_" then
      if #axes > 0 then
        wrong("rules.einsum: operand %d of '%s' is sharded on %s at dim %d, "
          .. "which the equation marks '_' (must not be sharded)", i - 1,
          equation, axes_text(axes), d - 1)
      end
      return
    end
    of_label[l] = of_label[l] or axes
    if not same_axes(of_label[l], axes) then
      wrong("rules.einsum: label '%s' of '%s' is sharded inconsistently: %s vs "
        .. "%s (operand %d, dim %d)", l, equation, axes_text(of_label[l]),
        axes_text(axes), i - 1, d - 1)
    end
    for _, a in ipairs(axes) do
      of_axis[a] = of_axis[a] or l
      if of_axis[a] ~= l then
        wrong("rules.einsum: axis %s shards both '%s' and '%s' in '%s'; an axis "
          .. "may shard only one dim", name_of(a), of_axis[a], l, equation)
      end
    end
  end
  for i, x in ipairs(list) do
    for d, l in ipairs(labels[i]) do look(i, d, l, global_axes(x, d)) end
  end
  return of_label, of_axis
end

local function kind_on(types, axis)
  for _, t in ipairs(types) do
    if t[1] == axis then return t[2] end
  end
end

local function sorted_axes(set)
  local out = {}
  for a in pairs(set) do out[#out + 1] = a end
  table.sort(out, function (x, y) return name_of(x) < name_of(y) end)
  return out
end

-- An operand without a label is the same on all ranks that the label's parts
-- are on.
local function check_broadcast(equation, list, labels, of_axis)
  for _, a in ipairs(sorted_axes(of_axis)) do
    local l = of_axis[a]
    for i, x in ipairs(list) do
      if not has(labels[i], l) and kind_on(phantom.types(x), a) == "V" then
        wrong("rules.einsum: operand %d of '%s' broadcasts over '%s', which is "
          .. "sharded on %s, so it must be replicated on %s, but it is Varying",
          i - 1, equation, l, name_of(a), name_of(a))
      end
    end
  end
end

-- ---- addends ----

local function listed(list) return "[" .. table.concat(list, ", ") .. "]" end

local function group_of(entry, n, seen)
  local group, m = {}, 0
  local members = V.is_seq(entry) and entry or {entry, n = 1}
  for k = 1, members.n do
    local i = members[k]
    if math.type(i) ~= "integer" or i < 0 or i >= n then
      refuse("rules.einsum: linear_in refers to operand %s; there are %d "
        .. "operand(s)", V.repr(i), n)
    elseif seen[i] then
      refuse("rules.einsum: operand %d appears twice in linear_in", i)
    end
    seen[i], group[i] = true, true
    m = m + 1
  end
  return m > 0 and {has = group, n = m} or nil
end

-- Groups of operands that the operation is linear in.
local function groups_of(linear, n)
  local out, seen = {}, {}
  if linear == nil then return out end
  local items, count = V.items(linear)
  for i = 1, count do
    out[#out + 1] = group_of(items[i], n, seen)
  end
  return out
end

local function members(group)
  local out = {}
  for i in pairs(group.has) do out[#out + 1] = i end
  table.sort(out)
  return out
end

-- The one group that has all these operands, or nil.
local function owner_of(groups, partial)
  local owner
  for _, i in ipairs(partial) do
    local own
    for _, g in ipairs(groups) do own = g.has[i] and g or own end
    if not own or owner and owner ~= own then return nil end
    owner = own
  end
  return owner
end

local function refuse_partial(equation, axis, partial)
  local joined = table.concat(partial, ", ")
  local how = #partial == 1 and ("declare linear_in=(%s,) if the op is linear "
    .. "in it"):format(joined) or ("declare linear_in=(%s,) for multilinear, or "
    .. "linear_in=((%s),) for jointly linear"):format(joined, joined)
  wrong("rules.einsum: '%s': operand(s) %s are Partial on axis %s; a Partial "
    .. "may only pass through operands the op is linear in, all within one "
    .. "linear_in group (%s)", equation, listed(partial), name_of(axis), how)
end

-- The addends of one axis become R, and the result is P there.
local function pass_partial(equation, axis, types, partial, groups)
  local owner = owner_of(groups, partial)
  if not owner then refuse_partial(equation, axis, partial) end
  if owner.n > 1 and owner.n ~= #partial then
    wrong("rules.einsum: '%s': operands %s are declared jointly linear, so on "
      .. "axis %s either all or none of them may be Partial; %s are Partial "
      .. "and the rest are not (P + R is affine: the Replicate term would be "
      .. "summed once per rank)", equation, listed(members(owner)),
      name_of(axis), listed(partial))
  end
  for i, list in ipairs(types) do
    for _, t in ipairs(list) do
      if t[1] == axis and t[2] == "P" then
        t[2] = "R"
      elseif t[1] == axis and t[2] ~= "R" then
        wrong("rules.einsum: '%s': operand %d is %s on axis %s while operand(s) "
          .. "%s are Partial there; a Partial combines only with Replicate",
          equation, i - 1, t[2], name_of(axis), listed(partial))
      end
    end
  end
end

-- Axes on which an operand is P, as a set.
local function partial_axes(equation, types, groups)
  local axes, out = {}, {}
  for _, list in ipairs(types) do
    for _, t in ipairs(list) do axes[t[1]] = true end
  end
  for _, axis in ipairs(sorted_axes(axes)) do
    local partial = {}
    for i, list in ipairs(types) do
      if kind_on(list, axis) == "P" then partial[#partial + 1] = i - 1 end
    end
    if #partial > 0 then
      pass_partial(equation, axis, types, partial, groups)
      out[axis] = true
    end
  end
  return out
end

-- ---- the result ----

local function copied(types)
  local out = {}
  for i, t in ipairs(types) do out[i] = {t[1], t[2]} end
  return out
end

local function infer(equation, types)
  local places, grads, sets = {}, {}, {}
  for i, list in ipairs(types) do
    places[i], grads[i], sets[i] = i - 1, true, {}
    for k, t in ipairs(list) do sets[i][k] = t[1] end
  end
  state.sync()
  local ok, out = pcall(core.infer, "rules.einsum", "einsum", types, places,
    grads)
  if ok then return out end
  if type(out) == "table" and out.class == "SpmdTypeError" then
    if advice.belongs_to(out) then
      out.message = out.message .. advice.advice(sets)
    end
    wrong("rules.einsum: '%s': %s", equation, out.message)
  end
  return error(out, 0)
end

-- Axes that shard a label which the result does not have: their sum is to come.
local function contract(types, of_label, out_labels)
  for l, axes in pairs(of_label) do
    for _, a in ipairs(has(out_labels, l) and {} or axes) do
      for _, t in ipairs(types) do
        if t[1] == a and t[2] == "V" then t[2] = "P" end
      end
    end
  end
end

local function einsum(a)
  local equation, list = a.equation, {}
  local ins, out = parse(equation)
  local groups = groups_of(a.linear_in, a.operands.n)
  for i = 1, a.operands.n do
    phantom.touch(a.operands[i])
    list[i] = a.operands[i]
    if phantom.is_typed(list[i]) then
      list[i] = phantom.on_mesh(list[i], ("rules.einsum: '%s': operand %d")
        :format(equation, i - 1))
    end
  end
  local labels, wide = bound(equation, ins, list)
  local out_labels = expanded(out, wide)
  local of_label, of_axis = label_axes(equation, list, labels)
  check_broadcast(equation, list, labels, of_axis)
  local types = {}
  for i, x in ipairs(list) do types[i] = copied(phantom.types(x)) end
  local partial = partial_axes(equation, types, groups)
  local result = infer(equation, types)
  contract(result, of_label, out_labels)
  for _, t in ipairs(result) do
    if partial[t[1]] then t[2] = "P" end
  end
  local spec = {}
  for d, l in ipairs(out_labels) do
    local axes = l ~= "_" and of_label[l] or {}
    spec[d] = #axes > 0 and axes or false
  end
  return phantom.finish(phantom.new(#out_labels, result,
    asserts.normalized_spec(spec)), given(a.out) and a.out or nil)
end

return args.def("einsum", {"equation", "*operands", "linear_in?", "out?"},
  einsum)
