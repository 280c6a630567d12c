-- SPDX-License-Identifier: MIT
-- torch/removed.lua: functions that a release took away and that say what to
-- call in their place.  Source: torch/_linalg_utils.py@2.15

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local A = require "python.args"
local attributes = require "torch.attributes"

local M = {}

local GONE <const> = "This function was deprecated since version 1.9 and is now "
  .. "removed. "

local function cholesky()
  util.raise("RuntimeError", "%s", GONE
    .. "`torch.cholesky` is deprecated in favor of `torch.linalg.cholesky`.\n"
    .. "L = torch.cholesky(A) should be replaced with:\n"
    .. "L = torch.linalg.cholesky(A)\n"
    .. "U = torch.cholesky(A, upper=True) should be replaced with:\n"
    .. "U = torch.linalg.cholesky(A).mH")
end

local function qr(a)
  local some = a.some == nil or V.truth(a.some)
  util.raise("RuntimeError", "%s", GONE
    .. "`torch.qr` is deprecated in favor of `torch.linalg.qr` and the boolean "
    .. "parameter `some` has been replaced with a string parameter `mode`.\n\n"
    .. "Q, R = torch.qr(A) should be replaced with:\n"
    .. "Q, R = torch.linalg.qr(A, mode='reduced')\n\nand\n\n"
    .. "Q, R = torch.qr(A, some=False) should be replaced with:\n"
    .. "Q, R = torch.linalg.qr(A, mode='complete')\n\nSince `some` was set to "
    .. V.str(a.some == nil and true or a.some) .. ", use mode='"
    .. (some and "reduced" or "complete") .. "'.")
end

local functions = {cholesky = A.def("cholesky", {"input", "upper?", "*", "out?"},
  cholesky), qr = A.def("qr", {"input", "some?", "*", "out?"}, qr)}

-- torch.cholesky and x.cholesky, as the release that is followed has them.
function M.provide(torch)
  if dt._switch("CHOLESKY_AND_QR_GONE") == 0 then return end
  for name, f in pairs(functions) do
    rawset(torch, name, f)
    attributes.tensor_method[name] = function (t, args, kw)
      return V.call(f, V.list({t, table.unpack(args, 1, args.n)}, args.n + 1), kw)
    end
  end
end

return M
