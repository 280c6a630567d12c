/* SPDX-License-Identifier: MIT
** parity/complete.c: dtrepl parity --operators: does every operator definition
** say all that it must?
**
** The build asks it of the program that was just linked (Makefile), so that a
** field taken out of a DtOpDef, or a line out of an .ops text, stops make and
** not a test.  Asked of the definitions as they are written, and once more as
** the latest release rules them. */
#include "parity/parity_int.h"

#include "compat/release.h"
#include "oplib/ops.h"

static DtStatus check_all (DtCtx *cx) {
  DtRegistry *r;
  DtStatus st;
  DT_TRY(cx, dt_registry_new(cx, dt_ops, dt_variants, &r));
  st = dt_registry_selfcheck(cx, r);
  if (st == DT_OK)
    st = dt_registry_release(cx, r, dt_rulings, DT_LAST_RELEASE);
  if (st == DT_OK) st = dt_registry_selfcheck(cx, r);
  dt_registry_free(cx, r);
  return st;
}

int dt_parity_operators (DtCtx *cx, DtParityPut put, void *ud) {
  if (check_all(cx) == DT_OK) return 0;
  put(ud, dt_buf_str(&cx->err.message));
  put(ud, "\n");
  dt_error_clear(cx);
  return 3;
}
