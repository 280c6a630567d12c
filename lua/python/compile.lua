-- SPDX-License-Identifier: MIT
-- python/compile.lua: the compilers of expressions, by the kind of node: each
-- makes a closure f(env) -> value.  They stand in expr.lua and call_expr.lua.

local M = {by_kind = {}}

function M.compile(n) return M.by_kind[n.kind](n) end

return M
