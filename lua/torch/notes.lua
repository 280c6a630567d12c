-- SPDX-License-Identifier: MIT
-- torch/notes.lua: the keys and values that ranks tell each other without
-- meeting, read from their notes (dt._notes): what torch.distributed's stores
-- are made of.  In a world of one rank they stay here.

local dt = require "dt"
local V = require "python.values"
local attrs = require "python.attrs"

local None, builtin = dt.None, V.builtin
local RECORD <const> = "<s4s4Bs4"    -- scope, key, is there a value, the value

local read = 0                      -- bytes of the notes that are known
local scopes = {}                   -- by scope, by key: texts

local function apply(scope, key, there, value)
  scopes[scope] = scopes[scope] or {}
  scopes[scope][key] = there == 1 and value or nil
end

local function is_alone() return dt.world() == "fake" or dt.world_size() == 1 end

-- Read what others have written.
local function catch_up()
  if is_alone() then return end
  local text, at = dt._notes(read), 1
  while at <= #text do
    local scope, key, there, value
    scope, key, there, value, at = string.unpack(RECORD, text, at)
    apply(scope, key, there, value)
  end
  read = read + #text
end

local function value_of(scope, key)
  return scopes[scope] and scopes[scope][key]
end

local function text_of(v) return v ~= None and v.s or nil end

-- get(scope, key): bytes, or None.
local function get(a)
  catch_up()
  local v = value_of(a[1], a[2])
  return v and V.bytes(v) or None
end

-- put(scope, key, old, new): new (None: nothing) for old; False where the value
-- is another one by now.
local function put(a)
  local scope, key, old, new = a[1], a[2], text_of(a[3]), text_of(a[4])
  local record = string.pack(RECORD, scope, key, new and 1 or 0, new or "")
  repeat
    catch_up()
    if value_of(scope, key) ~= old then return false end
    if is_alone() then
      apply(scope, key, new and 1 or 0, new)
      return true
    end
  until dt._note(read, record)
  catch_up()
  return true
end

-- keys(scope): their names, sorted.
local function keys(a)
  catch_up()
  local list = {}
  for key in pairs(scopes[a[1]] or {}) do list[#list + 1] = key end
  table.sort(list)
  return V.list(list)
end

-- nap(): others go on meanwhile.
local function nap()
  dt._nap()
  return None
end

attrs.provide("_notes", attrs.namespace {get = builtin(get, "get"),
  put = builtin(put, "put"), keys = builtin(keys, "keys"),
  nap = builtin(nap, "nap")})
