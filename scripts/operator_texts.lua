-- SPDX-License-Identifier: MIT
-- operator_texts.lua: read src/oplib/*.ops, where everything is said once that
-- is true of an operator of PyTorch besides its code: forms, releases, what
-- autograd keeps, types refused, signatures.  gen-operators.lua makes the
-- tables of the engine from it.
--
-- A text is made of blocks.  An indent of 2 is a line of the block, of 4 a
-- line of the overload above it, of 8 goes on with the line before; "#" begins
-- a comment.
--
--   operator NAME          all overloads of aten.NAME (or prims.NAME)
--   kernel NAME            a kernel that several operators call by this name
--   torch NAME             a function of torch that is no operator
--
-- What must be there stops the build when it is missing: refuses, out, keeps,
-- keeps-results, strategy, from, because and seen.  The other lines are facts of
-- some operators only (an operator without them has no such fact); that one was
-- taken out shows where answers are compared, in tests/parity and tests/ops.
--
-- Overloads of an operator, by name ("default" is PyTorch's for none):
--   overload NAME          written: dt_op_<operator>_<NAME> in an op_*.c
--   form NAME(…) -> …      derived from another overload, with its schema:
--     from OVERLOAD KIND [bare]   kinds: DtVariantKind in op/registry.h; bare:
--                          PyTorch computes it but has no strategy for it
--   known NAME(…) -> …     not written here; calls are refused as PyTorch
--                          refuses what has no strategy
--   absent NAME            not even that; the release is known
--
-- Of an operator or of one of its overloads:
--   refuses TYPES ["words"] "NAME"  types that its CPU kernel refuses: "NAME" not
--                          implemented for 'TYPE'; with words: that text
--   refuses TYPES says KEY ["ARGUMENT"]  the text of that key, by release
--                          (compat/texts.def)
--   first-refuses TYPES any|operand CLASS "TEXT"  pointwise, before shapes
--   first-refuses TYPES any|operand says KEY ["ARGUMENT"]
--   kernel-refuses TYPES [one] "NAME"  pointwise, in the kernel; one: only where
--                          operand 1 has one element
--   refuses nothing; refuses as its parts (it is made of other operators)
--   out same|cast|any|typed [CLASS] [TEXT]  an out= of another type: only the
--                          result's own, one it can be cast to, every type, the
--                          type of dtype= or where that is missing every type;
--                          TEXT is the error
--   takes conjugated|negated values|meta  lazily marked inputs that it takes as
--                          they are (engine/marks.c)
--   function (…), method (…)  signatures that errors list, in PyTorch's order
--
-- Of an overload:
--   keeps ARGUMENTS | nothing  inputs kept for the gradient; a:b, a is kept
--                          where b wants a gradient.  Every gradient says it
--   keeps-results I… | none   differentiable results that are kept, counted from
--                          0.  What is DT_OP_SAVE_OUT must say it
--   differentiable I…      results that have a gradient; without it all have
--   overwrites ARG | always  in place: whose gradient reads the old self
--   untraced [until R]     PyTorch's propagator tries its decomposition and gives
--                          up, whatever the placements
--   strategy R [until R]   releases in which PyTorch has a strategy for it; what
--                          has rules says it
--   since R rule FN [filter FN][, FLAGS]   a ruling (DtRuling in op/opdef.h):
--                          from that release on rows are by op_rl_FN
--   since R replicated[, FLAGS] | as before, FLAGS | decomposed FN | later way |
--     latest way           the definition's own second and third way
--   wrong WHEN [until R][: INPUTS -> OUTPUTS]   a decision of PyTorch that gives
--     because TEXT         wrong data: kept, and flagged when met; what is
--     seen TEXT            wrong, the smallest case.  WHEN: row, uneven, mean,
--                          moved, self (shard/known_wrong.h)

local M = {}

-- Words and where they may stand: b of the block, o of an overload.
local words = {
  refuses = "bo", ["first-refuses"] = "bo", ["kernel-refuses"] = "bo",
  out = "bo", takes = "b", ["function"] = "b", method = "b",
  keeps = "o", ["keeps-results"] = "o", differentiable = "o",
  overwrites = "o", untraced = "o", strategy = "o", since = "o", wrong = "o",
  because = "o", seen = "o", from = "o",
}
local once = {keeps = true, ["keeps-results"] = true, differentiable = true,
  overwrites = true, untraced = true, strategy = true, from = true}
local blocks = {operator = true, kernel = true, torch = true}
local kinds = {overload = true, form = true, known = true, absent = true}

local function fail(line, ...)
  error(("%s:%d: %s"):format(line.path, line.n, (...):format(select(2, ...))), 0)
end
M.fail = fail

-- Lines with their continuation, and the indent of each.
local function logical_lines(path)
  local list, n = {}, 0
  for text in io.lines(path) do
    n = n + 1
    local indent, rest = text:match "^( *)(.*)$"
    if rest ~= "" and rest:sub(1, 1) ~= "#" then
      if #indent == 8 and #list > 0 then
        list[#list].text = list[#list].text .. " " .. rest
        list[#list].last = n
      else
        list[#list + 1] = {path = path, n = n, last = n,
          indent = #indent, text = rest}
      end
    end
  end
  return list
end

local function add_fact(to, line, place)
  local word, rest = line.text:match "^(%S+) ?(.*)$"
  if not (words[word] or ""):find(place) then
    fail(line, "\"%s\" is no word for %s", word,
      place == "b" and "an operator" or "an overload")
  end
  if once[word] and to[word] then fail(line, "\"%s\" stands twice", word) end
  to[word] = to[word] or {}
  table.insert(to[word], {text = rest, path = line.path, n = line.n})
end

local function add_overload(block, line)
  local kind, name, args = line.text:match "^(%S+) ([%w_]+)(.*)$"
  if block.kind ~= "operator" then
    fail(line, "a %s has no overloads", block.kind)
  elseif not kinds[kind] then
    return nil
  elseif (kind == "form" or kind == "known") ~= (args ~= "") then
    fail(line, "%s: a schema stands after forms and known overloads only",
      name)
  end
  local o = {kind = kind, name = name, args = args, block = block,
    path = line.path, n = line.n, last = line.last,
    full = block.name .. "." .. name}
  table.insert(block.overloads, o)
  return o
end

local function read_file(path, list, seen)
  local block, over
  for _, line in ipairs(logical_lines(path)) do
    local kind, name = line.text:match "^(%S+) ([%w_.]+)$"
    if line.indent == 0 then
      if not blocks[kind] then fail(line, "not the head of a block") end
      if seen[kind .. name] then fail(line, "%s stands twice", name) end
      seen[kind .. name] = true
      block, over = {kind = kind, name = name, overloads = {},
        path = path, n = line.n}, nil
      list[#list + 1] = block
    elseif line.indent == 2 and kinds[line.text:match "^%S+"] then
      over = add_overload(block, line)
      if seen[over.full] then fail(line, "%s stands twice", over.full) end
      seen[over.full] = true
    elseif line.indent == 2 then
      if over then fail(line, "the operator's own lines stand first") end
      add_fact(block, line, "b")
    elseif line.indent == 4 and over then
      add_fact(over, line, "o")
    else
      fail(line, "an indent of %d", line.indent)
    end
  end
end

-- All blocks of these files, in their order.  Errors name file and line.
function M.read(paths)
  local list, seen = {}, {}
  for _, path in ipairs(paths) do read_file(path, list, seen) end
  return list
end

-- The parts of "2.4 until 2.10"; the second nil where it has no end.
function M.span(fact)
  local first, last = fact.text:match "^(%d+%.%d+) until (%d+%.%d+)$"
  if not first then first = fact.text:match "^%d+%.%d+$" end
  if not first then fail(fact, "a release, or two with \"until\"") end
  return first, last
end

return M
