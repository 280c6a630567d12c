-- SPDX-License-Identifier: MIT
-- dt/diagnose/prompt.lua: `:import` and `:explain` at the prompt.
--
-- :import reads a pasted report as `dtrepl diagnose` does and leaves what it
-- states in variables: `mesh`, and t1, t2, ... for the arguments.  They are
-- made by calls with parsed values; the text itself is never run.

local dt = require "dt"
local diagnose = require "dt.diagnose"
local explain = require "dt.diagnose.explain"
local render = require "dt.diagnose.render"

local M = {}

local dtypes = {f32 = "float32", f64 = "float64", f16 = "float16",
  bf16 = "bfloat16", i64 = "int64", i32 = "int32", i16 = "int16", i8 = "int8",
  u8 = "uint8", bool = "bool", b8 = "bool", c64 = "complex64",
  c128 = "complex128"}

local MAX_ELEMENTS = 1 << 22    -- larger tensors are made without data

local function size_of(shape)
  local n = 1.0
  for _, s in ipairs(shape) do n = n * math.max(s, 0) end
  return n < 1 << 53 and math.tointeger(n) or 1 << 53
end

-- The report's mesh on the ranks there are, or nil and why not.
local function make_mesh(r, ndim)
  local m = r.meshes[1]
  local shape, names = m and m.shape, m and m.names
  local note
  if not shape or #shape == 0 or (ndim and #shape ~= ndim) then
    if not ndim then return nil end
    shape, names = {}, nil
    for i = 1, ndim do shape[i] = 1 end
    shape[1] = dt.world_size()
    note = "the report names no mesh"
  end
  if size_of(shape) > dt.world_size() or size_of(shape) < 1 then
    local fit = {}
    for i = 1, #shape do fit[i] = 1 end
    fit[1] = dt.world_size()
    note = ("the report's mesh needs %d ranks"):format(size_of(shape))
    shape = fit
  end
  local ok, mesh = pcall(dt.init_device_mesh, "cpu", shape,
    names and {mesh_dim_names = names} or {})
  if not ok then return nil, tostring(mesh) end
  return mesh, note
end

local function make_tensor(a, mesh)
  if not a.shape or #a.shape > 16 then return nil end
  for _, s in ipairs(a.shape) do
    if s < 0 or s > 1 << 40 then return nil end
  end
  local options = {dtype = dt[dtypes[a.dtype or "f32"] or "float32"]}
  if size_of(a.shape) > MAX_ELEMENTS then options.device = "meta" end
  local ok, t = pcall(dt.zeros, a.shape, options)
  if not ok then return nil end
  if a.kind ~= "dtensor" then return t end
  ok, t = pcall(dt.distribute_tensor, t, mesh, table.concat(a.placements, " "))
  return ok and t or nil
end

local function ndim_of(args)
  for _, a in ipairs(args) do
    local s = a.kind == "list" and a.items[1] or a
    if s and s.placements then return #s.placements end
  end
end

local function make_all(r, out)
  local put = function (fmt, ...) out[#out + 1] = fmt:format(...) end
  local mesh, note = make_mesh(r, ndim_of(r.args))
  if mesh then
    _G.mesh = mesh
    put("mesh = %s%s", tostring(mesh), note and "   (" .. note .. ")" or "")
  elseif note then
    put("no mesh: %s", note)
  end
  local n = 0
  local function tensor(a)
    if a.kind ~= "tensor" and not (a.kind == "dtensor" and mesh) then return end
    local t = make_tensor(a, mesh)
    if not t then return end
    n = n + 1
    _G["t" .. n] = t
    put("t%d = %s", n, t._header and t:_header()
      or render.arg_text(a))
  end
  for _, a in ipairs(r.args) do
    if a.kind == "list" then
      for _, x in ipairs(a.items) do tensor(x) end
    else
      tensor(a)
    end
  end
end

-- :import TEXT
function M.import(text)
  local r = diagnose.read(text)
  local out = {(render.text(r, nil, true):gsub("\n$", ""))}
  make_all(r, out)
  return table.concat(out, "\n")
end

-- :fix after an error that is no operator's, "ID MESSAGE": what is known to help,
-- or nil.
function M.fixes(text)
  local list = explain.fixes(text:match("^(%S*) ?(.*)$"))
  return list and "what helps, untried (:explain has the page):\n" .. list
end

-- :explain WORD: its page, or nil.
function M.explain(word)
  return (explain.page(word))
end

return M
