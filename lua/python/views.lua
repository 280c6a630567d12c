-- SPDX-License-Identifier: MIT
-- python/views.lua: what d.keys(), d.values() and d.items() give: the dict
-- itself, seen as its keys, values or pairs.

return function (V)
  local KINDS = {
    keys = function (k) return k end,
    values = function (_, v) return v end,
    items = function (k, v) return V.tuple({k, v}, 2) end,
  }
  local metatables = {}
  for kind in pairs(KINDS) do
    metatables[kind] = {__name = "dict_" .. kind, view = kind}
    metatables["odict_" .. kind] = {__name = "odict_" .. kind, view = kind}
  end

  -- view(d, "keys"): d.keys().
  function V.view(d, kind)
    return setmetatable({dict = d},
      metatables[d.ordered and "odict_" .. kind or kind])
  end

  function V.is_view(v)
    local mt = type(v) == "table" and getmetatable(v)
    return mt and mt.view and metatables[mt.view] and true or false
  end

  -- Views of keys and pairs are sets.
  function V.is_set_view(v)
    return V.is_view(v) and getmetatable(v).view ~= "values"
  end

  function V.view_iter(v)
    local next, what = V.walk(v.dict), KINDS[getmetatable(v).view]
    return function ()
      local more, k, x = next()
      if not more then return false end
      return true, what(k, x)
    end
  end

  function V.view_contains(v, x)
    local kind = getmetatable(v).view
    if kind == "keys" then return V.dict_get(v.dict, x) ~= nil end
    if kind == "items" then
      if not V.is_tuple(x) or x.n ~= 2 then return false end
      local there = V.dict_get(v.dict, x[1])
      return there ~= nil and V.alike(there, x[2])
    end
    for _, there in V.each(v.dict) do
      if V.alike(there, x) then return true end
    end
    return false
  end

  -- Has one view all that the other has?
  function V.same_views(a, b)
    if a.dict.n ~= b.dict.n then return false end
    local next = V.view_iter(a)
    while true do
      local more, x = next()
      if not more then return true end
      if not V.view_contains(b, x) then return false end
    end
  end

  -- A view as the set of its items; anything else as it is.
  function V.as_set(v)
    return V.is_set_view(v) and V.set((V.items(v))) or v
  end
end
