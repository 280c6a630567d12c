-- SPDX-License-Identifier: MIT
-- run_python.lua: runs a drawn program in the Python at hand and in dtrepl.

local M = {program = os.getenv("DTREPL") or "build/dtrepl",
  python = os.getenv("DTREPL_PYTHON") or "python3"}

-- with_file(text, f): f(path) of a file of that text, which is gone after it.
function M.with_file(text, f)
  local path = os.tmpname()
  os.remove(path)
  path = path .. ".py"
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  local out = table.pack(f(path))
  os.remove(path)
  return table.unpack(out, 1, out.n)
end

-- What a command printed for each case: {class, text} by number.
local function outcomes(command, path)
  local out, last = {}, nil
  local p = assert(io.popen(command .. " " .. path .. " 2>/dev/null"))
  for line in p:lines() do
    local n, class, text = line:match("^(%d+) (%S+) ?(.*)$")
    if n then
      last = {class, text}
      out[tonumber(n)] = last
    elseif last then
      last[2] = last[2] .. "\n" .. line
    end
  end
  p:close()
  return out
end

-- both(source): the outcomes of its cases in the Python at hand, and in dtrepl.
function M.both(source)
  return M.with_file(source, function (path)
    return outcomes(M.python .. " -W ignore", path),
      outcomes(M.program .. " -n 1", path)
  end)
end

return M
