-- SPDX-License-Identifier: MIT
-- dt/diagnose/launch.lua: the command line of a report: what its script was
-- given.  `torchrun --nproc-per-node 2 repro.py cummax` gives sys.argv[1], and
-- torch.distributed.launch adds --local_rank, which programs of before 2.0 parse.

local M = {}

local MAX_TEXT <const>, MAX_ARGS <const>, MAX_LETTERS <const> = 1 << 17, 16, 200

-- What starts a script; the second says whether it adds --local_rank.
local starters <const> = {
  {"torch%.distributed%.launch%s", true}, {"torch%.distributed%.run%s"},
  {"%f[%w]torchrun%s"}, {"%f[%w]accelerate launch%s"}, {"%f[%w]python[%d%.]*%s"}}

-- Words that may stand before a command in one line; any other word makes it a
-- sentence: "running python repro.py fails with a hang".
local before_commands <const> = {srun = true, sudo = true, nohup = true, exec = true,
  time = true, env = true, ["uv run"] = true, ["poetry run"] = true}

local NEAR <const> = 200         -- letters before it that are looked at

local function begins_command(before)
  local n
  before = before:sub(-NEAR):gsub("[%w_%-%./~]*/$", ""):gsub("python[%d%.]* %-m $", "")
    :gsub("[%w_%-%./~]*/$", "")
  repeat
    before, n = before:gsub("%f[%w_][%u_][%u%d_]*=%S*%s+$", "")
  until n == 0
  local word = before:match "(%a+)%s+$"
  return not word or before_commands[word]
    or before_commands[before:match "(%a+ %a+)%s+$"] or false
end

-- The next word and where the text goes on; one in quotes may hold spaces.
local function next_word(text, at)
  local _, to, _, quoted = text:find("^%s*(['\"])([%w_%-%./=:,%+ ]*)%1%f[%s%z]", at)
  if quoted then return quoted, to + 1 end
  local word
  _, to, word = text:find("^%s*(%S+)", at)
  return word, to and to + 1
end

-- Words with which a sentence goes on behind a script's name: "python repro.py
-- hangs on 2 GPUs" gives no arguments.
local sentence <const> = {}
for w in ([[hangs hang fails fail gives raises raise crashes crash works prints runs
  stops dies ends exits shows says returns produces leads is are was does did has
  with without on in at and or then but under where which that it we the to
  for after before while when always never also still only]]):gmatch "%S+" do
  sentence[w] = true
end

-- The words behind a script's name, as far as they are its arguments.  A pipe ends
-- them; so does a word that only a shell knows (a variable), together with the
-- option whose value it is.
local function words_of(rest)
  local list = {}
  if sentence[rest:match "^%s+([%a']+)%f[%s,%.:;]" or ""] then return list end
  local text = rest:match "^[^`]*"
  local word, at = next_word(text, 1)
  while word and #list < MAX_ARGS and #word <= MAX_LETTERS
    and not word:find "[|;&<>#]" do
    if not word:find "^[%w_%-%./=:,%+ ]+$" then
      if #list > 0 and list[#list]:find "^%-[^=]*$" then list[#list] = nil end
      break
    end
    list[#list + 1] = word
    word, at = next_word(text, at)
  end
  return list
end

-- {args=, local_rank=} of one line, or nil where it starts no script.
local function command(line)
  for _, s in ipairs(starters) do
    local from, to = line:find(s[1])
    local script, rest
    if from and begins_command(line:sub(1, from - 1)) then
      script, rest = line:sub(to + 1):match "^(.-[%w_/%-])%.py%f[%s%z`\"'](.*)"
    end
    if script and not script:sub(-6):find "%f[%w_]setup$" then
      return {args = words_of(rest), local_rank = s[2] or false}
    end
  end
end

-- What the report's script was started with: of its commands the first that
-- gives arguments, else the first.  {args=, local_rank=}.
function M.read(text)
  local first
  text = text:sub(1, MAX_TEXT):gsub("\\%s*\n", " ")
  for line in text:gmatch "[^\n]+" do
    local c = line:find("py", 1, true) and command(line)
    if c and #c.args > 0 then return c end
    first = first or c or nil
  end
  return first or {args = {}, local_rank = false}
end

return M
