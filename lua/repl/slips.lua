-- SPDX-License-Identifier: MIT
-- repl/slips.lua: what a PyTorch user types by habit and Lua does not know: the
-- right spelling, found in the line that failed and in what the error says.

local M = {}

-- The line without what is in strings and comments; as long as it was.
local function code(text)
  local function blank(s) return (" "):rep(#s) end
  local function hollow(s) return '"' .. blank(s:sub(2, -2)) .. '"' end
  return (text:gsub("%[%[.-%]%]", hollow):gsub('"[^"\n]*"', hollow)
    :gsub("'[^'\n]*'", hollow):gsub("%-%-[^\n]*", blank))
end

local NAME = "[%a_][%w_%.]*"
local SHELL = "commands of a shell are not run here; Ctrl-D or :quit leaves"

-- ---- signs that are no signs of Lua -------------------------------------------

-- What Lua says, what then is in the line, and what to write.
local signs = {
  {"near '!'", "^%s*!", function () return SHELL end},
  {"near", "^%s*(%l+)%s+[%w%.%-/~]", function (word)
    return ({cd = 1, ls = 1, cat = 1, git = 1, pwd = 1, rm = 1, mkdir = 1,
      python = 1, pip = 1, less = 1, vim = 1, mpirun = 1, torchrun = 1})[word]
      and SHELL or nil
  end},
  {"near", "^%s*(%u[%w_]*Error): ", function ()
    return "an error of a program: :import in front of it says what it is"
  end},
  {"malformed number", "%f[%w_](%d+_[%d_]+)", function (digits)
    return "digits are not parted: " .. digits:gsub("_", "")
  end},
  {"near 'else'", "=?%s*[^=]-%s+if%s+[^:]-%s+else%s", function ()
    return "a choice is (condition and a or b), when a is not false"
  end},
  {"near '@'", "(" .. NAME .. ")%s*@%s*(" .. NAME .. ")", function (a, b)
    return ("the product of matrices is %s:matmul(%s)"):format(a, b)
  end},
  {"near '!'", "(" .. NAME .. ")%s*!=%s*([^%s%)]+)", function (a, b)
    return ("unequal is %s ~= %s; of tensors, each element, %s:ne(%s)")
      :format(a, b, a, b)
  end},
  {"near '[=%+%-%*/]", "(" .. NAME .. ")%s*([%+%-%*/])=%s*([^%s;]+)", function (a, op, b)
    local f = ({["+"] = "add_", ["-"] = "sub_", ["*"] = "mul_",
      ["/"] = "div_"})[op]
    return ("write %s = %s %s %s; in place, %s:%s(%s)"):format(a, a, op, b, a,
      f, b)
  end},
  {"near '[,:]'", "(" .. NAME .. ")%[(%s*[%w_%-:]+%s*,[^%]]*)%]", function (a, list)
    if list:find(":", 1, true) then
      return ("several indices are a list, a slice is dt.slice(from, to): "
        .. "%s[{0, dt.slice(1, 3)}]"):format(a)
    end
    return ("several indices are a list: %s[{%s}]"):format(a, list)
  end},
  {"near ','", "(" .. NAME .. ")%[(%s*\" *\"%s*,[^%]]*)%]", function (a, list)
    return ("several names are a list: %s[{%s}]"):format(a, list)
  end},
  {"near '[:%]]'", "(" .. NAME .. ")%[(%s*%-?%w*%s*):(%s*%-?%w*%s*)%]", function (a, i, j)
    local function or_nil(s) return s:find("%S") and s or "nil" end
    return ("a slice is %s[dt.slice(%s, %s)]"):format(a, or_nil(i), or_nil(j))
  end},
  {"near '%['", "%[[^%[%]]-%sfor%s[^%[%]]-%sin%s[^%[%]]*%]", function ()
    return "a comprehension is a loop in Lua; :python runs the line as it stands"
  end},
  {"near '%['", "[%(,=%s]%[([^%[%]]*)%]", function (list)
    return ("a list has braces in Lua: {%s}"):format(list)
  end},
  {"near '%['", "^%[([^%[%]]*)%]", function (list)
    return ("a list has braces in Lua: {%s}"):format(list)
  end},
  {"near '=='", "==%s*%[([^%[%]]*)%]", function (list)
    return ("a list has braces in Lua: {%s}"):format(list)
  end},
  {"near ','", "{%s*%[([^%[%]]*)%]", function (list)
    return ("a list has braces in Lua: {%s}"):format(list)
  end},
  {"near", "^%s*del%s+(" .. NAME .. ")", function (name)
    return ("to forget it: %s = nil"):format(name)
  end},
  {"near", "^%s*raise%s+[%w_]*%(?(.-)%)?%s*$", function (what)
    return ("an error is raised by error(%s)"):format(what)
  end},
  {"near '%+'", "(" .. NAME .. ")%+%+", function (a)
    return ("write %s = %s + 1"):format(a, a)
  end},
  {"near '='", "^%s*(" .. NAME .. ")%s*:%s*[%w_%.]+%s*=", function (a)
    return ("names have no types in Lua: %s = …"):format(a)
  end},
  {"near ','", "[%(,=]%s*%((%s*[%w_%-]+%s*,[%w_%-%s,]*)%)", function (list)
    return ("a tuple is a list with braces: {%s}"):format((list:gsub(
      ",%s*$", "")))
  end},
  {"near ','", "^%s*%((%s*[^%(%)]+,[^%(%)]*)%)%s*$", function (list)
    return ("a tuple is a list with braces: {%s}"):format((list:gsub(
      ",%s*$", "")))
  end},
  {"near '='", "[%(,]%s*([%a_][%w_]*)%s*=[^=]", function (k)
    return ("keywords go into a table, the last argument: f(x, {%s = …})")
      :format(k)
  end},
  {"near '='", "^%s*[%a_][%w_]*%s*=%s*[%a_][%w_]*%s*=[^=]", function ()
    return "one assignment a line; a, b = 1, 1 sets two"
  end},
  {"near", "^%s*(print)%s+([%a_\"].*)$", function (f, what)
    return ("a call has brackets: %s(%s)"):format(f, what)
  end},
  {"near", "^%s*(assert)%s+([%a_].*)$", function (f, what)
    return ("a call has brackets: %s(%s)"):format(f, what)
  end},
  {"near '%*'", "%*%*", function () return "the power is x ^ 2" end},
  {"near '&'", "&&", function () return "and is the word `and`" end},
  {"near '|'", "||", function () return "or is the word `or`" end},
  {"near", "%f[%w_]lambda%f[^%w_]", function ()
    return "a function is function(x) return x * 2 end; :python takes lambda"
  end},
}

local function by_sign(text, message)
  local line = code(text)
  for _, sign in ipairs(signs) do
    local found = message:find(sign[1]) and table.pack(line:find(sign[2])) or {}
    if found[1] then
      local words = {}
      local from = found[1]
      -- The words of the text itself: strings were made hollow.
      for i = 3, found.n do
        local at, to = line:find(found[i], from, true)
        words[#words + 1] = at and text:sub(at, to) or found[i]
        from = to and to + 1 or from
      end
      local answer = sign[3](table.unpack(words))
      if answer then return answer end
    end
  end
end

-- ---- names of Python ---------------------------------------------------------

local names = {
  torch = "torch is dt here: dt.randn(2), dt.distributed, nn, F; :python runs "
    .. "lines of Python",
  dist = "torch.distributed is dt.distributed",
  np = "NumPy is not here: dt.tensor, dt.load(\"x.npy\")",
  len = "the length is #x",
  range = "counting is for i = 0, n - 1 do … end",
  isinstance = "kinds: type(x), dt.is_tensor(x), x.is_dtensor",
  str = "a text is tostring(x)", int = "a whole number is math.tointeger(x)",
  float = "a number is tonumber(x)",
  list = "a list is {1, 2}", tuple = "a tuple is {1, 2}",
  dict = "a table is {a = 1}",
  exit = "Ctrl-D or :quit leaves", quit = "Ctrl-D or :quit leaves",
  help = ":help NAME or ?NAME explains; :help lists the commands",
  dir = "?x says what x is; x: and Tab lists its methods",
}

local words = {
  None = "nothing is nil; a hole in a list or an argument is dt.None",
  True = "true is written in small letters",
  False = "false is written in small letters",
  exit = names.exit, quit = names.quit, help = names.help, dir = names.dir,
  rank = "the number of a rank is dt.rank()",
  world_size = "how many ranks there are is dt.world_size()",
  ls = SHELL, pwd = SHELL, clear = "Ctrl-L clears the screen",
}

-- ---- methods that were called with a dot -----------------------------------

-- What stands before the dot: a name, one with an index, the result of a call.
local owners = {NAME .. "%b[]", NAME .. "[:%w_]*%b()", NAME}

local function by_call(text, message)
  local f = message:match("([%w_]+)%(%): argument 'self'")
    or message:match("([%w_]+)%(%) received an invalid combination")
    or message:match("bad argument #1 to '([%w_]+)'")
  f = f or message:match("([%w_]+)%(%) missing 1 required positional")
    or message:match("([%w_]+)%(%) without its object")
    or message:match("([%w_]+)%(%): argument 'input' %(position 1%)")
  local line = code(text)
  for _, owner in ipairs(owners) do
    for from, dot, method, open, close in line:gmatch("()" .. owner
      .. "()%.([%a_][%w_]*)%s*()%b()()") do
      local whose = text:sub(from, dot - 1)
      if (f == nil or method == f) and not whose:find("^dt%f[^%w_]")
         and not ({nn = 1, F = 1, math = 1, string = 1, table = 1})[whose] then
        return ("a method is called with a colon: %s:%s%s"):format(whose,
          method, text:sub(open, close - 1))
      end
    end
  end
end

-- ---- names that the library does not have --------------------------------------

-- "dt.foo" in the line: what is said of it; other tables may well lack a name.
local function by_library(text, field)
  for owner, name in code(text):gmatch("([%a_][%w_%.]*)%.([%a_][%w_]*)") do
    local root = owner:match("^[%w_]+")
    if name == field and (root == "dt" or root == "nn" or root == "F") then
      return ("%s has no %s; %s. and Tab lists what it has"):format(owner, field,
        owner)
    end
  end
end

local reserved = {}
for word in ([[and break do else elseif end false for function goto if in local
  nil not or repeat return then true until while]]):gmatch("%a+") do
  reserved[word] = true
end

-- A global of the line that holds nothing, and so became None or nil below.
local function by_nil(text)
  local line = code(text):gsub("[%.:]%s*[%a_][%w_]*", "")
  for name, rest in line:gmatch("%f[%w_]([%a_][%w_]*)%s*()") do
    local sets = line:find("^=[^=]", rest)
    if not reserved[name] and not sets and rawget(_G, name) == nil then
      return ("%s has no value: nothing has set it"):format(name)
    end
  end
end

-- ---- what the shell asks -------------------------------------------------------

-- The line is no Lua, as the message says; nil: nothing is known.
function M.syntax(text, message) return by_sign(text, message) end

-- What is known of the message.
local function by_message(text, message)
  local name = message:match("a nil value %(global '([%w_]+)'%)")
  if name and names[name] then return names[name] end
  if message:find("attempt to add a 'string'", 1, true) then
    return "texts are joined by two dots: a .. b"
  end
  if message:find("get length of a nil value", 1, true)
     and text:find("^%s*#%s+%S") then
    return "a comment begins with --"
  end
  local field = message:match("attempt to call a %S+ value %(field '([%w_]+)'%)")
    or message:match("attempt to call a %S+ value %(method '([%w_]+)'%)")
  if field and not message:find("call a nil", 1, true) then
    return ("%s is a value, not a function: without brackets, x.%s"):format(
      field, field)
  end
  if message:find("a nil value %(field 'cuda'%)") then
    return "there is no GPU: every device computes on the CPU; a program may "
      .. "ask torch.cuda (:python)"
  end
  local lacking = message:match("a nil value %(field '([%w_]+)'%)")
  if lacking and not message:find("did you mean", 1, true)
     and by_library(text, lacking) then
    return by_library(text, lacking)
  end
  if message:find("expected a placement: S(dim)", 1, true)
     and text:find("[Ss]hard%(%d") then
    return "placements in a text are S(0), R and P(sum); as values, Shard(0), "
      .. "Replicate() and Partial()"
  end
  if message:find("list index out of range", 1, true)
     and text:find("redistribute", 1, true) then
    return "a placement is wanted for each dimension of the mesh: "
      .. "{Shard(0), Replicate()} or \"S(0) R\""
  end
  if message:find("attempt to mod a 'string'", 1, true) then
    return "a text with values is (\"%d ranks\"):format(4)"
  end
  if message:find("bitwise operation on a dt.tensor", 1, true) then
    return "of tensors: x:bitwise_not(), x:logical_not()"
  end
  if message:find("(global 'f')", 1, true) and text:find("%f[%w_]f\"") then
    return "a text with values is (\"%s\"):format(x)"
  end
  if message:find("invalid data type 'str'", 1, true)
     and text:find("[[", 1, true) then
    return "[[ begins a text in Lua; lists have braces: {{1, 2}, {3, 4}}"
  end
  if message:find("(field 'grad')", 1, true) then
    return "there is no gradient: backward has not run, or it is no leaf (:grads)"
  end
  if message:find("no attribute '_local_tensor'", 1, true) then
    return "this rank's part is x:to_local()"
  end
  if message:find("(field 'environ')", 1, true) then
    return "a variable of the shell is os.getenv(\"NAME\")"
  end
  if message:find("attempt to compare", 1, true)
     and message:find("dt.tensor", 1, true) then
    return "of tensors, each element: x:gt(0), x:ge(0), x:lt(0), x:le(0)"
  end
  if message:find("NoneType", 1, true) then
    local said = by_nil(text)
    if said then return said end
  end
  if message:find("'self' must be", 1, true)
     or message:find("missing 1 required positional", 1, true)
     or message:find("without its object", 1, true)
     or message:find("argument 'input' (position 1)", 1, true)
     or message:find("received an invalid combination", 1, true)
     or message:find("bad argument #1 to", 1, true) then
    return by_call(text, message)
  end
end

-- The line failed with this message.
function M.raised(text, message)
  local said = by_message(text, message)
  if said then return said end
  local word = code(text):match("%f[%w_](True)%f[^%w_]")
    or code(text):match("%f[%w_](False)%f[^%w_]")
  return word and words[word] or nil
end

-- ---- lines of programs ----------------------------------------------------------

local OWNER = "([%a_][%w_%.]*[%w_%[%]\"]*)"

-- What a message says, what then is in the line, and what helps.
local helps = {
  {"%.numpy%(%) is not supported for tensor subclasses", OWNER .. "%.numpy%(",
    function (x)
      return ("%s.full_tensor().numpy() has the whole, %s.to_local().numpy() "
        .. "this rank's part"):format(x, x)
    end},
  {"%.tolist%(%) is not supported for tensor subclasses", OWNER .. "%.tolist%(",
    function (x)
      return ("%s.full_tensor().tolist() has the whole, %s.to_local().tolist() "
        .. "this rank's part"):format(x, x)
    end},
  {"Operator c10d%.[%w_]+%.default does not have a sharding strategy",
    "%.[%w_]+%(%s*" .. OWNER, function (x)
      return ("collectives of torch.distributed take plain tensors: "
        .. "%s.full_tensor() reduces and gathers as the placements say, "
        .. "%s.to_local() is this rank's part"):format(x, x)
    end},
  {"While copying the parameter named .*got mixed torch%.Tensor and DTensor",
    OWNER .. "%.load_state_dict%(%s*" .. OWNER, function (net, whole)
      return ("whole tensors into distributed parameters: "
        .. "set_model_state_dict(%s, %s, options=StateDictOptions("
        .. "full_state_dict=True)), of torch.distributed.checkpoint.state_dict")
        :format(net, whole)
    end},
}

-- A line of a program failed with this message.
function M.program(text, message)
  local needed = message:match("Mesh should not be bigger than default world "
    .. "size %d+, but found (%d+) ranks")
  if needed then
    return ("dtrepl -n %s has so many ranks, --fake %s pretends them without "
      .. "data"):format(needed, needed)
  end
  for _, row in ipairs(helps) do
    local found = message:find(row[1]) and table.pack(text:match(row[2]))
    if found and found[1] then return row[3](table.unpack(found, 1, found.n)) end
  end
end

-- A typed line of Python failed with this message, or ("") had no value.
function M.python(text, message)
  local x, call = text:match("^%s*(" .. NAME .. ")%s*:%s*([%a_][%w_]*%(.*%))%s*$")
  if x and message == "" then
    return ("this annotates %s and calls nothing: %s.%s"):format(x, x, call)
  end
  if message:find("SyntaxError", 1, true) and (text:find("^%s*local%s")
     or text:find("%f[%w]then%f[%W]") or text:find("^%s*for%s.*%sdo%f[%W]")
     or text:find("%f[%w]function%s*%(")) then
    return "lines are Python's here: :set python off takes Lua"
  end
end

-- Fields that plain tensors lack.
local PLAIN = "a plain tensor has none; dt.distribute_tensor(x, mesh, \"S(0)\") has"
local distributed_only = {placements = PLAIN, device_mesh = PLAIN}

-- The line is one name that holds nothing, or a function.
function M.value(text, kind)
  local name = text:match("^%s*([%w_%.]+)%s*$")
  if kind == "tensors" then
    return not text:find("nil%s*$")
      and "== says whether both are the same tensor; each element, x:eq(y), all "
      .. "together, dt.equal(x, y)"
  end
  if not name then return nil end
  local owner, method = name:match("^(.*)%.([%w_]+)$")
  if kind == "nil" then
    return words[name] or distributed_only[method]
      or method and by_library(text, method)
  end
  if kind == "method" and owner then
    return ("a method is called with a colon: %s:%s()"):format(owner, method)
  end
end

return M
