-- SPDX-License-Identifier: MIT
-- dt/diagnose/fragments.lua: the code of a report as programs that run: the
-- blocks of a text, and for each the lines before it that it takes for granted
-- (imports, a mesh, the rank), the calls behind it that it does not show.
--
-- What a fragment does not define is made only where its name says what it is:
-- a model, a tensor, a batch.  Sizes made up like this must not decide: a
-- program with `invented` values counts only where it raises the very text.

local code = require "dt.diagnose.code"
local stand_ins = require "dt.diagnose.stand_ins"

local M = {}

local MAX_CODE <const>, MAX_BLOCKS <const>, MAX_LINES <const> = 30000, 6, 3000

-- ---- the blocks of a text ----------------------------------------------

local keywords = {"for ", "while ", "if ", "elif ", "else:", "with ", "def ",
  "class ", "try:", "except", "finally:", "return", "import ", "from ", "@",
  "assert ", "raise ", "del ", "pass", "async "}

local function begins_statement(line)
  local bare = line:gsub("^%s+", "")
  for _, k in ipairs(keywords) do
    if bare:sub(1, #k) == k then return true end
  end
end

-- "rank0: 3", "[Rank 1] ..."; but "rank0 = get_rank() == 0" is a statement.
local function is_of_a_rank(line)
  return line:find "^%[rank" or line:find "^%[?[Rr]ank%s*%d"
    and not line:find "^rank%d[%w_]*%s?[=%(%.,]"
end

-- What no program has in it: tracebacks, what was printed, commands, prose.
local function is_output(line)
  return line:find "^Traceback" or line:find '^%s*File "' or is_of_a_rank(line)
    or line:find "^[%w_%.]*Error: " or line:find "^[%w_%.]*Exception: "
    or line:find "^%s*torchrun " or line:find "^%s*python3? " or line:find "^%$ "
    or line:find "^%s*[~%^]+%s*$"
end

local function is_prose(line)
  local bare = line:gsub("#.*$", ""):gsub("'[^']*'", ""):gsub('"[^"]*"', "")
  return not begins_statement(line) and bare:find "%a+ %a+ %a+ %a+"
end

-- Without prompts of a session, signs of a diff and a common indent.
local function plain(lines)
  local out, least = {}, nil
  for i, line in ipairs(lines) do
    out[i] = line:gsub("^(%s*)>>> ?", "%1"):gsub("^(%s*)%.%.%. ", "%1")
      :gsub("^%+ ", ""):gsub("\t", "    ")
    local indent = out[i]:find "%S" and #out[i]:match "^%s*"
    if indent and (not least or indent < least) then least = indent end
  end
  for i, line in ipairs(out) do out[i] = line:sub((least or 0) + 1) end
  return out
end

-- The longest head of `lines` that reads as Python, as a text; nil for none.
local function readable(lines)
  local n = #lines
  for _ = 1, 4 do
    local text = table.concat(lines, "\n", 1, n)
    if code.program(text) then return text end
    repeat n = n - 1 until n < 1 or lines[n]:find "^%S"
    if n < 2 then return nil end
    n = n - 1
  end
end

-- Lines of code between fences, else runs of lines that look like code.
local function blocks_of(text)
  local list, block, fenced, depth = {}, nil, false, 0
  local function close()
    local lines = block and plain(block)
    local whole = lines and readable(lines)
    if whole and whole:find "[%(%[]" and #whole <= MAX_CODE
      and #list < MAX_BLOCKS then
      list[#list + 1] = whole
    end
    block, depth = nil, 0
  end
  local read, frame = 0, false
  for line in (text .. "\n"):gmatch "(.-)\r?\n" do
    read = read + 1
    if read > MAX_LINES then break end
    if line:find "^%s*```" then
      close()
      fenced = not fenced
    elseif is_output(line) or frame then
      close()
      frame = line:find '^%s*File "' ~= nil       -- its source line follows
    elseif fenced then
      block = block or {}
      block[#block + 1] = line
    else
      local bare = line:gsub("^%s*>>> ?", "")
      local opens = bare ~= line or code.likely(bare) and not is_prose(bare)
        or begins_statement(bare) and code.program(bare:gsub("^%s+", "")
          :gsub(":%s*$", ": pass"))
      local goes_on = block and (depth > 0 or line:find "^%s+%S"
        or not line:find "%S" or line:find "^#" or begins_statement(line)
        or line:find "^[%)%]}]" or line:find "^[%a_][%w_%.]*[%[%(].*[%]%)]%s*$"
        and code.program(line))
      if opens or goes_on then
        block = block or {}
        block[#block + 1] = line
        depth = math.max(0, depth + code.balance(line))
      else
        close()
      end
    end
  end
  close()
  return list
end

-- ---- completing ----------------------------------------------------------

-- Does a text name what only programs of several ranks have?
local function is_parallel(text)
  return text:find "[Mm]esh" or text:find "distribute_tensor"
    or text:find "fully_shard" or text:find "parallelize_module"
    or text:find "DTensor" or text:find "from_local" or text:find "[Ff]uncol"
    or text:find "set_model_state_dict" or text:find "%f[%w]dist%.%l"
    or text:find "torch%.distributed%.%l" or text:find "DataParallel"
    or text:find "PipelineStage"
end

local function called(tree)
  local names = {}
  for _, n in ipairs(tree) do
    for _, c in ipairs(code.calls(n)) do
      names[c.name] = true
      for _, a in ipairs(c.args) do
        if a.value.kind == "name" then names[a.value.name] = true end
      end
    end
  end
  return names
end

-- Only functions and imports: the last function that nobody calls is the
-- program.  Its parameters are completed by their names.
local function entry(tree)
  local last
  for _, n in ipairs(tree) do
    if n.kind == "def" then
      last = n
    elseif n.kind ~= "import" and n.kind ~= "from" and n.kind ~= "class"
      and n.kind ~= "assign" then
      return nil
    end
  end
  if not last or called(tree)[last.name] then return nil end
  local args = {}
  for _, p in ipairs(last.params) do
    if not p.default and not p.star then
      if not p.name then return nil end
      args[#args + 1] = p.name
    end
  end
  return ("%s(%s)"):format(last.name, table.concat(args, ", ")), args
end

-- A program with what it lacks: {text=, added=, invented=}, or nil where it
-- is no program of several ranks.
local function complete(text, r)
  local tree = code.program(text)
  if not tree then return nil end
  local call, args = entry(tree)
  local missing = code.free_names(tree)
  for _, a in ipairs(args or {}) do missing[#missing + 1] = a end
  local head, invented, ranks, last, said = stand_ins.lines(missing, tree, r)
  -- a tensor whose placements the report says makes it one
  if not said and not is_parallel(text) then return nil end
  local tail = {call or last}
  local whole = {}
  for _, line in ipairs(head) do whole[#whole + 1] = line end
  whole[#whole + 1] = text
  for _, line in ipairs(tail) do whole[#whole + 1] = line end
  return {text = table.concat(whole, "\n"), added = #head + #tail,
    invented = invented, ranks = ranks}
end

-- The programs of a report, the likeliest first: all blocks as one, then the
-- longest by itself.
function M.programs(r)
  local blocks, list, longest = blocks_of(r.text), {}, nil
  for _, b in ipairs(blocks) do
    if not longest or #b > #longest then longest = b end
  end
  if not longest then return {} end
  if #blocks > 1 then
    list[1] = complete(table.concat(blocks, "\n\n"), r)
  end
  list[#list + 1] = complete(longest, r)
  return list
end

return M
