-- SPDX-License-Identifier: MIT
-- draw_python.lua: programs drawn over Python's core.  Each line shows what an
-- expression is worth, or the class and text of what it raises.

local M = {}

local rnd = math.random

local function pick(t) return t[rnd(#t)] end

local draw = {}                     -- by type: (depth) -> text of an expression

local INTS = {"0", "1", "-1", "2", "7", "-13", "255", "(10**20)", "(-2**64)",
  "(2**63)", "(2**63-1)", "(-2**63)", "123456789012345678901234567890", "True",
  "False", "0x1f", "1_000", "97"}
local FLOATS = {"0.0", "-0.0", "1.5", "-2.25", "1e16", "1e-7", "123456.789",
  "float('inf')", "float('nan')", "0.1", "1e22", "3.0", "1e300", "5e-324",
  "2.5", "-0.5", "1234567890.125"}
local STRS = {"''", "'a'", "'abc'", "'Hello, World'", "'  pad '", "'é'",
  "'naïve ß'", "'a,b,,c'", "'line\\nbreak\\ttab'", "'12'", "' 7 '", "'x=1'",
  "'\\u20ac5'", "'aAbB'", "'ab'*3", "\"it's\"", "'\\x00\\x7f'", "'3.5'",
  "'the quick brown fox'", "'İ'", "'𝔘n'"}
local BYTES = {"b''", "b'abc'", "b'\\x00\\xff'", "b'a b c'", "bytes(3)",
  "bytearray(b'xyz')", "b'12'"}
local SPECS = {"", "d", "x", "X", "o", "b", "n", "c", "e", ".2e", "f", ".3f",
  "g", ".4g", "%", ".1%", ">10", "<8", "^9", "*^9", "010", "+", " ", "+.2f",
  ",", "_", "#x", "#b", "#o", "08.3f", "=+8", ",.2f", "s", ".2", "10.3", "_x",
  "#.3g", "z.1f", ".0f", "G", "E", "-<12", "é>6", "5d", "06", "<06", ",d",
  ".3s", "1.1s", "x<#6x", "!", "5.5.5", "q"}
local PERCENTS = {"%d", "%5d", "%-5d|", "%05d", "%x", "%#x", "%o", "%e", "%.2f",
  "%g", "%s", "%10s", "%-10s|", "%.2s", "%r", "%c", "%%", "%+d", "% d", "%i",
  "%5.1f", "%a", "%*d", "%(k)s", "%q"}

function draw.int(d)
  if d <= 0 then return pick(INTS) end
  local n = rnd(14)
  local a, b = draw.int(d - 1), draw.int(d - 1)
  if n <= 5 then
    return ("(%s %s %s)"):format(a, pick {"+", "-", "*", "//", "%", "&", "|",
      "^"}, b)
  elseif n == 6 then return ("(%s %s %d)"):format(a, pick {"<<", ">>", "**"},
      rnd(0, 70))
  elseif n == 7 then return pick {"-", "~", "+", "abs"} .. "(" .. a .. ")"
  elseif n == 8 then return "len(" .. draw.any(d - 1) .. ")"
  elseif n == 9 then return ("divmod(%s, %s)[%d]"):format(a, b, rnd(0, 1))
  elseif n == 10 then return ("int(%s)"):format(pick {draw.float(0),
      draw.str(0), a})
  elseif n == 11 then return ("(%s).bit_length()"):format(a)
  elseif n == 12 then return ("pow(%s, %d, %s)"):format(a, rnd(0, 5), b)
  elseif n == 13 then return ("int(%s, %d)"):format(pick {"'ff'", "'0b11'",
      "'12'", "'z'", "'-7_0'", "'０'"}, pick {0, 2, 10, 16, 36, 37})
  end
  return ("round(%s, %d)"):format(a, rnd(-3, 3))
end

function draw.float(d)
  if d <= 0 then return pick(FLOATS) end
  local n, a = rnd(7), draw.float(d - 1)
  if n <= 3 then
    return ("(%s %s %s)"):format(a, pick {"+", "-", "*", "/", "//", "%"},
      pick {draw.float(d - 1), draw.int(d - 1)})
  elseif n == 4 then return ("round(%s, %d)"):format(a, rnd(-2, 4))
  elseif n == 5 then return ("float(%s)"):format(pick {draw.str(0), draw.int(1)})
  elseif n == 6 then return ("(%s).%s()"):format(a, pick {"hex", "as_integer_ratio", "conjugate"})
  end
  return ("(%s / %s)"):format(draw.int(d - 1), draw.int(d - 1))
end

local function bound() return pick {"", "", "0", "1", "2", "-1", "-2", "5",
  "100", "-100", "None"} end

local function slice(a)
  return ("%s[%s:%s:%s]"):format(a, bound(), bound(), pick {"", "1", "2", "-1",
    "-2", "3", "0"})
end

local STR_METHODS = {"upper()", "lower()", "title()", "capitalize()",
  "swapcase()", "casefold()", "strip()", "lstrip(' H')", "rstrip('c')",
  "split()", "split(',')", "split(None, 1)", "rsplit(' ', 1)", "splitlines()",
  "splitlines(True)", "partition(',')", "rpartition('b')", "find('b')",
  "rfind('a')", "index('c')", "count('a')", "count('')", "replace('a', 'xy')",
  "replace('', '-', 2)", "startswith(('a', 'H'))", "endswith('c', 1)",
  "isalpha()", "isdigit()", "isalnum()", "isspace()", "isupper()", "islower()",
  "istitle()", "isidentifier()", "isnumeric()", "isdecimal()", "isascii()",
  "isprintable()", "center(12, '*')", "ljust(7, '.')", "rjust(9)", "zfill(6)",
  "expandtabs(4)", "encode()", "encode('latin-1')", "encode('ascii')",
  "removeprefix('a')", "removesuffix('c')", "join(['x', 'y'])",
  "join(['x', 1])", "join('abc')", "translate({97: 'é', 98: None})",
  "center('x')", "split('')", "find()", "encode('utf-16-le')",
  "maketrans('ab', 'cd')", "nosuch()", "format(1)", "replace('a')"}

function draw.str(d)
  if d <= 0 then return pick(STRS) end
  local n, a = rnd(11), draw.str(d - 1)
  if n <= 4 then return ("(%s).%s"):format(a, pick(STR_METHODS))
  elseif n == 5 then return slice("(" .. a .. ")")
  elseif n == 6 then return ("format(%s, '%s')"):format(draw.any(d - 1),
      pick(SPECS))
  elseif n == 7 then return ("('%s' %% %s)"):format(pick(PERCENTS),
      pick {draw.int(1), draw.float(0), draw.str(0), "(1, 2)", "{'k': 3}"})
  elseif n == 8 then return ('f"{%s!r:%s}"'):format(pick {"1", "2.5", "'é'",
      "[1]"}, pick {"", ">8", "^7", ".2"})
  elseif n == 9 then return ("%s(%s)"):format(pick {"repr", "str", "ascii"},
      draw.any(d - 1))
  elseif n == 10 then return ("'{0:%s}|{1!r}'.format(%s, %s)"):format(
      pick(SPECS), draw.any(0), draw.any(d - 1))
  end
  return ("(%s + %s)"):format(a, draw.str(d - 1))
end

local BYTES_METHODS = {"hex()", "hex('-')", "decode()", "decode('latin-1')",
  "upper()", "split()", "find(b'b')", "replace(b'a', b'zz')", "strip(b'a')",
  "startswith(b'a')", "count(b'c')", "join([b'1', b'2'])", "ljust(5, b'.')",
  "isdigit()", "partition(b'b')", "zfill(5)", "index(b'q')", "title()",
  "find('a')", "translate(None, b'a')", "center(6)", "isalpha()"}

function draw.bytes(d)
  if d <= 0 then return pick(BYTES) end
  local n, a = rnd(6), draw.bytes(d - 1)
  if n <= 2 then return ("(%s).%s"):format(a, pick(BYTES_METHODS))
  elseif n == 3 then return slice("(" .. a .. ")")
  elseif n == 4 then return ("(%s).to_bytes(%d, %s%s)"):format(draw.int(0),
      rnd(0, 10), pick {"'big'", "'little'", "'x'"}, pick {"", ", signed=True"})
  elseif n == 5 then return ("(%s %s %s)"):format(a, pick {"+", "*", "in", "<",
      "=="}, pick {draw.bytes(0), "2"})
  end
  return ("%s(%s)"):format(pick {"list", "bytes", "bytearray", "tuple", "str"},
    a)
end

local function several(d, most)
  local t = {}
  for i = 1, rnd(0, most or 4) do t[i] = draw.any(d) end
  return t
end

local LIST_CALLS = {"[:2]", "[::-1]", "[-1]", "[9]", ".index(1)", ".count(1)",
  ".copy()", " + [1]", " * 2", " * -1", " + (1,)", "['a']", "[1:][::2]",
  ".pop()", ".append(1)", ".nosuch", ".sort()", ".insert(1)"}

function draw.list(d)
  if d <= 0 then return pick {"[]", "[1]", "[3, 1, 2]", "['b', 'a']", "(1, 2)",
    "()", "range(5)", "[1, 'a', None]", "(1,)", "[[1], [2]]",
    "range(10, 0, -3)"} end
  local n, a = rnd(12), draw.list(d - 1)
  if n <= 2 then return "[" .. table.concat(several(d - 1), ", ") .. "]"
  elseif n == 3 then return "(" .. draw.any(d - 1) .. ", "
    .. table.concat(several(d - 1, 3), ", ") .. ")"
  elseif n == 4 then return ("%s(%s)"):format(pick {"list", "tuple", "sorted",
      "sum", "max", "min", "any", "all", "set", "next"}, a)
  elseif n == 5 then return slice("list(" .. a .. ")")
  elseif n <= 7 then return ("list(%s)%s"):format(a, pick(LIST_CALLS))
  elseif n == 8 then return ("[(i, %s) for i in %s if %s]"):format(pick {"i",
      "i * 2", "str(i)", "-i"}, a, pick {"True", "i", "i != 1", "i < 3"})
  elseif n == 9 then return ("list(%s(%s, %s))"):format(pick {"zip", "map",
      "filter", "enumerate"}, pick {"str", "None", "range(2)", a}, a)
  elseif n == 10 then return ("(%s %s %s)"):format(a, pick {"==", "<", "+",
      "in", ">=", "is", "!="}, draw.list(d - 1))
  elseif n == 11 then return ("[*%s, *%s]"):format(a, draw.list(0))
  end
  return ("sorted(%s, key=%s, reverse=%s)"):format(a, pick {"str", "repr",
    "None", "lambda v: -v", "len"}, pick {"True", "False"})
end

local DICT_CALLS = {"", ".get(1)", ".pop('a', 0)", ".pop('q')", ".items()",
  ".keys() & {1}", ".keys() | [1, 5]", ".values()", ".setdefault(9, [])",
  " | {1: 2}", "[1]", "['q']", ".popitem()", ".copy()", ".update(a=1)",
  " == {}", ".get()", ".items() - {('a', 1)}", " | [1]", ".keys()[0]"}

function draw.dict(d)
  if d <= 0 then return pick {"{}", "{1: 2}", "{'a': 1, 'b': 2}",
    "{True: 'x', 1.0: 'y'}", "{(1, 2): None}", "dict(a=1)",
    "dict.fromkeys('ab', 0)"} end
  local n = rnd(5)
  if n == 1 then return ("{%s: %s, %s: %s}"):format(draw.any(d - 1),
    draw.any(d - 1), draw.any(0), draw.any(0))
  elseif n == 2 then return ("{k: %s for k in %s}"):format(pick {"k", "str(k)",
    "[k]"}, draw.list(d - 1))
  elseif n == 3 then return ("{**%s, **%s}"):format(draw.dict(0), draw.dict(0))
  end
  return draw.dict(d - 1) .. pick(DICT_CALLS)
end

function draw.set(d)
  if d <= 0 then return pick {"set()", "{1}", "frozenset([1, 2])", "{2}",
    "frozenset()"} end
  local n, a = rnd(4), draw.set(d - 1)
  if n == 1 then return ("sorted(%s %s %s)"):format(a, pick {"|", "&", "-", "^"},
    draw.set(0))
  elseif n == 2 then return ("(%s %s %s)"):format(a, pick {"<=", "<", "==", ">=",
    "!="}, pick {draw.set(0), "[1]"})
  elseif n == 3 then return ("%s.%s(%s)"):format(a, pick {"union", "isdisjoint",
    "issubset", "difference", "remove", "intersection", "add"}, draw.list(0))
  end
  return ("(%s in %s)"):format(draw.any(0), a)
end

local ANY = {"int", "int", "float", "str", "str", "list", "dict", "bytes",
  "set"}

function draw.any(d)
  local n = rnd(12)
  if n == 1 then return pick {"None", "...", "1j", "(1+2j)", "-0.0j", "int",
    "NotImplemented", "object", "type(None)"} end
  if n == 2 and d > 0 then
    return ("(%s %s %s)"):format(draw.any(d - 1), pick {"+", "-", "*", "<", "==",
      "and", "or", "in", "@", "/", "is not", "%"}, draw.any(d - 1))
  elseif n == 3 and d > 0 then
    return ("(%s if %s else %s)"):format(draw.any(d - 1), draw.any(0),
      draw.any(d - 1))
  elseif n == 4 and d > 0 then
    return ("%s(%s)"):format(pick {"bool", "type", "int", "float", "str",
      "len", "abs", "chr", "ord", "hex", "bin", "oct", "callable", "list",
      "complex", "round", "divmod"}, draw.any(d - 1))
  end
  return draw[pick(ANY)](d)
end

local HEAD = [[
def show(n, f):
    try:
        v = f()
        if isinstance(v, (set, frozenset)):     # their order is nobody's
            v = (type(v), sorted(map(repr, v)))
        print(n, type(v).__name__, repr(v))
    except (TypeError, ValueError, ArithmeticError, LookupError,
            AttributeError, StopIteration) as e:
        print(n, type(e).__name__, e)
    except Exception as e:
        print(n, type(e).__name__)
]]

-- lines(seed, n): a program of n drawn expressions, and they, by number.
function M.lines(seed, n)
  math.randomseed(seed)
  local out, exprs = {HEAD}, {}
  for i = 1, n do
    local e
    repeat e = draw.any(rnd(1, 3)) until #e < 160 and not e:find("z%.1f")
    exprs[i] = e
    out[#out + 1] = ("show(%d, lambda: %s)"):format(i, e)
  end
  return table.concat(out, "\n") .. "\n", exprs
end

return M
