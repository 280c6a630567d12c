-- SPDX-License-Identifier: MIT
-- dt/debug/original.lua: a Python program itself as the script for PyTorch:
-- where what failed is no operator's, or a rule of the program's own decided,
-- no record of operators shows it again.

local dt = require "dt"
local dialect = require "dt.debug.dialect"
local util = require "dt.util"

local M = {}

local HEAD <const> = [[
# %s: below is %s itself, as it stands.
]]

local FORK <const> = [[
# %d processes, made here; torchrun makes its own.
import atexit
import os
import socket
import sys
import time
import torch
import torch.distributed.tensor
_children, _failed = [], []


def _raised(kind, value, trace):
    _failed.append(kind)
    sys.__excepthook__(kind, value, trace)


def _leave():
    """Wait for the other processes; not for ever when this one failed."""
    sys.stdout.flush()
    sys.stderr.flush()
    end = time.time() + 20
    for child in _children:
        ended, how = os.waitpid(child, os.WNOHANG if _failed else 0)
        while not ended and time.time() < end:
            time.sleep(0.05)
            ended, how = os.waitpid(child, os.WNOHANG)
        if not ended:
            os.kill(child, 15)
            os.waitpid(child, 0)
        elif how:
            _failed.append(how)
    os._exit(1 if _failed else 0)


if "WORLD_SIZE" not in os.environ:
    with socket.socket() as _free:
        _free.bind(("localhost", 0))
        os.environ.update(MASTER_ADDR="localhost", WORLD_SIZE="%d",
                          LOCAL_WORLD_SIZE="%d", RANK="0", LOCAL_RANK="0",
                          MASTER_PORT=str(_free.getsockname()[1]))
    for _rank in range(1, %d):
        _child = os.fork()
        if _child == 0:
            os.environ.update(RANK=str(_rank), LOCAL_RANK=str(_rank))
            _children = []
            break
        _children.append(_child)
    torch.set_num_threads(1)
    sys.excepthook = _raised
    atexit.register(_leave)
]]

local AGAIN <const> = [[
sys.argv[1:] = [%s]
]]

-- text() -> the text and the name of the Python program that runs, or nil.
function M.text()
  local name = type(arg) == "table" and arg[0]
  if type(name) ~= "string" or not name:match("%.py$") then return nil end
  return dt.debug.source(name), name
end

-- script(ranks[, why]) -> the program for PyTorch, or nil when none runs.
function M.script(ranks, why)
  local text, name = M.text()
  if not text then return nil end
  local own, args = util.makes_its_own(text), {}
  for i, a in ipairs(arg) do
    args[i] = dialect.Py.string(tostring(a))
  end
  local before, rest = util.first_lines(text)
  local parts = {HEAD:format(why or "What failed is no operator's",
    name:match("[^/]*$"))}
  if before ~= "" then parts[#parts + 1] = before end
  if not own and ranks > 1 then
    parts[#parts + 1] = FORK:format(ranks, ranks, ranks, ranks)
  end
  if #args > 0 then
    parts[#parts + 1] = "import sys\n" .. AGAIN:format(table.concat(args, ", "))
  end
  parts[#parts + 1] = rest
  return table.concat(parts, "\n")
end

return M
