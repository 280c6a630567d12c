/* SPDX-License-Identifier: MIT
** base/buf.h: a growing text buffer; all text output goes through it.
** A failed allocation is remembered in `oom` and later calls do nothing, so
** that a long series of appends is checked once, with dt_buf_ok().
** All functions here are Local; none raises but dt_buf_ok(). */
#ifndef DT_BASE_BUF_H
#define DT_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

typedef struct DtBuf {
  DtCtx *cx;
  char *s;              /* always 0-terminated once anything was added */
  size_t len, cap;
  bool oom;
} DtBuf;

void dt_buf_init (DtBuf *b, DtCtx *cx);
void dt_buf_fini (DtBuf *b);
void dt_buf_clear (DtBuf *b);
void dt_buf_add (DtBuf *b, const char *s);
void dt_buf_addn (DtBuf *b, const char *s, size_t n);
void dt_buf_addc (DtBuf *b, char c);
void dt_buf_addf (DtBuf *b, const char *fmt, ...)
#if defined(__GNUC__)
  __attribute__((format(printf, 2, 3)))
#endif
;
void dt_buf_addv (DtBuf *b, const char *fmt, va_list ap);
/* A double the way Python's repr() writes it: 0.1, 1e-05, 2.0, inf, nan. */
void dt_buf_add_pyfloat (DtBuf *b, double x);
/* "[1, 2, 3]" */
void dt_buf_add_i64s (DtBuf *b, const int64_t *v, int n);
/* "(1, 2, 3)", "(1,)", "()": a Python tuple. */
void dt_buf_add_tuple (DtBuf *b, const int64_t *v, int n);
/* The text, "" when empty.  Valid until the next change. */
const char *dt_buf_str (const DtBuf *b);
/* NOMEM if any append failed. */
DtStatus dt_buf_ok (const DtBuf *b);

#endif
