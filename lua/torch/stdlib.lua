-- SPDX-License-Identifier: MIT
-- torch/stdlib.lua: the modules of Python's own that programs over torch
-- name: copy, pickle (io: serialize.lua).  A pickle is the object itself in a box: it
-- is never written down.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local attributes = require "torch.attributes"
local tensors = require "torch.tensor"
local serialize = require "torch.serialize"

local M = {}
local exceptions = require "python.exceptions"
local namespace, builtin, None = attrs.namespace, V.builtin, dt.None

-- ---- pickle, torch.save ----

local box_mt = {__name = "bytes"}

local copies = require "python.std.copy"
local streams = require "python.std.streams"

local function pickled(v)
  return setmetatable({copies.pickled(v)}, box_mt)
end

-- The bytes that begin an instruction of a pickle (pickletools of CPython 3.11).
local BEGINS <const> = "[%(%.012FIJKLMNPQRSTUVXabcdeghijlopqrstu}%]{)BC\x80-\x98]"

-- Bytes are no pickle of pickle.dumps, whose result stays an object here: what
-- CPython says of them where that is certain, and no guess where it is not.
local function not_ours(text)
  local first = text:sub(1, 1)
  if first == "" then
    error(exceptions.classes.EOFError.make(V.list {"Ran out of input"}), 0)
  elseif not first:find(BEGINS) then
    util.raise("UnpicklingError", "invalid load key, '%s'.",
      first:find "%g" and first or ("\\x%02x"):format(first:byte()))
  end
  util.refuse("pickle.loads of bytes that pickle.dumps of this program did not "
    .. "give is not part of dtrepl; torch.load reads files")
end

local function unpickled(box)
  if V.is_bytes(box) then return not_ours(box.s) end
  if getmetatable(box) ~= box_mt then
    util.raise("TypeError", "a bytes-like object is required, not '%s'",
      V.type_name(box))
  end
  return copies.unpickled(box[1])
end

-- In a BytesIO each pickle is kept as a copy of its object beside the stream,
-- and stands in its bytes as a mark of one length.
local MARK <const> = "\128\4dtrepl %08d."
local kept = setmetatable({}, {__mode = "k"})     -- by stream: lists

local function stream_of(f, does)
  local s = streams.of(f)
  if s and not s.path then return s end
  util.raise(s and "NotImplementedError" or "TypeError", s and "pickle.%s of a "
    .. "file on the disk is not part of dtrepl; torch.save and torch.load have "
    .. "files" or "pickle.%s: the file must have 'read', 'readline' and 'write' "
    .. "attributes", does)
end

local function dump(a)
  local s = stream_of(a[2], "dump")
  kept[s] = kept[s] or {}
  table.insert(kept[s], pickled(a[1]))
  streams.write(s, MARK:format(#kept[s]))
  return None
end

local function load(a)
  local s = stream_of(a[1], "load")
  local size = #MARK:format(0)
  local mark = s.text:sub(s.at + 1, s.at + size)
  if mark == "" then
    error(exceptions.classes.EOFError.make(V.list {"Ran out of input"}), 0)
  end
  local box = (kept[s] or {})[tonumber(mark:match("^\128\4dtrepl (%d+)%.$"))]
  if not box then
    util.raise("UnpicklingError", "invalid load key, %s.", V.repr(mark:sub(1, 1)))
  end
  s.at = s.at + size
  return unpickled(box)
end

attrs.provide("pickle", namespace {
  HIGHEST_PROTOCOL = 5, DEFAULT_PROTOCOL = 4,
  dump = builtin(dump, "dump"), load = builtin(load, "load"),
  PickleError = exceptions.classes.PickleError,
  PicklingError = exceptions.classes.PicklingError,
  UnpicklingError = exceptions.classes.UnpicklingError,
  dumps = builtin(function (a) return pickled(a[1]) end, "dumps"),
  loads = builtin(function (a) return unpickled(a[1]) end, "loads"),
})

M.save, M.load = serialize.define(pickled, unpickled)

M.tensors = tensors
return M
