/* SPDX-License-Identifier: MIT
** diag/rules_result.c: functional collectives return their result and leave what
** they are given as it is.  Where the result is never used, and what was given
** is, somebody took them for the collectives in place. */
#include <string.h>
#include "diag/diag_int.h"

void dt_diag_result (DtDiag *g, const DtVar *in, const DtVar *out) {
  DtResult *r = NULL;
  const char *name;
  int i;
  if (!g->on || g->d->muted || in->spec || out->spec ||
      in->local->storage == out->local->storage) return;
  for (i = 0; i < g->nresults && r == NULL; i++)
    if (g->result[i].used) r = &g->result[i];
  if (r == NULL && g->nresults < DT_RESULTS) r = &g->result[g->nresults++];
  if (r == NULL) return;
  name = dt_session_intern(g->s, dt_diag_name(g, in));
  if (name == NULL) dt_error_clear(g->s->cx);
  *r = (DtResult){ .in = in->id, .storage = out->local->storage->id,
                   .at = dt_diag_here(g, "all_reduce"),
                   .name = name ? name : "" };
}

static void mark_used (DtDiag *g, const DtVar *v) {
  for (int i = 0; i < g->nresults; i++) {
    DtResult *r = &g->result[i];
    if (v->local->storage->id == r->storage) r->used = true;
  }
}

void dt_diag_result_read (DtDiag *g, const DtVar *v) {
  if (g->nresults > 0) mark_used(g, v);
}

void dt_diag_result_raw (DtDiag *g, const DtVar *in) {
  if (g->nresults > 0) mark_used(g, in);
}

static void on_read (DtDiag *g, const DtEvent *e) {
  for (int i = 0; i < e->nin; i++) {
    const DtVar *v = e->in[i];
    if (v == NULL) continue;
    mark_used(g, v);
    for (int k = 0; k < g->nresults; k++)
      if (v->id == g->result[k].in) g->result[k].went_on = true;
  }
}

void dt_diag_results (DtDiag *g) {
  for (int i = 0; i < g->nresults; i++) {
    const DtResult *r = &g->result[i];
    DtFinding f = { .kind = dt_find_kind(DT_FIND_ID_RESULT_DROPPED),
                    .seq = r->at.seq, .op = r->at.op, .file = r->at.file,
                    .line = r->at.line, .module = "" };
    if (r->used || !r->went_on) continue;
    dt_diag_put(g, &f, 0, NULL, r->name, "nobody used the result; what was given "
                "went on as it was");
  }
  g->nresults = 0;
}

const DtDiagRule dt_rules_result[] = {
  { DT_EV_OP, on_read, NULL, DT_WHEN(nresults) },
  { 0, NULL, NULL, 0 }
};
