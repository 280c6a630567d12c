-- SPDX-License-Identifier: MIT
-- python/std/files.lua: os and os.path on files and folders, as far as a program
-- may see them: below the working folder and in the folders of tempfile.  What
-- lies elsewhere is not there.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local streams = require "python.std.streams"

local path_text = streams.path_text

local M = {}
local None = dt.None

-- f(path), or nil where the engine does not let this program look.
local function seen(f, path)
  streams.settle()
  local ok, v = pcall(f, path)
  if ok then return v end
  if type(v) == "table" and v.class == "PermissionError" then return nil end
  error(v, 0)
end

local function file(path)
  local f = io.open(path, "rb")
  if not f then return nil end
  local _, why = f:read(0)
  local bytes = why == nil and f:seek("end") or nil
  f:close()
  return bytes
end

-- size(path): the bytes of a file, or nil.
local function size(path) return seen(file, path) end

local function is_dir(path) return seen(dt._list_dir, path) ~= nil end

function M.isfile(a) return size(path_text(a[1])) ~= nil end
function M.isdir(a) return is_dir(path_text(a[1])) end
function M.exists(a) return M.isfile(a) or M.isdir(a) end

local function missing(path)
  streams.failed(2, "No such file or directory", path)
end

function M.getsize(a)
  return size(path_text(a[1])) or missing(path_text(a[1]))
end

-- set_listing(f): f(path) gives the names in a folder that shows others than
-- it has (checkpoints show the files that PyTorch's would have), or nil.
local listing
function M.set_listing(f) listing = f end

function M.listdir(a)
  local path = path_text(a[1] or ".")
  local shown = listing and listing(path)
  if shown then return shown end
  local names = seen(dt._list_dir, path) or missing(path)
  table.sort(names)
  return V.list(names)
end

function M.remove(a)
  local path = path_text(a[1])
  if is_dir(path) then streams.failed(21, "Is a directory", path) end
  streams.settle()
  local ok, why, code = os.remove(path)
  if not ok then
    streams.failed(code or 5, tostring(why):gsub("^.*: ", ""), path)
  end
  return None
end

local made_here = {}            -- folders that this run made

-- note_made(path): this run made a folder, which it may remove again.
function M.note_made(path) made_here[path:gsub("/+$", "")] = true end

-- Did this run make the folder or one that it lies in?
local function is_ours(path)
  path = path:gsub("/+$", "")
  while path and path ~= "" do
    if made_here[path] then return true end
    path = path:match("^(.*)/[^/]*$")
  end
  return false
end

-- Folders outside of what a program may write to are as made: nothing can be
-- saved there that would miss them.
function M.makedirs(a, kw)
  local path = path_text(a[1])
  local told = kw and V.dict_get(kw, "exist_ok")
  if told ~= true and a[3] ~= true and is_dir(path) then
    streams.failed(17, "File exists", path)
  end
  local at = 1
  repeat
    local stop = path:find("/", at, true)
    local part = path:sub(1, stop and stop - 1 or #path)
    if part ~= "" and not is_dir(part) then
      seen(dt._make_dir, part)
      M.note_made(part)
    end
    at = stop and stop + 1
  until not at
  return None
end

function M.mkdir(a)
  local path = path_text(a[1])
  if M.exists(a) then streams.failed(17, "File exists", path) end
  local parent = path:match("^(.*)/[^/]+/*$")
  if parent and parent ~= "" and not is_dir(parent) then missing(path) end
  seen(dt._make_dir, path)
  M.note_made(path)
  return None
end

-- remove_tree(path): a folder that this program made for passing files, with
-- all that is in it.
function M.remove_tree(path)
  for _, name in ipairs(seen(dt._list_dir, path) or {}) do
    local inner = path .. "/" .. name
    if is_dir(inner) then M.remove_tree(inner) else os.remove(inner) end
  end
  os.remove(path)
end

-- shutil.rmtree(path, ignore_errors=False): folders that this run made; to
-- remove any other one is refused.
function M.rmtree(a, kw)
  local path = path_text(a[1])
  local quiet = a[2]
  if quiet == nil then quiet = kw and V.dict_get(kw, "ignore_errors") end
  if is_ours(path) and is_dir(path) then
    M.remove_tree(path)
  elseif quiet ~= true and not is_dir(path) then
    missing(path)
  elseif quiet ~= true then
    util.refuse("shutil.rmtree of %s, a folder that this "
      .. "run did not make, is not part of dtrepl", path)
  end
  return None
end

-- os.rmdir(path): a folder with nothing in it that this run made.
function M.rmdir(a)
  local path = path_text(a[1])
  if not is_dir(path) then
    if M.exists(a) then streams.failed(20, "Not a directory", path) end
    missing(path)
  elseif #(seen(dt._list_dir, path) or {}) > 0 then
    streams.failed(39, "Directory not empty", path)
  elseif not is_ours(path) then
    util.refuse("os.rmdir of %s, a folder that this run did not make, is not part "
      .. "of dtrepl", path)
  end
  M.remove_tree(path)
  return None
end

-- refused(name): a function that says that it is not there.
function M.refused(name)
  return function ()
    return util.refuse("%s is not part of dtrepl: "
      .. "nothing outside the program is touched", name)
  end
end

return M
