/* SPDX-License-Identifier: MIT
** diag/tried.c: repairs of what was found, run before anybody is told of them.
**
** A finding that names an operator whose result can be compared is tried like
** a call that failed: on the recorded inputs, and against one device.  A repair
** counts only where the call as the program made it differs from one device,
** so that a number which is right by chance proves nothing, and where the rules,
** asked anew by a listener that knows no other call, do not find the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_comm.h"
#include "diag/diag_int.h"

enum { MOST_TRIED = 12, LINE = 48 };

/* Rules that hear nothing but the calls of repairs. */
typedef struct Judge {
  DtDiag *g;
  char line[LINE];              /* the finding that is to be gone */
} Judge;

static bool is_to_try (const DtFinding *f) {
  return !f->asked && f->seq > 0 && !f->backward &&
         f->kind->severity != DT_FIND_NOTE;
}

static void print_key (const DtFinding *f, char line[LINE]) {
  snprintf(line, LINE, "%s %lld\n", f->kind->code, (long long)f->seq);
}

static bool has_key (const char *text, const char *line) {
  const char *at = strstr(text, line);
  while (at != NULL && at != text && at[-1] != '\n')
    at = strstr(at + 1, line);
  return at != NULL;
}

/* What every rank has found at the same operator, a line each, in the order of
** the first rank.  Collective. */
static DtStatus agree_on_keys (DtDiag *g, DtBuf *out) {
  DtCtx *cx = g->s->cx;
  DtCollInfo info = { "findings", 0, "", "", "" };
  int n = dt_comm_running(g->s->comm);
  char line[LINE];
  DtStatus st;
  DtBuf mine;
  dt_buf_init(&mine, cx);
  for (int i = 0; i < g->n; i++) {
    if (!is_to_try(&g->found[i])) continue;
    print_key(&g->found[i], line);
    dt_buf_add(&mine, line);
  }
  if (mine.oom) dt_error_clear(cx);
  st = dt_comm_gather_text(cx, g->s->comm->world, &info, dt_buf_str(&mine),
                           mine.oom ? 0 : mine.len, g->text, g->len);
  dt_buf_fini(&mine);
  if (st != DT_OK) return st;
  for (const char *s = g->text[0]; *s != '\0'; s = strchr(s, '\n') + 1) {
    bool everywhere = true;
    snprintf(line, LINE, "%.*s\n", (int)strcspn(s, "\n"), s);
    for (int i = 1; i < n && everywhere; i++)
      everywhere = has_key(g->text[i], line);
    if (everywhere) dt_buf_add(out, line);
  }
  for (int i = 0; i < n; i++) dt_free(cx, g->text[i]);
  return DT_OK;
}

/* Is the finding there again after the call of a repair? */
static bool judge_call (void *ud, bool after) {
  Judge *j = ud;
  bool told = false;
  if (!after) dt_diag_clear(j->g);
  for (int i = 0; i < j->g->n && after; i++) {
    size_t n = strlen(j->g->found[i].kind->code);
    told = told || (strncmp(j->line, j->g->found[i].kind->code, n) == 0 &&
                    j->line[n] == ' ');
  }
  j->g->judging = !after;
  return told;
}

/* Keep the first repair that is right and with which nothing is found. */
static void keep_repair (DtDiag *g, DtFinding *f, const DtRepairs *v) {
  const DtRepair *r = NULL;
  DtBuf b;
  for (int i = 0; i < v->n && r == NULL; i++)
    if (dt_repair_good(&v->r[i]) && !v->r[i].told && !v->r[i].retry)
      r = &v->r[i];
  if (r == NULL || r->lua == NULL) return;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "%s, moves ", r->note);
  dt_bytes_print(r->bytes, &b);
  dt_buf_add(&b, "/rank");
  f->tried_lua = dt_strdup(g->s->cx, r->lua);
  f->tried_torch = dt_strdup(g->s->cx, r->torch ? r->torch : r->lua);
  f->verdict = b.oom ? NULL : dt_strdup(g->s->cx, dt_buf_str(&b));
  dt_buf_fini(&b);
  if (f->tried_lua && f->tried_torch && f->verdict) return;
  dt_error_clear(g->s->cx);
  dt_diag_untry(g, f);
}

/* All findings of this line: the first of an operator stands for all. */
static DtStatus try_key (DtDiag *g, const char *line) {
  DtRepairs v;
  char own[LINE];
  const char *seq = strchr(line, ' ');
  DtStatus st = dt_repair_recorded(g->d, strtoll(seq + 1, NULL, 10), &v);
  for (int i = 0; i < g->n && st == DT_OK; i++) {
    DtFinding *f = &g->found[i];
    print_key(f, own);
    if (strncmp(own, line, strlen(own)) != 0 || f->asked) continue;
    f->asked = true;
    keep_repair(g, f, &v);
  }
  dt_repairs_fini(g->d, &v);
  if (st == DT_OK || st == DT_E_INTERRUPTED || st == DT_E_RANK_LOST ||
      st == DT_E_DIVERGED)
    return st;
  dt_error_clear(g->s->cx);             /* what could not be tried is not told */
  return DT_OK;
}

/* With a judge who listens meanwhile in place of `g`. */
static DtStatus try_keys (DtDiag *g, const char *keys) {
  Judge j = { NULL, "" };
  DtStatus st = dt_diag_new(g->s, &j.g);
  if (st != DT_OK) return st;
  g->d->judge = judge_call;
  g->d->judge_ud = &j;
  for (int n = 0; st == DT_OK && *keys != '\0' && n < MOST_TRIED; n++) {
    snprintf(j.line, LINE, "%.*s", (int)strcspn(keys, "\n"), keys);
    st = try_key(g, keys);
    keys = strchr(keys, '\n') + 1;
  }
  g->d->judge = NULL;
  dt_diag_free(j.g);
  g->d->diag = g;
  return st;
}

DtStatus dt_diag_try (DtDiag *g) {
  DtStatus st;
  DtBuf keys;
  if (dt_comm_running(g->s->comm) < 2 || dt_session_no_data(g->s)) return DT_OK;
  dt_buf_init(&keys, g->s->cx);
  st = agree_on_keys(g, &keys);
  if (st == DT_OK && keys.len > 0) st = try_keys(g, dt_buf_str(&keys));
  dt_buf_fini(&keys);
  return st;
}
