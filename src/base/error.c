/* SPDX-License-Identifier: MIT
** base/error.c: the table of statuses, and raising.
**
** Raising never fails: when memory is short the message is cut, the cause
** dropped.  The new text is formatted before the old one is touched, since
** a caller may quote the pending message in the new one.  Frames and the
** explanation of an earlier error stay: they still say where it began. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/ctx.h"
#include "base/error_comm.h"
#include "base/error_shard.h"
#include "base/error_tool.h"
#include "base/mem_int.h"

_Static_assert((int)DT_E_ANY_END <= (int)DT_E_SHARD_BEGIN &&
               (int)DT_E_SHARD_END <= (int)DT_E_COMM_BEGIN &&
               (int)DT_E_COMM_END <= (int)DT_E_TOOL_BEGIN &&
               (int)DT_E_TOOL_END <= (int)DT_STATUS_MAX,
               "codes of the four tables overlap");

/* In the order of ids. */
static const DtErrorInfo infos[] = {
#define X(name, id, pyclass, text, hint) \
  {DT_E_##name, #name, id, pyclass, text, hint},
#include "base/errors.def"
#include "base/errors_shard.def"
#include "base/errors_comm.def"
#include "base/errors_tool.def"
#undef X
};
enum { INFOS = sizeof(infos) / sizeof(infos[0]) };

const DtErrorInfo *dt_error_info (DtStatus st) {
  const DtErrorInfo *internal = NULL;
  for (int i = 0; i < INFOS; i++) {
    if (infos[i].code == st) return &infos[i];
    if (infos[i].code == DT_E_INTERNAL) internal = &infos[i];
  }
  return internal;
}

DtStatus dt_error_find (const char *name_or_id) {
  for (int i = 0; i < INFOS; i++)
    if (strcmp(infos[i].name, name_or_id) == 0 ||
        strcmp(infos[i].id, name_or_id) == 0)
      return infos[i].code;
  return DT_OK;
}

DtStatus dt_error_next (DtStatus st) {
  int i = 0;
  if (st != DT_OK) {
    while (i < INFOS && infos[i].code != st) i++;
    i++;
  }
  return i < INFOS ? infos[i].code : DT_OK;
}

/* Keep the pending error as the cause of the one about to be raised; of
** several, the first. */
static void keep_cause (DtCtx *cx) {
  DtError *e = &cx->err;
  if (e->code == DT_OK || e->cause != NULL)
    return;
  e->cause = dt_mem_realloc_quiet(cx, NULL, e->message.len + 1);
  if (e->cause == NULL)
    return;
  memcpy(e->cause, dt_buf_str(&e->message), e->message.len + 1);
  e->cause_pyclass = e->pyclass;
}

/* Replace the message; what does not fit in memory is cut off. */
static void set_message (DtCtx *cx, const char *s, size_t n) {
  DtBuf *b = &cx->err.message;
  dt_buf_clear(b);
  dt_buf_addn(b, s, n);
  if (b->oom) {
    dt_buf_clear(b);
    if (b->cap > 0)
      dt_buf_addn(b, s, b->cap - 1 < n ? b->cap - 1 : n);
  }
}

static void raise_v (DtCtx *cx, DtStatus code, const char *pyclass,
                     const char *fmt, va_list ap) {
  char small[512], *text = small;
  char *large = NULL;
  va_list again;
  int n;
  va_copy(again, ap);
  n = vsnprintf(small, sizeof small, fmt, ap);
  if (n < 0) {
    n = (int)strlen(small);
  } else if ((size_t)n >= sizeof small) {
    large = dt_mem_realloc_quiet(cx, NULL, (size_t)n + 1);
    if (large != NULL) {
      (void)vsnprintf(large, (size_t)n + 1, fmt, again);
      text = large;
    } else {
      n = (int)sizeof small - 1;
    }
  }
  va_end(again);
  keep_cause(cx);
  set_message(cx, text, (size_t)n);
  dt_free(cx, large);
  cx->err.code = code;
  cx->err.pyclass = pyclass;
  cx->err.reason = NULL;
}

DtStatus dt_raise (DtCtx *cx, DtStatus code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  raise_v(cx, code, dt_error_info(code)->pyclass, fmt, ap);
  va_end(ap);
  return code;
}

DtStatus dt_raise_as (DtCtx *cx, DtStatus code, const char *pyclass,
                      const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  raise_v(cx, code, pyclass, fmt, ap);
  va_end(ap);
  return code;
}

DtStatus dt_error_reason (DtCtx *cx, DtStatus st, const char *reason) {
  cx->err.reason = reason;
  return st;
}

DtStatus dt_error_frame (DtCtx *cx, DtStatus st, const char *func,
                         const char *file, int line) {
  DtError *e = &cx->err;
  if (e->code == DT_OK)           /* a callee forgot to raise */
    (void)dt_raise(cx, st, "%s", dt_error_info(st)->text);
  if (e->nframes < DT_MAX_FRAMES) {
    DtFrame *f = &e->frames[e->nframes++];
    f->func = func;
    f->file = file;
    f->line = line;
  }
  return st;
}

void dt_error_clear (DtCtx *cx) {
  DtError *e = &cx->err;
  e->code = DT_OK;
  e->pyclass = NULL;
  e->reason = NULL;
  dt_buf_clear(&e->message);
  dt_buf_clear(&e->explain);
  dt_free(cx, e->cause);
  e->cause = NULL;
  e->cause_pyclass = NULL;
  e->nframes = 0;
}
