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

static void add_field (DtBuf *b, const char *s) {
  size_t n = s ? strlen(s) : 0;
  dt_buf_addf(b, "%zu:", n);
  dt_buf_addn(b, s ? s : "", n);
}

static void add_number (DtBuf *b, int64_t v) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)v);
  add_field(b, text);
}

void dt_diag_write (const DtDiag *g, DtBuf *out) {
  for (int i = 0; i < g->n; i++) {
    const DtFinding *f = &g->found[i];
    add_field(out, f->kind->code);
    add_field(out, f->op);
    add_field(out, f->file);
    add_field(out, f->module);
    add_field(out, f->subject);
    add_field(out, f->evidence);
    add_field(out, f->lua);
    add_field(out, f->torch);
    add_number(out, f->seq);
    add_number(out, f->line);
    add_number(out, f->count);
    add_number(out, f->backward);
  }
}

/* The next field into `b`; false at the end, or where it is damaged. */
static bool read_field (const char **p, const char *end, DtBuf *b) {
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

static int64_t read_number (DtBuf *b) {
  return strtoll(dt_buf_str(b), NULL, 10);
}

static const char *intern_text (DtDiag *g, DtBuf *b) {
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
    while (k < FIELDS && read_field(&p, end, &v[k])) k++;
    if (k < FIELDS) break;
    memset(&f, 0, sizeof f);
    f.kind = dt_find_lookup(dt_buf_str(&v[0]));
    if (f.kind == NULL) continue;       /* of a later version */
    f.op = intern_text(g, &v[1]);
    f.file = intern_text(g, &v[2]);
    f.module = intern_text(g, &v[3]);
    f.seq = read_number(&v[8]);
    f.line = (int)read_number(&v[9]);
    f.count = read_number(&v[10]);
    f.backward = read_number(&v[11]) != 0;
    f.shown = true;
    dt_diag_keep(g, &f, dt_buf_str(&v[4]), dt_buf_str(&v[5]),
                 dt_buf_str(&v[6]), dt_buf_str(&v[7]), NULL);
  }
  for (int i = 0; i < FIELDS; i++) dt_buf_fini(&v[i]);
}
