/* SPDX-License-Identifier: MIT
** debug/bp_note.c: breakpoints on numbers: what they find, in words, and the
** words of all ranks put together.  Ranks see different numbers: whoever finds
** something says where, and all ranks show the same note at their stop. */
#include <stdio.h>
#include <string.h>
#include "debug/control.h"
#include "mesh/layout.h"

/* --- NaN --- */

static bool is_float (const DtVar *v) {
  int kind = dt_dtype_info((DtDtype)dt_var_meta(v)->dtype)->kind;
  return kind == DT_K_FLOAT || kind == DT_K_COMPLEX;
}

static bool next_index (const DtMeta *m, int64_t *index) {
  for (int d = m->ndim - 1; d >= 0; d--) {
    if (++index[d] < m->shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

/* How many NaN there are, no more than `most`; `first` is where, in the local
** tensor. */
static int64_t count_nan (const DtTensor *t, int64_t most, int64_t *first) {
  int64_t index[DT_MAX_NDIM] = {0}, n = dt_meta_numel(&t->m), found = 0;
  if (!dt_tensor_has_data(t) || n == 0) return 0;
  do {
    DtScalar v = dt_tensor_get(t, index);
    if (v.re == v.re && v.im == v.im) continue;
    if (found++ == 0) memcpy(first, index, sizeof index);
  } while (found < most && next_index(&t->m, index));
  return found;
}

static bool has_nan (const DtTensor *t) {
  int64_t first[DT_MAX_NDIM];
  if (t->m.dtype == DT_F32 && dt_tensor_has_data(t) &&
      dt_meta_is_contiguous(&t->m)) {
    const float *p = (const float *)dt_tensor_cdata(t);
    int64_t n = dt_meta_numel(&t->m);
    for (int64_t i = 0; i < n; i++) if (p[i] != p[i]) return true;
    return false;
  }
  return count_nan(t, 1, first) > 0;
}

static const DtVar *result_with_nan (const DtEvent *e, int *which) {
  for (int i = 0; i < e->nout; i++) {
    if (e->out[i] && is_float(e->out[i]) && has_nan(e->out[i]->local)) {
      *which = i;
      return e->out[i];
    }
  }
  return NULL;
}

bool dt_bp_nan (DtControl *c, DtBreak *b, const DtEvent *e) {
  int which;
  (void)c; (void)b;
  return result_with_nan(e, &which) != NULL;
}

/* Where an element of this rank's part lies in the whole. */
static void print_element (DtCtx *cx, const DtVar *v, const int64_t *at,
                           DtBuf *b) {
  DtArenaMark mark = dt_arena_mark(&cx->scratch);
  dt_buf_addc(b, '[');
  for (int d = 0; d < v->local->m.ndim; d++) {
    int64_t *idx = NULL, n = 0, i = at[d];
    if (v->spec && v->spec->has_meta &&
        dt_layout_indices(cx, v->spec, NULL, d, &idx, &n) == DT_OK && i < n)
      i = idx[i];
    dt_buf_addf(b, d ? ", %lld" : "%lld", (long long)i);
  }
  dt_buf_addc(b, ']');
  dt_error_clear(cx);
  dt_arena_release(&cx->scratch, mark);
}

/* Was it there before?  An input that the operator wrote is not known any
** more. */
static void print_birth (const DtEvent *e, DtBuf *b) {
  bool written = false;
  for (int i = 0; i < e->nin; i++) {
    const DtVar *v = e->in[i];
    bool out = false;
    for (int k = 0; v && k < e->nout; k++)
      out = out || (e->out[k] && e->out[k]->local->storage ==
                                 v->local->storage);
    written = written || out;
    if (v == NULL || out || !is_float(v) || !has_nan(v->local)) continue;
    dt_buf_addf(b, "; input %d has one already", i);
    if (v->origin.seq > 0 && v->origin.op && *v->origin.op)
      dt_buf_addf(b, ", made by %s #%lld", v->origin.op,
                  (long long)v->origin.seq);
    if (v->origin.seq > 0 && v->origin.line > 0)
      dt_buf_addf(b, " at %s:%d", v->origin.file, v->origin.line);
    return;
  }
  if (!written) dt_buf_add(b, "; born here: no input has one");
}

void dt_bp_nan_found (DtControl *c, const DtEvent *e, DtBuf *b) {
  int64_t first[DT_MAX_NDIM] = {0}, n, all;
  int which = 0;
  const DtVar *v = result_with_nan(e, &which);
  if (v == NULL) return;
  all = dt_meta_numel(&v->local->m);
  n = count_nan(v->local, all, first);
  dt_buf_add(b, "NaN at ");
  print_element(c->d->s->cx, v, first, b);
  if (e->nout > 1) dt_buf_addf(b, " of result %d", which);
  if (all > 1)
    dt_buf_addf(b, ", in %lld of %lld elements here", (long long)n,
                (long long)all);
  print_birth(e, b);
}

/* --- all ranks --- */

void dt_stop_say (const DtStopAt *at, DtBuf *b) {
  dt_buf_addf(b, "%s%s", at->mine ? "+" : "-", at->own != 0 ? at->note : "");
}

/* "ranks 0,2-4: " of those that said the same. */
static void add_ranks (DtBuf *b, int n, char *const *said, int like) {
  int count = 0;
  for (int r = 0; r < n; r++) count += strcmp(said[r], said[like]) == 0;
  dt_buf_add(b, count == 1 ? "rank" : "ranks");
  for (int r = 0, first = -1; r < n; r++) {
    bool next = r + 1 < n && strcmp(said[r + 1], said[like]) == 0;
    if (strcmp(said[r], said[like]) != 0) continue;
    if (first < 0) {
      first = r;
      dt_buf_addf(b, "%c%d", r == like ? ' ' : ',', r);
    }
    if (next) continue;
    if (r > first) dt_buf_addf(b, "%c%d", r == first + 1 ? ',' : '-', r);
    first = -1;
  }
  dt_buf_add(b, ": ");
}

static bool first_of_its_kind (char *const *said, int r) {
  for (int q = 0; q < r; q++) if (strcmp(said[q], said[r]) == 0) return false;
  return true;
}

void dt_stop_hear (DtCtx *cx, DtStopAt *at, int n, char *const *said) {
  DtBuf b;
  bool equal = true;
  if (at->own == 0) return;
  dt_buf_init(&b, cx);
  for (int r = 0; r < n; r++) equal = equal && strcmp(said[r], said[0]) == 0;
  for (int r = 0; r < n && !equal; r++) {
    if ((said[r][0] != '+' && said[r][1] == '\0') ||
        !first_of_its_kind(said, r))
      continue;
    if (b.len > 0) dt_buf_add(&b, "\n  ");
    add_ranks(&b, n, said, r);
    dt_buf_add(&b, said[r][1] ? said[r] + 1 : "it is true");
  }
  if (!equal)
    snprintf(at->note, sizeof at->note, "%s", dt_buf_str(&b));
  dt_buf_fini(&b);
}
