-- SPDX-License-Identifier: MIT
-- dt/diagnose/export.lua: `--export FILE`: what --run came to, as a script for
-- PyTorch: the report's own program, a scene's lines in Python where what
-- fails is a wrapper and no operator, or else the record of the scene.  It
-- runs by itself or under torchrun, and raises what the report says.

local compare = require "dt.diagnose.compare"
local util = require "dt.util"

local M = {}

-- The report's program, in as many processes as it was run with.
local OWN <const> = [[
# It makes its %d processes itself; torchrun makes its own.
import os
import socket
if "WORLD_SIZE" not in os.environ:
    with socket.socket() as _free:
        _free.bind(("localhost", 0))
        _port = str(_free.getsockname()[1])
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT=_port,
                      WORLD_SIZE="%d", LOCAL_WORLD_SIZE="%d", RANK="0",
                      LOCAL_RANK="0")
    for _rank in range(1, %d):
        if os.fork() == 0:
            os.environ.update(RANK=str(_rank), LOCAL_RANK=str(_rank))
            break

]]

-- What the program was started with.
local GIVEN <const> = [[
import os
import sys
sys.argv[1:] = [%s]

]]

-- A program of more ranks than a machine has room for: one of them.
local PRETENDED <const> = [[
# It is rank 0 of %d; the others are pretended.
import torch.distributed as _dist
from torch.testing._internal.distributed.fake_pg import FakeStore
_dist.init_process_group("fake", rank=0, world_size=%d, store=FakeStore())

]]
local MANY <const> = 8          -- ranks, more of which are pretended

local TAIL <const> = [[
dist.destroy_process_group()
if "WORLD_SIZE" not in os.environ:
    leave()
]]

-- What names a CUDA device, and what stands for it on a machine without one.
local on_cpu <const> = {
  {"(init_device_mesh%(%s*[^\"'%(%)]-)([\"'])cuda%2", "%1%2cpu%2"},
  {"(DeviceMesh%(%s*)([\"'])cuda%2", "%1%2cpu%2"},
  {"([\"'])nccl%1", "%1gloo%1"}, {"([\"'])cuda:nccl%1", "%1gloo%1"},
  {"(init_process_group%([^\n]-),%s*device_id=[%w_%.]+%([^%(%)]*%)", "%1"},
  {"(init_process_group%([^\n]-),%s*device_id=[%w_%.]+", "%1"},
  {",%s*device_ids=%b[]", ""}, {",%s*output_device=[%w_%.]+%b()", ""},
  {",%s*output_device=[%w_%.]+%b[]", ""}, {",%s*output_device=[%w_%.]+", ""},
  {"(,%s*device_id=)[%w_%.]+%([^%(%)]*%)", '%1torch.device("cpu")'},
  {"(,%s*device_id=)[%l_][%l_%d]*%f[,%)]", '%1torch.device("cpu")'},
  {"torch%.device%(f?[\"']cuda[^%(%)]*%)", 'torch.device("cpu")'},
  {"(device%s*=%s*)f?([\"'])cuda[^\"']*%2", "%1%2cpu%2"},
  {"(device_type%s*=%s*)([\"'])cuda%2", "%1%2cpu%2"},
  {"%.to%(f?([\"'])cuda[^\"']*%1%)", ""}, {"%.cuda%([%w_]*%)", ""},
  {"torch%.cuda%.set_device%b()", "pass"},
  {"torch%.cuda%.current_device%(%)", '"cpu"'},
  {"torch%.cuda%.synchronize%b()", "pass"}}

-- Where ranks part a backend aborts or hangs; in its debug mode it says so.
local PARTED <const> = 'import os\nos.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"'
  .. "  # raises where ranks part\n"
local IN_PYTORCH <const> = "Detected mismatch between collectives on ranks"

local function parts(run)
  return run.raised and compare.ranks_part(run.message or "")
end

local function given(run)
  local list, c = {}, run.command
  if not c then return "" end
  if c.local_rank then list[1] = '"--local_rank=" + os.environ["LOCAL_RANK"]' end
  for _, a in ipairs(c.args) do list[#list + 1] = ("%q"):format(a) end
  return #list > 0 and GIVEN:format(table.concat(list, ", ")) or ""
end

local function own(run)
  local text, where = run.script, ""
  local plain = text
  for _, row in ipairs(on_cpu) do plain = plain:gsub(row[1], row[2]) end
  if plain ~= text then where = ", on CPU tensors" end
  if parts(run) then plain = PARTED .. plain end
  local n = run.ranks
  local what = run.own and (run.added == 0 and "The report's own program"
    or "The report's own code, completed")
    or "A repro of the report, under torch " .. run.torch
  local first, rest = util.first_lines(plain)
  local title = ("# %s%s.\n"):format(what, where) .. first
  if util.makes_its_own(plain) then return title .. given(run) .. rest .. "\n" end
  return title .. (n > MANY and PRETENDED:format(n, n) or OWN:format(n, n, n, n))
    .. given(run) .. rest .. "\n"
end

-- What the script is expected to raise, and under which release.
local function said(run)
  local message = run.raised and run.message and run.message:match "^[^\n]+"
  if not message then return "" end
  if parts(run) then message = IN_PYTORCH end
  return ("# Under torch %s: %s\n"):format(run.torch, message)
end

-- The script inside what the prompt printed.
local function cut(output)
  local from = output:find("import os\nimport sys\n", 1, true)
  if not from then return nil end
  local _, to = output:find('if "WORLD_SIZE" not in os.environ:\n    leave()',
    output:find("\nshow", from, true) or from, true)
  local at = to
  while at do
    to = at
    _, at = output:find('if "WORLD_SIZE" not in os.environ:\n    leave()',
      to + 1, true)
  end
  return to and output:sub(from, to) .. "\n"
end

-- The text of the run as PyTorch's Python; nil and why there is none.
-- `prompt(lines, o)` runs lines at a prompt of the sandbox.
function M.python(run, prompt)
  if not run.reproduced then return nil, "nothing was reproduced" end
  if run.own then return own(run) end
  if run.device == "xla" then
    return nil, "torch_xla's own fault: PyTorch on CPU tensors does not raise it"
  end
  if run.program then return said(run) .. own(run) end
  local s, lines = run.scenario, {}
  if s.mesh then lines[1] = run.mesh_line end
  if s.python then
    local head = cut(prompt({"t = dt.ones(1)", ":export torch"}, run) or "")
    local _, at = (head or ""):find("its own\n", 1, true)
    if not at then return nil, "the head of the script could not be made" end
    return said(run) .. head:sub(1, at) .. "\n\n" .. s.python .. "\n" .. TAIL
  end
  for _, line in ipairs(s.setup or {}) do lines[#lines + 1] = line end
  lines[#lines + 1] = (s.fail:gsub("^return ", ""))
  lines[#lines + 1] = ":export torch"
  local output = prompt(lines, run) or ""
  local text = cut(output)
  if not text then return nil, "the scene has no record to write" end
  if output:find("\n# Then, at ", 1, true) then
    return nil, "what fails is no operator's: no record of operators shows it"
  end
  return said(run) .. text
end

return M
