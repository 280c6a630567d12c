/* SPDX-License-Identifier: MIT
** base/error_comm.h: codes DT05, ranks and what they send each other.
** Apart from error.h so that a new row compiles few files again. */
#ifndef DT_BASE_ERROR_COMM_H
#define DT_BASE_ERROR_COMM_H

#include "base/error.h"

enum {
  DT_E_COMM_BEGIN = 96,
#define X(name, id, pyclass, text, hint) DT_E_##name,
#include "base/errors_comm.def"
#undef X
  DT_E_COMM_END
};

#endif
