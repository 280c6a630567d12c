-- SPDX-License-Identifier: MIT
-- python/foreign.lua: values that are none of Python's own.  What builds on
-- this reader (torch) registers their kinds; the language asks here and knows
-- none of them by name.
--
-- A kind is a table: is(v) recognises its values; all else may be absent.
--   get(v, name) -> value, found     the attribute
--   absent(v, name) -> value         for a name that nothing has: nil raises
--   shown(v, name, x) -> x           what was found, as the program sees it
--   set(v, name, x, class) -> done   v.name = x; class: of the program, or nil
--   keep(v, name, x)                 v.__dict__[name] = x, where set does more
--   delete(v, name)                  del v.name
--   enter(v), leave(v)               with v:
--   getitem(v, i)                    v[i]
--   itemless(v)                      is there no v[i] and no len(v)?
--   index(v)                         v as an integer that counts items
--   callable(v), isinstance(v, class)
--   names(v)                         its attributes: the keys of a table
--   copy(v), deepcopy(v, table)      copy.copy and copy.deepcopy; `table` copies
--                                    a table with all that is below it

local M = {}

local kinds = {}                        -- in the order they were registered
local roots = setmetatable({}, {__mode = "k"})

-- register(kind): the first kind whose is(v) holds answers for v.
function M.register(kind)
  kinds[#kinds + 1] = kind
  return kind
end

-- of(v): the kind of a value, or nil where it is Python's own.
function M.of(v)
  for i = 1, #kinds do
    if kinds[i].is(v) then return kinds[i] end
  end
end

-- itemless(v): is v of such a kind, and has no items?
function M.itemless(v)
  local kind = M.of(v)
  return kind ~= nil and kind.itemless ~= nil and kind.itemless(v)
end

-- A class of Lua's whose functions are no methods of the class itself.
function M.register_class(class) roots[class] = true end
function M.is_class(v) return roots[v] or rawget(v, "__base") ~= nil end

-- set_classes(of, make, root): the class of a value that no program defined;
-- an instance of a class of the program that is below one of Lua's; and the
-- class at the root of those.
function M.set_classes(of, make, root)
  M.class_of, M.bare, M.root = of, make, root
end

-- Functions of Lua's: does f call an operator, whose several results are a
-- tuple; and the class of the tuple, where its items have names.
function M.is_operator() return false end
function M.result_class() return false end
function M.set_results(is_operator, class_of)
  M.is_operator, M.result_class = is_operator, class_of
end

return M
