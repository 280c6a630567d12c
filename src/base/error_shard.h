/* SPDX-License-Identifier: MIT
** base/error_shard.h: codes DT01 to DT04, placements, meshes and the decisions about them.
** Apart from error.h so that a new row compiles few files again. */
#ifndef DT_BASE_ERROR_SHARD_H
#define DT_BASE_ERROR_SHARD_H

#include "base/error.h"

enum {
  DT_E_SHARD_BEGIN = 64,
#define X(name, id, pyclass, text, hint) DT_E_##name,
#include "base/errors_shard.def"
#undef X
  DT_E_SHARD_END
};

#endif
