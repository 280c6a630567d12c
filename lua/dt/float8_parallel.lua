-- SPDX-License-Identifier: MIT
-- dt/float8_parallel.lua: tensor parallel styles of float8 layers, as in
-- torchao: activations are cast to float8 before they are redistributed, and
-- gradients on their way back.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local float8 = require "dt.float8"
local style = require "dt.parallel.style"

local M = {}
local from_local = dt.DTensor.from_local

local function cast_input(s)
  return function (_, args, mesh)
    local x = args[1]
    if not util.is_dtensor(x) then
      x = from_local(x, mesh, s.input_layouts, {run_check = false})
    end
    x = float8.to_float8(x)
    if not dt._same_placements(s.input_layouts, s.desired_input_layouts) then
      x = x:redistribute {placements = s.desired_input_layouts}
      x._float8 = true
    end
    return x
  end
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
        .. "%s", util.python_type and util.python_type(module)
        or tostring(module))
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
Colwise.input_hook, Colwise.apply = cast_input, apply(style.ColwiseParallel)
function Colwise.output_hook(s) return cast_gradient(s, true) end
M.Float8ColwiseParallel = Colwise

-- Float8RowwiseParallel{input_layouts=S(-1), output_layouts=R,
-- use_local_output=true}
local Rowwise = style.derived("Float8RowwiseParallel", style.RowwiseParallel)
Rowwise.input_hook, Rowwise.apply = cast_input, apply(style.RowwiseParallel)
function Rowwise.output_hook(s) return cast_gradient(s, false) end
M.Float8RowwiseParallel = Rowwise

return M
