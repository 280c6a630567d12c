/* SPDX-License-Identifier: MIT
** base/error_tool.h: codes DT06 to DT08, autograd, devices and the tools around the engine.
** Apart from error.h so that a new row compiles few files again. */
#ifndef DT_BASE_ERROR_TOOL_H
#define DT_BASE_ERROR_TOOL_H

#include "base/error.h"

enum {
  DT_E_TOOL_BEGIN = 128,
#define X(name, id, pyclass, text, hint) DT_E_##name,
#include "base/errors_tool.def"
#undef X
  DT_E_TOOL_END
};

#endif
