-- SPDX-License-Identifier: MIT
-- torch/stdlib.lua: the modules of Python's own that programs over torch
-- name: copy, pickle (io: serialize.lua).  A pickle of plain data is bytes as
-- CPython writes them; one that holds a tensor is the object itself in a box, which
-- is written down as bytes where it goes into a file on the disk.

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

-- What pickles as bytes does (pylib/_pickle_files.py), for files.
local function of_files(name, ...)
  local f = attrs.get(attrs.module "_pickle_files", name)
  return V.call(f, V.list({...}, select("#", ...)))
end

-- dumps(v[, protocol]): bytes of protocol 4, or the box of what is not written so.
local function dumped(v, protocol)
  if protocol ~= nil and protocol ~= None and protocol ~= 4 then return pickled(v) end
  local ok, b = pcall(of_files, "dumps", v)
  return ok and b or pickled(v)         -- which says what cannot be pickled
end

-- Bytes that are no pickle are refused as CPython does.
local function not_ours(text)
  local first = text:sub(1, 1)
  if first == "" then
    error(exceptions.classes.EOFError.make(V.list {"Ran out of input"}), 0)
  elseif not first:find(BEGINS) then
    util.raise("UnpicklingError", "invalid load key, '%s'.",
      first:find "%g" and first or ("\\x%02x"):format(first:byte()))
  end
  return of_files("loads", V.bytes(text))
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

local function stream_of(f, needs)
  local s = streams.of(f)
  if s and not s.path then return s end
  for name in needs:gmatch "%a+" do
    if not s and not V.special(f, name) then
      util.raise("TypeError", needs == "write" and "file must have a 'write' "
        .. "attribute" or "file must have 'read' and 'readline' attributes")
    end
  end
  return nil
end

local function dump(a)
  local s = stream_of(a[2], "write")
  if not s then return of_files("dump", a[1], a[2]) end
  kept[s] = kept[s] or {}
  table.insert(kept[s], pickled(a[1]))
  streams.write(s, MARK:format(#kept[s]))
  return None
end

local function load(a)
  local s = stream_of(a[1], "read readline")
  if not s then return of_files("load", a[1]) end
  local size = #MARK:format(0)
  local mark = s.text:sub(s.at + 1, s.at + size)
  if mark == "" then
    error(exceptions.classes.EOFError.make(V.list {"Ran out of input"}), 0)
  end
  local box = (kept[s] or {})[tonumber(mark:match("^\128\4dtrepl (%d+)%.$"))]
  if not box and mark:find("^" .. BEGINS) then return of_files("load", a[1]) end
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
  dumps = builtin(function (a, kw)
    return dumped(a[1], a[2] or kw and V.dict_get(kw, "protocol"))
  end, "dumps"),
  loads = builtin(function (a) return unpickled(a[1]) end, "loads"),
})

M.save, M.load = serialize.define(pickled, unpickled)

M.tensors = tensors
return M
