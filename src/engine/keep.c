/* SPDX-License-Identifier: MIT
** engine/keep.c: variables that come from outside (a Lua function) into a
** running gradient.  An executing emitter's handles are variables. */
#include "engine/call_int.h"

DtHandle *dt_grad_keep (DtEmit *e, DtVar *owned) {
  return dt_run_keep((DtRun *)(void *)e, owned);
}
