-- SPDX-License-Identifier: MIT
-- dt/parallel/xla.lua: distribute_module on an xla mesh.  Without torch_xla
-- (any other device profile) PyTorch raises an ImportError.  With it, the
-- tensors are XLAShardedTensor: marking a parameter in place works
-- (distribute_tensor), putting a sharded tensor into a new Parameter, which
-- all styles of parallelize_module do, fails an assertion of the
-- functionalization layer.

local dt = require "dt"
local util = require "dt.util"

local M = {}

local assertion = "!at::functionalization::impl::isFunctionalTensor(t) "
  .. "INTERNAL ASSERT FAILED"

-- As dt.distribute_module, on a mesh of device xla.
function M.distribute_module(_, _, partition_fn)
  if dt._profile().own_type == "" then
    util.raise("ImportError",
      "To use DTensor API with xla, you must install the torch_xla package!")
  end
  if partition_fn then util.raise("RuntimeError", assertion) end
  util.raise("NotImplementedError",
    "distribute_module without partition_fn on an xla mesh")
end

return M
