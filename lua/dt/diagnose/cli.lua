-- SPDX-License-Identifier: MIT
-- dt/diagnose/cli.lua: `dtrepl diagnose [--json] [--run] [FILE... | -]`.
--
-- Exit status: 0 every report was classed, 1 one was not, 2 wrong usage or a
-- file that cannot be read.  A large file is read in blocks and sifted.

-- This state has no ranks and no engine.  The reader of Python needs of it only
-- how an error is made.
if not package.loaded.dt then
  package.preload.dt = package.preload.dt or function ()
    return {None = {}, error = function (_, text) return text end}
  end
end

local clean = require "dt.diagnose.clean"
local diagnose = require "dt.diagnose"
local releases = require "dt.diagnose.release"
local render = require "dt.diagnose.render"
local repro = require "dt.diagnose.repro"

local usage = [[
usage: dtrepl diagnose [--json] [--run] [--table] [--classes FILE] [FILE... | -]
Read a bug report, a log or a traceback: which class of fault it is, why, and
what helps.  Without FILE, or with -, standard input is read; of a folder all
its files are.  A table of many ends with the reports that have one cause.

  --json          one JSON object for each file
  --run           complete the report's code, or write a minimal repro, run it
                  in the sandbox, try the fixes
  --export FILE   --run, and what it came to as a script for PyTorch
  --table         one line for each file (the default for more than one)
  --full          a page for each file
  --classes FILE  classes of your own, a Lua file that returns a list of them;
                  $XDG_CONFIG_HOME/dtrepl/classes.lua is read unasked
  --list          the classes
]]

local BLOCK = 1 << 20

-- Text of an open file; large ones are sifted.
local function read_all(f)
  local first, err = f:read(clean.LARGE)
  if err then error(err, 0) end
  if not first then return "" end
  local more = f:read(BLOCK)
  if not more then return first end
  local queue = {first, more}
  return clean.sift(function ()
    return table.remove(queue, 1) or f:read(BLOCK)
  end)
end

local function read_file(name)
  if name == "-" then return read_all(io.stdin) end
  local f, err = io.open(name, "rb")
  if not f then return nil, err end
  local ok, text = pcall(read_all, f)
  f:close()
  if not ok then return nil, name .. ": " .. tostring(text) end
  if not text then return nil, name .. ": cannot be read" end
  return text
end

