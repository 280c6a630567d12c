/* SPDX-License-Identifier: MIT
** diag/store.c: findings as bytes, which go along with the record in a file.
**
** Each finding is a row of fields, each field its length, a colon and its
** bytes: nothing needs quoting.  What a damaged file says is left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "diag/diag_int.h"

enum { FIELDS = 12 };

static void add (DtBuf *b, const char *s) {
  size_t n = s ? strlen(s) : 0;
  dt_buf_addf(b, "%zu:", n);
  dt_buf_addn(b, s ? s : "", n);
}

static void add_number (DtBuf *b, int64_t v) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)v);
  add(b, text);
}

void dt_diag_write (const DtDiag *g, DtBuf *out) {
  for (int i = 0; i < g->n; i++) {
    const DtFinding *f = &g->found[i];
    add(out, f->kind->code);
    add(out, f->op);
    add(out, f->file);
    add(out, f->module);
    add(out, f->subject);
    add(out, f->evidence);
    add(out, f->lua);
    add(out, f->torch);
    add_number(out, f->seq);
    add_number(out, f->line);
    add_number(out, f->count);
    add_number(out, f->backward);
  }
}

/* The next field into `b`; false at the end, or where it is damaged. */
static bool field (const char **p, const char *end, DtBuf *b) {
  size_t n = 0;
  const char *s = *p;
  while (s < end && *s >= '0' && *s <= '9' && n < (size_t)1 << 24)
    n = n * 10 + (size_t)(*s++ - '0');
  if (s == *p || s == end || *s != ':' || n > (size_t)(end - s - 1))
    return false;
  dt_buf_clear(b);
  dt_buf_addn(b, s + 1, n);
  *p = s + 1 + n;
  return !b->oom;
}

static int64_t number (DtBuf *b) {
  return strtoll(dt_buf_str(b), NULL, 10);
}

static const char *interned (DtDiag *g, DtBuf *b) {
  const char *s = dt_session_intern(g->s, dt_buf_str(b));
  if (s == NULL) dt_error_clear(g->s->cx);
  return s ? s : "";
}

void dt_diag_read (DtDiag *g, const char *p, size_t n) {
  const char *end = p + n;
  DtBuf v[FIELDS];
  for (int i = 0; i < FIELDS; i++) dt_buf_init(&v[i], g->s->cx);
  dt_diag_clear(g);
  for (;;) {
    DtFinding f;
    int k = 0;
    while (k < FIELDS && field(&p, end, &v[k])) k++;
    if (k < FIELDS) break;
    memset(&f, 0, sizeof f);
    f.kind = dt_find_lookup(dt_buf_str(&v[0]));
    if (f.kind == NULL) continue;       /* of a later version */
    f.op = interned(g, &v[1]);
    f.file = interned(g, &v[2]);
    f.module = interned(g, &v[3]);
    f.seq = number(&v[8]);
    f.line = (int)number(&v[9]);
    f.count = number(&v[10]);
    f.backward = number(&v[11]) != 0;
    f.shown = true;
    dt_diag_keep(g, &f, dt_buf_str(&v[4]), dt_buf_str(&v[5]),
                 dt_buf_str(&v[6]), dt_buf_str(&v[7]));
  }
  for (int i = 0; i < FIELDS; i++) dt_buf_fini(&v[i]);
}
