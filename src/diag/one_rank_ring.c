/* SPDX-License-Identifier: MIT
** diag/one_rank_ring.c: sums that ranks make by hand, of messages.
**
** Each rank begins with a tensor of its own and adds what comes from others.  What it
** ends with is so many times the tensor of each rank; how many is solved for with the
** numbers, and counted only where it comes out as whole numbers.  A sum over all ranks
** has each of them once.  Where all are in it, and some several times, what was sent on
** was the sum so far, or the message went round too often.  Sums of neighbours leave
** some ranks out and mean to; a sum that is divided by all its counts is a mean. */
#include "diag/one_rank_int.h"

#include <math.h>
#include <string.h>
#include "diag/diag_int.h"

/* Additions of what came, one after the other, of one rank: operators of its record,
** oldest first. */
typedef struct Chain { int first, last, len, again; } Chain;

static bool is (const DtRecOp *r, const char *with) {
  return strncmp(r->label, with, strlen(with)) == 0;
}

static const DtRecOp *at (const DtRecord *k, int i) {
  return dt_record_of(k, k->n - 1 - i);
}

/* Is input `j` of operator `i` memory that a message was written into last? */
static bool came (const DtRecord *k, int i, int j) {
  enum { FAR = 64 };
  const int64_t storage = at(k, i)->in[j].storage;
  for (int n = i - 1; n >= 0 && n > i - FAR; n--) {
    const DtRecOp *r = at(k, n);
    if (r->nin == 0 || r->in[0].none || r->in[0].storage != storage ||
        r->op == NULL || !(r->op->flags & DT_OP_INPLACE)) continue;
    for (int m = n - 1; m >= 0 && m > n - 4 && is(r, "aten.copy_."); m--)
      if (is(at(k, m), "recv_")) return at(k, m)->line == r->line;
    return false;
  }
  return false;
}

static bool adds_message (const DtRecord *k, int i) {
  const DtRecOp *r = at(k, i);
  return (is(r, "aten.add.Tensor") || is(r, "aten.add_.Tensor")) && r->nin >= 2 &&
         r->nout == 1 && !r->in[0].none && !r->in[1].none && came(k, i, 1) &&
         !came(k, i, 0);
}

/* The next addition to what operator `i` made.  *sent: the first that takes it between,
** to send it on; -1. */
static int next_addition (const DtRecord *k, int i, int *sent) {
  enum { FAR = 64 };
  const int64_t id = at(k, i)->out[0].id, storage = at(k, i)->out[0].storage;
  *sent = -1;
  for (int n = i + 1; n < k->n && n < i + FAR; n++) {
    const DtRecOp *r = at(k, n);
    if (is(r, "send") && *sent < 0) *sent = n;
    if (r->nin == 0 || r->in[0].none) continue;
    if (r->in[0].id != id && r->in[0].storage != storage) continue;
    if (adds_message(k, n)) return n;
    if (*sent < 0 && is(r, "aten.clone.")) *sent = n;
  }
  return -1;
}

/* The chain that begins at operator `i`. */
static Chain follow (const DtRecord *k, int i) {
  Chain c = {i, i, 1, -1};
  for (int sent, next; (next = next_addition(k, c.last, &sent)) >= 0; c.last = next) {
    if (c.again < 0) c.again = sent;
    c.len++;
  }
  return c;
}

/* The first chain from operator *from on; false: none.  *from moves behind it. */
static bool next_chain (const DtRecord *k, int *from, Chain *c) {
  for (; *from < k->n; ++*from)
    if (adds_message(k, *from)) {
      *c = follow(k, *from);
      *from = c->last + 1;
      return true;
    }
  return false;
}

/* --- how often each rank is in it --- */

/* Gauss with the largest pivot: a[n][n + 1]; false where it is singular. */
static bool solve (double *a, int n) {
  const int w = n + 1;
  for (int i = 0; i < n; i++) {
    int p = i;
    for (int k = i + 1; k < n; k++)
      if (fabs(a[k * w + i]) > fabs(a[p * w + i])) p = k;
    if (fabs(a[p * w + i]) < 1e-12) return false;
    for (int c = 0; c < w; c++) {
      const double t = a[i * w + c];
      a[i * w + c] = a[p * w + c];
      a[p * w + c] = t;
    }
    for (int k = 0; k < n; k++) {
      const double f = k == i ? 0 : a[k * w + i] / a[i * w + i];
      for (int c = i; c < w && f != 0; c++) a[k * w + c] -= f * a[i * w + c];
    }
  }
  for (int i = 0; i < n; i++) a[i * w + n] /= a[i * w + i];
  return true;
}

/* How often each of t[0..n) is in `sum`: whole numbers, or *known is false. */
static DtStatus count_in (DtCtx *cx, const DtElements *t, int n, const DtElements *sum,
                          int *times, bool *known) {
  double *a = DT_ANEWN(cx, &cx->scratch, double, n * (n + 1));
  double most = 0;
  *known = false;
  if (a == NULL) return DT_E_NOMEM;
  for (int i = 0; i < n; i++)
    for (int k = 0; k <= n; k++)
      for (int64_t e = 0; e < sum->n; e++)
        a[i * (n + 1) + k] += t[i].v[e] * (k < n ? t[k].v[e] : sum->v[e]);
  if (!solve(a, n)) return DT_OK;
  for (int i = 0; i < n; i++) {
    const double x = a[i * (n + 1) + n];
    if (!(fabs(x) < 1e4) || fabs(x - round(x)) > 1e-3) return DT_OK;
    times[i] = (int)round(x);
  }
  for (int64_t e = 0; e < sum->n; e++) most = fmax(most, fabs(sum->v[e]));
  for (int64_t e = 0; e < sum->n; e++) {
    double rest = sum->v[e];
    for (int i = 0; i < n; i++) rest -= times[i] * t[i].v[e];
    if (!(fabs(rest) <= 1e-5 * most)) return DT_OK;
  }
  *known = true;
  return DT_OK;
}

