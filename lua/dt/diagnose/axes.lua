-- SPDX-License-Identifier: MIT
-- dt/diagnose/axes.lua: the names of mesh dimensions that a message refuses and
-- those it lists, put into the fixes of a mesh that has no dimension of a name.
-- Each function is `made` of a fix (advice.lua): the code for this report, false
-- when the message does not say, nil when the fix does not fit it.

local M = {}

-- The quoted names of `text`, in their order.
local function quoted(text)
  local list = {}
  for name in text:gmatch "['\"]([%w_%-]+)['\"]" do list[#list + 1] = name end
  return list
end

-- What is refused and what there is: two lists of names, or nil.
local function lists(r)
  local flat = r.doc.flat
  local asked, there = flat:match
    "Mesh dimension (%b'') does not exist.-Available mesh dimensions are:([^\n]+)"
  if not asked then
    asked, there = flat:match("Invalid mesh_dim_names? (.-) specified.-Valid "
      .. "mesh_dim_names are (%b[])")
  end
  if not asked then return nil end
  asked, there = quoted(asked), quoted(there:match "%b()" or there)
  local known = {}
  for _, name in ipairs(there) do known[name] = true end
  local missing = {}
  for _, name in ipairs(asked) do
    if not known[name] then missing[#missing + 1] = name end
  end
  if #missing > 0 and #there > 0 then return missing, there, known end
end

-- The dimensions of the mesh that `name` is joined from ("dp_cp": dp and cp; "ep":
-- what is named dp_shard_in_ep), or nil.
local function parts_of(name, known)
  for there in pairs(known) do
    if there:sub(-#name - 4) == "_in_" .. name then return {there} end
  end
  local parts, rest = {}, name
  while rest ~= "" do
    local part = rest
    while not known[part] do
      part = part:match "^(.+)_[^_]*$"
      if not part then return nil end
    end
    parts[#parts + 1] = part
    rest = rest:sub(#part + 2)
  end
  return parts
end

local function in_quotes(list)
  return '"' .. table.concat(list, '", "') .. '"'
end

-- The call that joins the dimensions that the name is made from.
function M.joined(r)
  local missing, _, known = lists(r)
  if not missing then return false end
  for _, name in ipairs(missing) do
    local parts = parts_of(name, known)
    if parts then
      return ('mesh[%s]._flatten("%s")'):format(in_quotes(parts), name)
    end
  end
end

-- The mesh with the dimension that nothing can be joined to.
function M.with_dimension(r)
  local missing, there, known = lists(r)
  if not missing or parts_of(missing[1], known) then return nil end
  return ('init_device_mesh("cuda", (1, *mesh.shape), mesh_dim_names=("%s", %s))')
    :format(missing[1], in_quotes(there))
end

-- Slices of the dimensions that there are.
function M.listed(r)
  local missing, there = lists(r)
  if not missing then return false end
  local calls = {}
  for i = 1, math.min(#there, 4) do calls[i] = ('mesh["%s"]'):format(there[i]) end
  local others = table.concat(calls, ", ", 2)
  return calls[1] .. (others ~= "" and "  # or " .. others or "")
end

return M
