-- SPDX-License-Identifier: MIT
-- torch/spaces.lua: the name spaces torch, torch.nn.functional (F), … that
-- programs import.  names.lua fills the table; it is separate so that what is
-- below can ask it while a program runs.

return {}