/* What rank `of` made in its chain, of what all ranks began with. */
static DtStatus count_chain (DtCtx *cx, int n, const DtRecord *const *rank,
                             const Chain *c, int of, int *times, bool *known) {
  DtElements t[DT_RELATE_RANKS], sum;
  DtStatus st = DT_OK;
  *known = dt_elements_read(cx, &at(rank[of], c[of].last)->out[0], &sum, &st) &&
           !sum.whole && sum.n >= 2 * n;
  for (int r = 0; r < n && *known; r++)
    *known = dt_elements_read(cx, &at(rank[r], c[r].first)->in[0], &t[r], &st) &&
             t[r].n == sum.n && c[r].len == c[of].len;
  return *known ? count_in(cx, t, n, &sum, times, known) : st;
}

/* Is the sum divided by as many as are in it, so that it is a mean with weights?
** Gossip ends in one. */
static DtStatus is_weighted_mean (DtCtx *cx, const DtRecord *k, const Chain *c,
                                  const int *times, int n, bool *yes) {
  enum { FAR = 64 };
  const DtRecVar *sum = &at(k, c->last)->out[0];
  DtElements a, b;
  DtStatus st = DT_OK;
  double all = 0;
  *yes = false;
  for (int i = 0; i < n; i++) all += times[i];
  for (int i = c->last + 1; i < k->n && i < c->last + FAR && !*yes; i++) {
    const DtRecOp *r = at(k, i);
    if (r->nin == 0 || r->nout == 0 || r->in[0].none || r->in[0].id != sum->id ||
        !(is(r, "aten.div") || is(r, "aten.mul"))) continue;
    if (!dt_elements_read(cx, sum, &a, &st) || !dt_elements_read(cx, &r->out[0], &b, &st) ||
        a.n != b.n) break;
    *yes = true;
    for (int64_t e = 0; e < a.n && *yes; e++)
      *yes = fabs(b.v[e] * all - a.v[e]) <= 1e-5 * fabs(a.v[e]);
  }
  return st;
}

/* Are all in it, and some several times; or some equally often, and others not at all,
** as where the same two ranks exchange their sums again? */
static bool counts_wrongly (const int *times, int n, bool *again) {
  int most = 0, none = 0;
  for (int i = 0; i < n; i++) {
    if (times[i] < 0) return false;
    if (times[i] > most) most = times[i];
    none += times[i] == 0;
  }
  *again = none > 0;
  for (int i = 0; i < n && *again; i++)
    if (times[i] != 0 && times[i] != most) return false;
  return most > 1 && (none == 0 || *again);
}

static void tell (DtRuns *u, const DtRecord *k, const Chain *c, const int *times) {
  const DtRecOp *sum = at(k, c->last), *r = at(k, c->again >= 0 && c->len < u->n
                                                    ? c->again : c->first);
  const char *name = dt_record_var_name(k, &sum->out[0]);
  DtFinding f = {.kind = dt_find_kind(DT_FIND_ID_PASSED_SUM), .seq = r->seq,
                 .op = sum->label, .file = r->file, .line = r->line,
                 .module = r->module, .backward = r->backward};
  DtBuf b;
  dt_buf_init(&b, u->cx);
  dt_buf_addf(&b, "in what rank 0 has after %d messages (%s:%d) each rank counts this "
              "many times:", c->len, sum->file ? sum->file : "", sum->line);
  for (int i = 0; i < u->n; i++) dt_buf_addf(&b, "%s %d", i > 0 ? "," : "", times[i]);
  if (!b.oom) dt_diag_put_for(u->g, &f, NULL, 0, NULL, name ? name : "", dt_buf_str(&b));
  else dt_error_clear(u->cx);
  dt_buf_fini(&b);
}

DtStatus dt_runs_search_ring (DtRuns *u, const DtRecord *const *rank, bool *told) {
  enum { CHAINS = 32 };
  Chain c[DT_RELATE_RANKS];
  int from[DT_RELATE_RANKS] = {0}, times[DT_RELATE_RANKS];
  DtStatus st = DT_OK;
  if (u->n < 2) return DT_OK;
  for (int n = 0; n < CHAINS && !*told && st == DT_OK; n++) {
    DtArenaMark top = dt_arena_mark(&u->cx->scratch);
    bool known = true;
    for (int r = 0; r < u->n && known; r++) known = next_chain(rank[r], &from[r], &c[r]);
    if (!known) break;
    st = count_chain(u->cx, u->n, rank, c, 0, times, &known);
    bool mean = false, again = false;
    known = st == DT_OK && known && counts_wrongly(times, u->n, &again);
    if (known && !again) st = is_weighted_mean(u->cx, rank[0], &c[0], times, u->n, &mean);
    if (st == DT_OK && known && !mean) {
      tell(u, rank[0], &c[0], times);
      *told = true;
    }
    dt_arena_release(&u->cx->scratch, top);
  }
  return st;
}
