-- SPDX-License-Identifier: MIT
-- dt/debug/init.lua: where the parts of dt.debug that are written in Lua live;
-- each is loaded when it is first named.  Every answer is a table of data that
-- prints as a page (see dt/debug/page.lua).

local M = {}

local where = {
  blame = "trace", who = "who", when = "when", mem = "mem", grads = "grads",
  ledger = "ledger", expect = "ledger", verify = "verify", check = "verify",
  same = "verify", program = "emit",
  report = "report", export = "export", whatif = "whatif", sweep = "sweep",
  why = "answers", plan = "answers", show = "answers", rules = "rules",
  status = "answers", why_of = "answers",
  shrink = "shrink", doctor = "doctor", replay = "replay",
  types = "types", numbers = "numbers", fill = "numbers", drawn = "numbers",
}

-- Names of what is here, for completion.
function M.names()
  local list = {}
  for name in pairs(where) do list[#list + 1] = name end
  return list
end

-- The function dt.debug[name], or nil.
function M.find(name)
  local module = where[name]
  if not module then return nil end
  return require("dt.debug." .. module)[name]
end

return M
