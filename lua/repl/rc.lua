-- SPDX-License-Identifier: MIT
-- rc.lua: the default start-up file of the prompt, run on every rank before
-- the person's own init.lua.  It sets nothing a script could depend on, only
-- what is pleasant to have while typing.

local dt = require "dt"

-- pp(x, ...): print values as the prompt shows them.
function pp(...)                -- luacheck: ignore pp
  for i = 1, select("#", ...) do
    print(dt.inspect and dt.inspect((select(i, ...))) or
      tostring((select(i, ...))))
  end
end