-- The files of a folder, in the order of their names; nil when `name` is none.
-- A file is not opened: a pipe can be read once.
local function folder(name)
  local f = name ~= "-" and io.open(name .. "/.", "rb")
  if not f then return nil end
  f:close()
  local list = {}
  local p = io.popen(("ls -1p -- '%s' 2>/dev/null"):format(
    name:gsub("'", "'\\''")))
  for line in p and p:lines() or function () end do
    if not line:find "/$" then
      list[#list + 1] = name:gsub("/+$", "") .. "/" .. line
    end
  end
  if p then p:close() end
  return list
end

-- Each folder among the names becomes its files.
local function expand(names)
  local out, any = {}, false
  for _, name in ipairs(names) do
    local list = folder(name)
    if list then
      any = true
      table.move(list, 1, #list, #out + 1, out)
    else
      out[#out + 1] = name
    end
  end
  return out, any
end

local function complain(text)
  io.stderr:write("dtrepl diagnose: ", text, "\n")
  return 2
end

local flags = {["--json"] = "json", ["--run"] = "run", ["--table"] = "table",
  ["--full"] = "full", ["--list"] = "list", ["--help"] = "help", ["-h"] = "help"}

local function parse(args)
  local o = {files = {}, classes = {}}
  local i, only_files = 1, false
  while i <= #args do
    local a = args[i]
    if only_files or a == "-" or a:sub(1, 1) ~= "-" then
      o.files[#o.files + 1] = a
    elseif a == "--" then
      only_files = true
    elseif a == "--export" then
      i = i + 1
      if not args[i] then return nil, "--export wants a file" end
      o.export, o.run = args[i], true
    elseif a == "--classes" then
      i = i + 1
      if not args[i] then return nil, "--classes wants a file" end
      o.classes[#o.classes + 1] = args[i]
    elseif flags[a] then
      o[flags[a]] = true
    else
      return nil, "unknown option " .. a
    end
    i = i + 1
  end
  return o
end

-- The user's own classes: their own file, run as their start-up file is.
local function load_classes(path, must)
  local f = io.open(path, "rb")
  if not f then return not must, path .. " cannot be read" end
  f:close()
  local chunk, err = loadfile(path, "t")
  if not chunk then return false, err end
  local ok, list = pcall(chunk)
  if not ok then return false, list end
  ok, err = pcall(diagnose.extend, list)
  return ok, err
end

local function config_file()
  local base = os.getenv "XDG_CONFIG_HOME"
  if not base or base == "" then
    local home = os.getenv "HOME"
    if not home or home == "" then return nil end
    base = home .. "/.config"
  end
  return base .. "/dtrepl/classes.lua"
end

local function list_classes()
  for _, c in ipairs(diagnose.classes()) do
    io.write(("%-42s %s\n"):format(c.id, c.name))
  end
  return 0
end

-- Progress on standard error, when that is a terminal and it takes long.
local function progress(tool, total)
  local start, shown = tool.clock(), false
  if total < 2 or not tool.isatty(2) then return function () end end
  return function (done)
    if done == total then
      if shown then io.stderr:write "\r\27[K" end
    elseif tool.clock() - start > 1 then
      shown = true
      io.stderr:write(("\r\27[K%d of %d reports"):format(done, total))
    end
  end
end

-- The run as a script in `path`; what is to be said of it.
local function write_export(tool, run, path)
  local text, why = repro.export(tool, run)
  if not text then return "no script: " .. why end
  local f, err = io.open(path, "wb")
  if not f then return "no script: " .. err end
  f:write(text)
  f:close()
  return path
end

local function run_files(tool, o)
  local code, counts, entries = 0, {}, {}
  local many = #o.files > 1
  local as_table = o.table or many and not o.json and not o.full
  local show = progress(tool, #o.files)
  for i, name in ipairs(o.files) do
    local text, err = read_file(name)
    if not text then
      code = complain(err)
    else
      local r = diagnose.read(text)
      if o.run then r.run = repro.run(tool, r) end
      if o.export then r.run.export = write_export(tool, r.run, o.export) end
      local id = r.class and r.class.id or "-"
      counts[id] = (counts[id] or 0) + 1
      entries[#entries + 1] = {class = r.class and r.class.id, op = r.op,
        torch = r.torch and r.torch.how == "stated" and r.torch.release or nil,
        cause = r.cause, file = name,
        seen = as_table and releases.seen(r.doc) or nil}
      if not r.class and code == 0 then code = 1 end
      if o.json then
        io.write(render.json(r, name))
      elseif as_table then
        io.write(render.row(r, name))
      else
        io.write(many and i > 1 and "\n" or "", render.text(r, name))
      end
    end
    show(i)
  end
  if as_table and many then io.write(render.summary(counts, #o.files, entries)) end
  return code
end

return function (tool, args)
  local o, err = parse(args)
  if not o then
    complain(err)
    io.stderr:write(usage)
    return 2
  end
  if o.help then
    io.write(usage)
    return 0
  end
  local config = config_file()
  if config then
    local ok, why = load_classes(config, false)
    if not ok then return complain(tostring(why)) end
  end
  for _, path in ipairs(o.classes) do
    local ok, why = load_classes(path, true)
    if not ok then return complain(tostring(why)) end
  end
  if o.list then return list_classes() end
  if #o.files == 0 then o.files[1] = "-" end
  if o.export and #o.files > 1 then
    return complain "--export takes one report"
  end
  local any
  o.files, any = expand(o.files)
  if any and #o.files == 0 then return complain "the folder holds no file" end
  return run_files(tool, o)
end
