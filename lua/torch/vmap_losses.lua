-- SPDX-License-Identifier: MIT
-- torch/vmap_losses.lua: the rules of losses under torch.vmap, made of
-- those of other operators (vmap.lua).

local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"

local M = {}

-- define(RULE, how): the rules of mse_loss, nll_loss and cross_entropy, by those
-- that RULE has and vmap.lua's tensors with a hidden dim.
function M.define(RULE, how)
  local on, whole, wrap, ndim = how.on, how.whole, how.wrap, how.ndim
  local is_batched, argument = how.is_batched, how.argument

  -- The mean or the sum over what the function sees, or nothing.
  local function reduced(t, way)
    local n = t.ndim - 1
    if way == "none" or n == 0 then return t end
    local dims = {}
    for d = 1, n do dims[d] = d end
    return on(t, way, V.list(dims))
  end

  function RULE.mse_loss(args, kw)
    local way = argument(args, kw, 5, "reduction", "mean")
    local d = wrap(RULE.sub(V.list {args[1], args[2]}))
    return reduced(RULE.mul(V.list {d, d}), way)
  end

  -- Only indices of classes, of one weight, none of them left out.
  local function plain_classes(name, kw, known)
    for key in V.each(kw or V.dict()) do
      if key ~= "reduction" then
        util.refuse("vmap of %s with %s is not part of "
          .. "dtrepl", name, key)
      end
    end
    if not known then
      util.refuse("vmap of %s over its target alone is not "
        .. "part of dtrepl", name)
    end
  end

  function RULE.nll_loss(args, kw)
    local x, target = args[1], args[2]
    plain_classes("nll_loss", kw, is_batched(x))
    local dim = ndim(x) == 1 and 1 or 2
    local t = whole(target)
    if not is_batched(target) then
      local sizes = V.items(attrs.get(target, "shape"))
      t = on(on(t, "unsqueeze", 0), "expand", whole(x).shape[1],
        table.unpack(sizes))
    end
    local picked = on(whole(x), "gather", dim, on(t, "unsqueeze", dim))
    picked = on(on(picked, "squeeze", dim), "neg")
    return reduced(picked, argument(args, kw, 7, "reduction", "mean"))
  end

  function RULE.cross_entropy(args, kw)
    local x = args[1]
    plain_classes("cross_entropy", kw, is_batched(x))
    local logs = on(whole(x), "log_softmax", ndim(x) == 1 and 1 or 2)
    return RULE.nll_loss(V.list({wrap(logs), args[2]}, 2), kw)
  end
end

return M
