-- SPDX-License-Identifier: MIT
-- dt/float8/parallel.lua: tensor parallel styles of float8 layers, as in
-- torchao: activations are cast to float8 before they are redistributed, and
-- gradients on their way back.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local checks = require "dt.fsdp.checks"
local float8 = require "dt.float8"
local style = require "dt.parallel.style"

local M = {}

-- An input that moved is float8 still.
local function moved(x)
  x._float8 = true
  return x
end

local function cast_gradient(s, always)
  return function (_, out)
    if always or not dt._same_placements(out.placements, s.output_layouts) then
      out = out:redistribute {placements = s.output_layouts}
    end
    out = float8.cast_grad(out)
    return s.use_local_output and out:to_local() or out
  end
end

-- Parameters as the style places them; a weight that travels as float8 goes
-- on doing so.
local function apply(base)
  return function (self, module, mesh)
    if not nnm.isinstance(module, float8.Float8Linear) then
      util.raise("ValueError", "Expecting module to be Float8Linear but found "
        .. "%s", checks.type_text(module))
    end
    base.apply(self, module, mesh)
    module._attrs._float8_grad = true
    if module._attrs._float8_weight then float8.gather_as_float8(module) end
    return module
  end
end

-- Float8ColwiseParallel{input_layouts=R, output_layouts=S(-1),
-- use_local_output=true}
local Colwise = style.derived("Float8ColwiseParallel", style.ColwiseParallel)
Colwise.cast_input, Colwise.moved_input = float8.to_float8, moved
Colwise.apply = apply(style.ColwiseParallel)
function Colwise.output_hook(s) return cast_gradient(s, true) end
M.Float8ColwiseParallel = Colwise

-- Float8RowwiseParallel{input_layouts=S(-1), output_layouts=R,
-- use_local_output=true}
local Rowwise = style.derived("Float8RowwiseParallel", style.RowwiseParallel)
Rowwise.cast_input, Rowwise.moved_input = float8.to_float8, moved
Rowwise.apply = apply(style.RowwiseParallel)
function Rowwise.output_hook(s) return cast_gradient(s, false) end
M.Float8RowwiseParallel = Rowwise

return M
