-- TEST: ranks=1 world=threads args=--trust
-- SPDX-License-Identifier: MIT
-- Importing fully_shard does not read FSDP1, which is Python's; asking for
-- FSDP1 does.

local T = require "tests.lua.lib.check"
local attrs = require "python.attrs"
require "torch.script"
local FSDP1 <const> = "torch.distributed.fsdp.fully_sharded_data_parallel"

local read = {}
local text_of = dt._library_text
dt._library_text = function (name)
  read[name] = true
  return text_of(name)
end
T.ok(attrs.member("torch.distributed.fsdp", "fully_shard") ~= nil, "fully_shard")
T.ok(attrs.member("torch.distributed.fsdp", "MixedPrecisionPolicy") ~= nil,
  "MixedPrecisionPolicy")
T.ok(not read["py:" .. FSDP1], "FSDP1 is not read")
T.ok(attrs.member("torch.distributed.fsdp", "FullyShardedDataParallel") ~= nil,
  "FSDP1 is there")
T.ok(read["py:" .. FSDP1], "and read then")
dt._library_text = text_of

T.finish()
