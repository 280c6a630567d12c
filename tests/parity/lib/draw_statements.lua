-- SPDX-License-Identifier: MIT
-- draw_statements.lua: functions whose bodies are drawn statements: loops,
-- exceptions, functions, generators, classes, with and match.  Each writes down
-- what it passes (note) and ends with what it returned or raised.

local M = {}

local rnd = math.random

local function pick(t) return t[rnd(#t)] end

-- What is being written: lines, how deep they stand, names that have a value.
local Writer = {}
Writer.__index = Writer

local function writer()
  return setmetatable({lines = {}, depth = 1, fresh = 0, left = 30, loops = 0,
    names = {"a", "b", "c"}}, Writer)
end

function Writer:put(text, ...)
  if select("#", ...) > 0 then text = text:format(...) end
  self.lines[#self.lines + 1] = ("    "):rep(self.depth) .. text
end

function Writer:new_name(letter)
  self.fresh = self.fresh + 1
  return letter .. self.fresh
end

local CONSTS = {"0", "1", "2", "-3", "7", "1.5", "'x'", "'ab'", "None", "True",
  "[]", "[1, 2, 3]", "(4, 5)", "{'k': 1}", "{1, 2}", "()", "'k'", "b'q'",
  "[[1], [2, 3]]", "range(3)", "10**20", "{'k': [1], 'z': 0}"}

local function value(w, d)
  d = d or 2
  local n = rnd(15)
  if n <= 5 or d == 0 then return pick(w.names) end
  if n <= 8 then return pick(CONSTS) end
  local a, b = value(w, d - 1), value(w, d - 1)
  if n == 9 then
    return ("(%s %s %s)"):format(a, pick {"+", "-", "*", "%", "//", "|", "&",
      "and", "or", "==", "<", "is", "in"}, b)
  elseif n == 10 then return ("(%s if %s else %s)"):format(a, b, value(w, 0))
  elseif n == 11 then return ("%s[%s]"):format(a, pick {"0", "-1", "1:",
      "'k'", "::2", "5"})
  elseif n == 12 then return ("[%s for q in %s%s]"):format(pick {"q",
      "(q, %s)", "[q] * 2", "note(q)"}, a, pick {"", " if q",
      " for r in [1, 2]"}):gsub("%%s", function () return b end)
  elseif n == 13 then return ("%s(%s)"):format(pick {"len", "str", "list",
      "type", "bool", "sum", "sorted", "tuple", "repr", "iter", "set", "dict"},
      a)
  elseif n == 14 then return ("(%s := %s)"):format(pick(w.names), a)
  end
  return ("(%s, %s)"):format(a, b)
end

local function condition(w)
  return pick {("%s %s %s"):format(value(w, 1), pick {"==", "<", ">", "!=",
    "is not", "in", "not in"}, value(w, 1)), value(w, 1), "not "
    .. value(w, 1), "isinstance(" .. value(w, 0) .. ", (int, str))",
    "callable(" .. value(w, 0) .. ")"}
end

local kinds = {}                    -- by kind of statement

local block

-- An indented block, with `inside` a field of the writer that holds there.
local function nested(w, inside, most)
  local before = {}
  for k, v in pairs(inside or {}) do
    before[k] = w[k]
    w[k] = v
  end
  w.depth = w.depth + 1
  local names = #w.names
  block(w, rnd(1, most or 3))
  for i = #w.names, names + 1, -1 do w.names[i] = nil end
  w.depth = w.depth - 1
  for k in pairs(inside or {}) do w[k] = before[k] end
end

function kinds.note(w) w:put("note(%s)", value(w)) end
kinds.note_more = kinds.note

local function target(w)
  local n = rnd(7)
  if n <= 3 then return pick(w.names)
  elseif n == 4 then return pick(w.names) .. pick {"[0]", "['k']", "[1:]",
      "[-1]", ".field"}
  elseif n == 5 then return ("%s, %s"):format(pick(w.names), pick(w.names))
  elseif n == 6 then return ("%s, *%s"):format(pick(w.names), pick(w.names))
  end
  return ("(%s, [%s, *%s])"):format(pick(w.names), pick(w.names),
    pick(w.names))
end

function kinds.assign(w)
  local chain = rnd(5) == 1 and target(w) .. " = " or ""
  w:put("%s%s = %s", chain, target(w), value(w))
end
kinds.assign_more = kinds.assign

function kinds.augment(w)
  w:put("%s%s %s= %s", pick(w.names), pick {"", "", "", "[0]", "['k']"},
    pick {"+", "-", "*", "|", "//", "%", "&", "**"}, pick {value(w, 1), "2",
    "[9]", "1"})
end

function kinds.change(w)
  w:put("%s.%s", pick(w.names), pick {"append(1)", "pop()", "update(k=5)",
    "extend([8, 9])", "remove(1)", "insert(0, 'i')", "sort()", "reverse()",
    "add(3)", "clear()", "setdefault('s', 0)", "pop('k')", "discard(1)"})
end

function kinds.del(w)
  w:put("del %s", pick {pick(w.names) .. "[0]", pick(w.names) .. "['k']",
    pick(w.names) .. "[:1]", pick(w.names)})
end

kinds["if"] = function (w)
  w:put("if %s:", condition(w))
  nested(w)
  if rnd(3) == 1 then
    w:put("elif %s:", condition(w))
    nested(w)
  end
  if rnd(2) == 1 then
    w:put("else:")
    nested(w)
  end
end

local function orelse(w)
  if rnd(3) > 1 then return end
  w:put("else:")
  nested(w)
end

kinds["for"] = function (w)
  if w.loops > 1 then return kinds.note(w) end
  local name = w:new_name("i")
  w:put("for %s in %s:", pick {name, name, "z, " .. name, name .. ", *z"},
    pick {"range(3)", "[1, 'b', None]", "'xyz'", "{'k': 1, 'm': 2}",
      "{'k': 1}.items()", "enumerate('pq')", "zip([1, 2], 'ab')", "count_to(3)",
      "list(" .. value(w, 1) .. ")[:4]", "[(1, 2), (3, 4, 5)]",
      "reversed([1, 2])", "map(str, [3, 4])"})
  w.names[#w.names + 1] = name
  nested(w, {in_loop = true, loops = w.loops + 1})
  w.names[#w.names] = nil
  orelse(w)
end

kinds["while"] = function (w)
  if w.loops > 1 then return kinds.note(w) end
  local name = w:new_name("n")
  w:put("%s = 0", name)
  w:put("while %s < %d:", name, rnd(1, 4))
  w.depth = w.depth + 1
  w:put("%s += 1", name)
  w.depth = w.depth - 1
  nested(w, {in_loop = true, loops = w.loops + 1})
  orelse(w)
end

function kinds.leave_loop(w)
  if not w.in_loop then return kinds.note(w) end
  w:put("if %s:", condition(w))
  w:put("    %s", pick {"break", "continue"})
end

kinds["return"] = function (w)
  if not w.in_function or rnd(3) > 1 then return kinds.note(w) end
  w:put("return %s", value(w))
end

local ERRORS = {"ValueError", "KeyError", "TypeError", "IndexError", "Own",
  "OwnChild", "ZeroDivisionError", "StopIteration", "RuntimeError",
  "AttributeError", "AssertionError"}

function kinds.raise(w)
  w:put("%s%s", pick {"if " .. condition(w) .. ": ", ""}, pick {
    "raise " .. pick(ERRORS) .. "(" .. value(w, 1) .. ")",
    "raise " .. pick(ERRORS),
    "raise " .. pick(ERRORS) .. "('e') from " .. pick {"None", "KeyError('c')"},
    "assert " .. condition(w) .. ", " .. value(w, 0), "raise"})
end

kinds["try"] = function (w)
  w:put("try:")
  nested(w, {}, 4)
  local handlers, final = rnd(0, 2), rnd(3) == 1
  for _ = 1, handlers do
    w:put("except %s:", pick {pick(ERRORS), "(" .. pick(ERRORS) .. ", "
      .. pick(ERRORS) .. ") as e", "Exception as e", "LookupError as e",
      "Own as e", "ArithmeticError as e"})
    if w.lines[#w.lines]:find("as e") then
      w:put("    note(shape(e))")
    end
    nested(w)
  end
  if handlers == 0 then final = true end
  if handlers > 0 and rnd(3) == 1 then
    w:put("else:")
    nested(w)
  end
  if final then
    w:put("finally:")
    nested(w)
  end
end
kinds.try_more = kinds["try"]

kinds["with"] = function (w)
  local name = w:new_name("m")
  w:put("with %s as %s%s:", pick {"Manager(%d)", "Manager(%d, True)",
    "managed(%d)"}, name, pick {"", "", ", Manager(9)",
    ", managed(8) as other"})
  w.lines[#w.lines] = w.lines[#w.lines]:gsub("%%d", rnd(9))
  w.names[#w.names + 1] = name
  nested(w)
  w.names[#w.names] = nil
end

local PARAMS = {"x", "x, y=2", "*args", "x, *args, k=1", "x, /, y=3",
  "x, *, k=None", "**kw", "x, y=[], **kw", "x, *args, **kw"}
local CALLS = {"(1)", "(1, 2)", "()", "(*[1, 2])", "(1, k=5)", "(x=1)",
  "(1, y=4)", "(**{'x': 6})", "(1, 2, 3)", "(x=1, k=2)"}

-- A function's body: it sees the names around it and may bind them anew.
local function body(w, params, also)
  w.depth = w.depth + 1
  for _, name in ipairs(w.names) do
    if not params:find("%f[%w]" .. name .. "%f[%W]") and rnd(4) == 1
       and not w.at_class then
      w:put("nonlocal %s", name)
    end
  end
  w.depth = w.depth - 1
  local names = w.names
  w.names = {table.unpack(names)}
  for name in params:gmatch("%a+") do
    if name ~= "None" then w.names[#w.names + 1] = name end
  end
  local inside = {in_loop = false, in_function = true, loops = w.loops + 1,
    at_class = false}
  for k, v in pairs(also or {}) do inside[k] = v end
  nested(w, inside, 4)
  w.names = names
end

kinds["def"] = function (w)
  if w.depth > 3 then return kinds.note(w) end
  local f, params = w:new_name("f"), pick(PARAMS)
  if rnd(4) == 1 then w:put("@%s", pick {"traced", "traced", "doubled(2)"}) end
  w:put("def %s(%s):", f, params)
  body(w, params)
  for _ = 1, rnd(2) do w:put("note(%s%s)", f, pick(CALLS)) end
end

function kinds.generator(w)
  if w.depth > 3 then return kinds.note(w) end
  local f, g = w:new_name("g"), w:new_name("it")
  w:put("def %s(x=1):", f)
  w:put("    note((yield x))")
  body(w, "x", {in_generator = true})
  w:put("    yield from %s", pick {"[1, 2]", "count_to(2)", "'uv'"})
  w:put("%s = %s()", g, f)
  for _ = 1, rnd(1, 4) do
    w:put(pick {"note(next(%s, 'end'))", "note(%s.send(5))", "note(list(%s))",
      "note(next(%s))", "note(%s.throw(ValueError('t')))", "note(%s.close())",
      "note([*%s][:5])"}, g)
  end
end

kinds["yield"] = function (w)
  if not w.in_generator then return kinds.note(w) end
  w:put(pick {"yield %s", "note((yield %s))", "yield [%s]"}, value(w, 1))
end

local METHODS = {
  "def __init__(self, v=0): self.v = v; note('init')",
  "def __repr__(self): return f'<%s {self.v!r}>'",
  "def __eq__(self, o): note('eq'); return True",
  "def __len__(self): return 2",
  "def __bool__(self): note('bool'); return False",
  "def __getitem__(self, i): return note(i) if i != 3 else [][0]",
  "def __setitem__(self, i, v): note((i, v))",
  "def __delitem__(self, i): note(('del', i))",
  "def __iter__(self): return iter([7, 8])",
  "def __contains__(self, v): return v == 7",
  "def __call__(self, *args, **kw): return (args, kw)",
  "def __add__(self, o): return ('add', o)",
  "def __radd__(self, o): return ('radd', o)",
  "def __iadd__(self, o): note('iadd'); return self",
  "def __mul__(self, o): return NotImplemented",
  "def __lt__(self, o): return True",
  "def __getattr__(self, n): note(n); raise AttributeError(n)",
  "def __setattr__(self, n, v): note((n, v)); object.__setattr__(self, n, v)",
  "def __delattr__(self, n): note(('delattr', n))",
  "def __hash__(self): return 5",
  "def __enter__(self): return note('enter')",
  "def __exit__(self, *e): note(e[0]); return True",
  "def __index__(self): return 1",
  "def __str__(self): return 'text'",
  "def __format__(self, s): return 'F' + s",
  "def __init_subclass__(cls, **kw): note((cls.__name__, kw))",
  "def __new__(cls, *a): note('new'); return super().__new__(cls)",
  "def __neg__(self): return 'neg'",
  "def __or__(self, o): return ('or', o)",
  "def __reversed__(self): return [1]",
  "def __class_getitem__(cls, i): return (cls.__name__, i)",
  "@property\n    def p(self): return note('p')",
  "@property\n    def q(self): raise AttributeError('in q')",
  "@classmethod\n    def make(cls, *a): return (cls.__name__, a)",
  "@staticmethod\n    def plain(x=1): return x",
  "table = {n: n * 2 for n in range(2)}",
  "v = 'of class'", "field: int = 3", "__slots__ = ('v', 'w')",
  "def m(self, x=1): return ('m', x)", "lam = lambda self: self.__class__",
  "for z in range(2): note(z)", "__match_args__ = ('v',)",
  "d = Described()",
}

local USES = {"repr(%s)", "%s == 1", "len(%s)", "bool(%s)", "%s[0]", "%s[3]",
  "list(%s)", "7 in %s", "%s(1, k=2)", "%s + 1", "1 + %s", "%s * 2",
  "%s < %s", "%s.nosuch", "%s.v", "%s.p", "%s.q", "%s.make(1)", "%s.plain()",
  "%s.m()", "%s.m(x=3)", "hash(%s) == 5", "str(%s)", "f'{%s:>3}'", "-%s",
  "%s | 2", "[5, 6][%s]", "sorted(%s)", "max(%s)", "hasattr(%s, 'p')",
  "getattr(%s, 'q', 'none')", "%s.table", "%s.d", "vars(%s)", "isinstance(%s, Own)",
  "%s.lam().__name__", "{%s: 1}[%s]", "%s.field", "%s.__class__.__name__",
  "type(%s).__mro__[-1]", "tuple(%s)", "%s != 1", "%s.z", "dir(%s)[-1]",
  "reversed(%s)", "iter(%s)", "type(%s)[3]", "%s.__dict__", "a in %s"}

-- What is put into a call of format: a text that is no format.
local function plainly(text) return (text:gsub("%%", "%%%%")) end

function kinds.class(w)
  if w.depth > 3 then return kinds.note(w) end
  local c, o = w:new_name("C"), w:new_name("o")
  local base = w.class and rnd(2) == 1 and w.class or pick {"", "", "Base",
    "Base, Mixin", "Mixin", "list", "dict", "int", "Exception", "str"}
  w:put("class %s%s:", c, base ~= "" and "(" .. base .. ")" or "")
  for _ = 1, rnd(1, 5) do
    local text = pick(METHODS):gsub("%%s", c)
    for line in (text .. "\n"):gmatch("(.-)\n") do w:put("    " .. plainly(line)) end
  end
  w:put("%s = %s(%s)", o, c, pick {"", "", "1", "'s'", "[1]"})
  w.class = c
  for _ = 1, rnd(2, 5) do
    local n = rnd(8)
    if n == 1 then
      w:put(pick {"%s.v = 5", "%s[0] = 1", "del %s[0]", "%s += 1", "%s.new = 1",
        "del %s.v", "%s.p = 2", "%s.d = 3"}, o)
    elseif n == 2 then
      w:put("with %s as w:", o)
      nested(w)
    else
      w:put("attempt(lambda: %s)", (pick(USES):gsub("%%s", o)))
    end
  end
  w.names[#w.names + 1] = o
end
kinds.class_more = kinds.class

local PATTERNS = {"1", "'x'", "None", "[]", "[p]", "[p, *r]", "[1, *_]",
  "(p, q)", "{'k': p}", "{'k': 1, **rest}", "{}", "int()", "str(p)", "int(p)",
  "1 | 2 | None", "[int(), *_] as p", "_", "p", "Point(x=0)", "Point(1, q)",
  "[[p], *_]", "{'k': [p, *_]}", "float() | int()", "(1 | 'x') as p", "-3",
  "True", "list([p])", "Kind.RED"}

function kinds.match(w)
  w:put("match %s:", pick {value(w), value(w), "Point(1, 2)", "Point(0, [1])",
    "Kind.RED"})
  w.depth = w.depth + 1
  for _ = 1, rnd(1, 4) do
    local p = pick(PATTERNS)
    if p == "_" or p == "p" then p = p .. " if " .. condition(w) end
    w:put("case %s%s:", p, pick {"", "", " if " .. condition(w)})
    local names = w.names
    w.names = {table.unpack(names)}
    for name in p:gmatch("%f[%w_]([pqr]e?s?t?)%f[^%w_]") do
      w.names[#w.names + 1] = name
    end
    nested(w)
    w.names = names
  end
  w.depth = w.depth - 1
end

function kinds.lambdas(w)
  local f = w:new_name("h")
  w:put("%s = %s", f, pick {"[lambda: i for i in range(2)]",
    "lambda x, *y: (x, y)", "(lambda x=a: x)", "lambda: undefined"})
  w:put("attempt(lambda: %s)", pick {f .. "(1, 2)", f .. "()", f .. "[0]()",
    f .. ".__name__"})
end

local ORDER = {}
for name in pairs(kinds) do ORDER[#ORDER + 1] = name end
table.sort(ORDER)

-- What mostly raises, so that the statements after it are reached.
local FRAGILE = {assign = true, assign_more = true, augment = true,
  change = true, del = true, note = true, note_more = true, generator = true,
  ["def"] = true}

-- One statement whose exceptions are written down.
local function caught(w, write)
  w:put("try:")
  w.depth = w.depth + 1
  write(w)
  w.depth = w.depth - 1
  w:put("except Exception as e: note(shape(e))")
end

function block(w, n)
  for _ = 1, n do
    w.left = w.left - 1
    if w.left < 0 or w.depth > 6 then
      w:put("note(%s)", pick(w.names))
    else
      local kind = pick(ORDER)
      if FRAGILE[kind] and rnd(4) > 1 then caught(w, kinds[kind])
      else kinds[kind](w) end
    end
  end
end

local HEAD = [=[
import contextlib, enum, re, sys
log = []
def shown(v, depth=0):
    if isinstance(v, BaseException): return repr(shape(v))
    if type(v) in (set, frozenset): return 'set' + repr(sorted(map(repr, v)))
    return re.sub(r'( at|object) 0x[0-9a-f]+', ' at', repr(v))[:200]
def shape(e):
    out = [type(e).__name__, [a if isinstance(a, (str, int)) else type(a).__name__ for a in e.args]]
    for other in (e.__cause__, e.__context__):
        out.append(type(other).__name__)
    return out + [e.__suppress_context__]
def note(v):
    log.append(shown(v))
    if len(log) > 80: raise SystemExit
    return v
def attempt(f):
    try: note(f())
    except Exception as e: note(shape(e))
class Own(Exception): pass
class OwnChild(Own, KeyError): pass
class Kind(enum.Enum):
    RED = 1
class Point:
    __match_args__ = ('x', 'y')
    def __init__(self, x, y): self.x, self.y = x, y
class Described:
    def __set_name__(self, owner, name): note(('named', owner.__name__, name))
    def __get__(self, obj, owner): return ('got', obj is None)
    def __set__(self, obj, v): note(('set', v))
class Base:
    v = 'base'
    def m(self, *a, **k): return note(('base m', a, k))
    def __repr__(self): return type(self).__name__ + '()'
class Mixin:
    def m(self, *a): return ('mixin', getattr(super(), 'm', None) and super().m(*a))
class Manager:
    def __init__(self, n, swallow=False): self.n, self.swallow = n, swallow
    def __enter__(self): note(('enter', self.n)); return self.n
    def __exit__(self, kind, e, tb): note(('exit', self.n, kind, tb is None)); return self.swallow
@contextlib.contextmanager
def managed(n):
    note(('begin', n))
    try: yield n
    finally: note(('end', n))
def count_to(n):
    try:
        for i in range(n): yield i
    finally: note('counted')
def traced(f):
    def inner(*a, **k):
        note((f.__name__, a, k))
        return f(*a, **k)
    return inner
def doubled(n):
    return lambda f: lambda *a, **k: [f(*a, **k)] * n
def show(n, f):
    log.clear()
    try: end = ('returned', shown(f()))
    except SystemExit: end = ('too much',)
    except Exception as e: end = ('raised', str(e), shape(e))
    print(n, end[0], ' '.join(log), end[1:])
]=]

-- bodies(seed, n): n drawn functions named case; some break a rule of the
-- grammar (a nonlocal that is no name of the function around).
function M.bodies(seed, n)
  math.randomseed(seed)
  local out = {}
  for i = 1, n do
    local w = writer()
    w:put("a, b, c = %s, %s, %s", pick(CONSTS), pick(CONSTS), pick(CONSTS))
    w.in_function = true
    block(w, rnd(2, 5))
    out[i] = ("def case():\n%s\n"):format(table.concat(w.lines, "\n"))
  end
  return out
end

-- program(bodies): what shows the outcome of each, by its number.
function M.program(bodies)
  local out = {HEAD}
  for i, text in pairs(bodies) do
    out[#out + 1] = ("%sshow(%d, case)\n"):format(text, i)
  end
  return table.concat(out, "\n")
end

return M
