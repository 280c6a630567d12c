-- TEST: ranks=1 world=threads args=--trust tags=quick
-- SPDX-License-Identifier: MIT
-- scripts/gen-operators.lua makes tables of the texts of operators, and refuses
-- a text that leaves out what an operator must say.

local lua = os.getenv "LUA" or "lua5.4"
local pipe = io.popen "mktemp -d"
local dir = pipe:read "l"
pipe:close()
for _, module in ipairs {"oplib", "op", "engine", "shard", "compat"} do
  assert(os.execute(("mkdir %s/%s"):format(dir, module)))
end

-- What the script says of a text; "" when it made the tables.
local function generate(text)
  local f = assert(io.open(dir .. "/op_x.ops", "w"))
  f:write(text)
  f:close()
  local p = io.popen(("%s scripts/gen-operators.lua %s %s/op_x.ops 2>&1")
    :format(lua, dir, dir))
  local said = p:read "a"
  p:close()
  return (said:gsub("^" .. dir:gsub("%p", "%%%0") .. "/", ""):gsub("\n$", ""))
end

-- The rows of a table, without its head.
local function rows(name)
  local f = assert(io.open(dir .. "/" .. name .. ".def"))
  local text = f:read "a"
  f:close()
  return (text:gsub("^/%*.-%*/\n", ""))
end

local function equal(got, want)
  assert(got == want, ("got  %s\nwant %s"):format(got, want))
end

local whole = [[
# a comment
operator fold
  refuses F8 | BOOL "fold_cpu"
  refuses CPLX words "fold: no complex"
  out same SET
  takes conjugated negated values
  function (Tensor input, *, str mode =
        "a")
  method ()
  overload default
    keeps self:other other
    keeps-results 0 2
    differentiable 0
    strategy 2.5 until 2.14
    since 2.14 rule follow, uneven widen
    since 2.15 replicated
    wrong row until 2.13: P(max) -> P(max)
      because of it
    seen here
]]
equal(generate(whole), "op_x.ops:18: an indent of 6")
whole = whole:gsub("      because", "    because")
equal(generate(whole .. [[
  form out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
    from fold.default out bare
  known int(int a) -> int
]]), "")
equal(rows "oplib/ops", "X(fold)\n")
equal(rows "oplib/variants", 'U("fold.out(Tensor self, *, Tensor(a!) out) -> '
  .. 'Tensor(a!)", "fold.default", OUT)\n')
equal(rows "oplib/schema_only", 'N("fold.int(int a) -> int")\n')
equal(rows "op/kept", 'X("fold", "self:other other")\n')
equal(rows "op/saved", 'X("fold", 5, 1, NULL)\n')
equal(rows "op/refuse", 'R("fold", F8 | BOOL, "fold_cpu")\n'
  .. 'W("fold", CPLX, "fold: no complex")\n')
equal(rows "op/out_types", 'O("fold", SAME, DTYPE, SET)\n')
equal(generate(whole:gsub("out same SET", 'out cast TYPE "no {o}"')), "")
equal(rows "op/out_types", 'O("fold", CAST, TYPE, "no {o}")\n')
equal(generate(whole), "")
equal(rows "engine/marked", 'X("fold", BOTH, VALUES)\n')
equal(rows "op/signatures", 'X("Tensor.fold", "()\\n")\n'
  .. [[X("fold", "(Tensor input, *, str mode = \"a\")\n")]] .. "\n")
equal(rows "compat/ops_by_release", 'X("aten.fold.default", 205, 214)\n')
equal(rows "oplib/rulings", 'R("aten.fold.default", 214, DT_OP_UNEVEN | '
  .. 'DT_OP_WIDEN, follow)\nN("aten.fold.default", 215, 0)\n')
equal(rows "shard/known_wrong", 'X("aten.fold.default", ROW, 213, "P(max)", '
  .. '"P(max)", "of it", "here")\n')

-- What is missing, wrong or said twice is named by file and line.
for _, case in ipairs {
  {"operator a\n  overload default\n", "op_x.ops:1: a does not say which types "
    .. "it refuses (\"refuses nothing\")"},
  {"operator a\n  refuses nothing\n  overload default\n  form out(Tensor x, *, "
    .. "Tensor(a!) out) -> Tensor(a!)\n    from a.default out\n",
    "op_x.ops:1: a does not say what an out= of another type does"},
  {"operator a\n  out same\n  overload default\n",
    "op_x.ops:2: the error's text is missing"},
  {"operator a\n  out typed\n  overload default\n",
    "op_x.ops:2: the error's text is missing"},
  {"operator a\n  out some\n  overload default\n",
    "op_x.ops:2: out same|cast|any|typed"},
  {"operator a\n  refuses nothing\n", "op_x.ops:1: a has no overload"},
  {"operator a\n  keeps self\n  overload default\n",
    "op_x.ops:2: \"keeps\" is no word for an operator"},
  {"operator a\n  refuses nothing\n  overload default\n    keeps a\n    keeps b\n",
    "op_x.ops:5: \"keeps\" stands twice"},
  {"operator a\n  refuses nothing\n  overload default\n  overload default\n",
    "op_x.ops:4: a.default stands twice"},
  {"operator a\n  refuses nothing\n  form out(Tensor x) -> Tensor\n",
    "op_x.ops:3: a.out: from what?"},
  {"operator a\n  refuses nothing\n  overload default\n    since 2.14 rule b, odd\n",
    "op_x.ops:4: no flag odd"},
  {"operator a\n  refuses nothing\n  overload default\n    strategy soon\n",
    "op_x.ops:4: a release, or two with \"until\""},
  {"operator a\n  refuses nothing\n  overload default\n    wrong row\n",
    "op_x.ops:4: because and seen are missing"},
} do equal(generate(case[1]), case[2]) end

os.execute("rm -r " .. dir)
