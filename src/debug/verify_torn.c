/* SPDX-License-Identifier: MIT
** debug/verify_torn.c: shadow mode where an operator fails on some ranks only.
**
** Comparing needs all ranks of the mesh, and a rank whose kernel failed will
** not come: it unwinds its script.  So before anything is compared every rank
** says how the operator ended.  Where they differ the verdict is "wrong", with
** the words of the first rank that failed, on all ranks; from then on the
** ranks go different ways, and nothing is compared until the next text runs.
*/
#include "debug/verify_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const DtMesh *mesh_of (const DtEvent *e) {
  for (int i = 0; i < e->nin; i++)
    if (e->in[i] != NULL && e->in[i]->spec != NULL)
      return e->in[i]->spec->mesh;
  return NULL;
}

static DtStatus ranks_of (DtSession *s, const DtMesh *m, DtGroup **out) {
  DtCtx *cx = s->cx;
  int64_t n = dt_mesh_size(m), *all = DT_NEWN(cx, int64_t, n);
  int *ranks = DT_NEWN(cx, int, n);
  DtStatus st = all && ranks ? DT_OK : DT_E_NOMEM;
  if (st == DT_OK) {
    dt_mesh_ranks(m, all);
    for (int64_t i = 0; i < n; i++) ranks[i] = (int)all[i];
    st = dt_comm_group(cx, s->comm, (int)n, ranks, out);
  }
  dt_free(cx, all);
  dt_free(cx, ranks);
  return st;
}

/* The first rank that failed and how many did, of what all say: "" or words.
*/
static int first_failed (const DtGroup *g, char *const *said, int *nfailed) {
  int first = -1;
  *nfailed = 0;
  for (int i = 0; i < g->size; i++) {
    if (said[i][0] == '\0') continue;
    if (first < 0) first = i;
    ++*nfailed;
  }
  return first;
}

/* "fails on rank 2 only: The size of tensor a ..." */
static void write_words (const DtGroup *g, char *const *said, int first,
                         int nfailed, DtVerified *v) {
  if (nfailed == 1)
    snprintf(v->words, sizeof v->words, "fails on rank %d only: %.200s",
             g->ranks[first], said[first]);
  else
    snprintf(v->words, sizeof v->words, "fails on %d of %d ranks, first on "
             "rank %d: %.200s", nfailed, g->size, g->ranks[first],
             said[first]);
  snprintf(v->cause, sizeof v->cause, "fails-on-some-ranks");
}

/* Each says "operator\nerror".  Ranks that are at different operators have
** taken different paths: nothing follows for either. */
static bool same_operator (const DtGroup *g, char *const *said) {
  size_t n = strcspn(said[0], "\n");
  for (int i = 1; i < g->size; i++)
    if (strcspn(said[i], "\n") != n || memcmp(said[i], said[0], n) != 0)
      return false;
  for (int i = 0; i < g->size; i++)
    memmove(said[i], said[i] + n + 1, strlen(said[i]) - n);
  return true;
}

static DtStatus compare_call (DtDebug *d, const DtEvent *e, const DtMesh *m,
                              const char *mine, DtVerified *v, bool *torn) {
  DtSession *s = d->s;
  DtGroup *g = NULL;
  char **said = NULL, text[400];
  int first, nfailed;
  DT_TRY(s->cx, ranks_of(s, m, &g));
  snprintf(text, sizeof text, "%.150s %lld\n%s",
           e->op && e->op->sig ? e->op->sig->full : "", (long long)e->seq,
           mine);
  DT_TRY(s->cx, dt_vf_gather(s, g, text, &said));
  if (!same_operator(g, said)) {
    dt_vf_gather_free(s, g, said);
    return DT_OK;
  }
  first = first_failed(g, said, &nfailed);
  *torn = nfailed > 0 && nfailed < g->size;
  if (*torn) {
    memset(v, 0, sizeof *v);
    v->kind = DT_VF_WRONG;
    v->seq = e->seq;
    v->label = e->op && e->op->sig ? e->op->sig->full : e->text;
    v->file = e->file ? e->file : "";
    v->line = e->line;
    write_words(g, said, first, nfailed, v);
  }
  dt_vf_gather_free(s, g, said);
  return DT_OK;
}

DtStatus dt_vf_torn (DtDebug *d, const DtEvent *e, DtVerified *v,
                     bool *torn) {
  DtSession *s = d->s;
  DtCtx *cx = s->cx;
  const DtMesh *m = mesh_of(e);
  DtError kept = cx->err;
  DtStatus st;
  char mine[240] = "";
  *torn = false;
  if (m == NULL || !m->member || dt_session_no_data(s) ||
      dt_vf_fatal(e->status)) return DT_OK;
  if (e->status == DT_OK) return compare_call(d, e, m, mine, v, torn);
  snprintf(mine, sizeof mine, "%.200s", dt_buf_str(&cx->err.message));
  if (mine[0] == '\0')
    snprintf(mine, sizeof mine, "%s", dt_error_info(e->status)->id);
  memset(&cx->err, 0, sizeof cx->err);
  dt_buf_init(&cx->err.message, cx);
  dt_buf_init(&cx->err.explain, cx);
  st = compare_call(d, e, m, mine, v, torn);
  (void)st;                     /* the error under way is the one that counts */
  dt_error_clear(cx);
  dt_buf_fini(&cx->err.message);
  dt_buf_fini(&cx->err.explain);
  cx->err = kept;
  return DT_OK;
}
