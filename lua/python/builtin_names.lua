-- SPDX-License-Identifier: MIT
-- python/builtin_names.lua: the table of what every program may name without
-- import.  builtins.lua fills it; it is separate so that lower layers can
-- ask it while a program runs.

return {}
