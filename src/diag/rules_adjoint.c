/* SPDX-License-Identifier: MIT
** diag/rules_adjoint.c: is the backward of a custom function that communicates the
** gradient of its forward?
**
** A forward that only moves, copies, scales and sums (collectives among these) is a
** linear map of what all ranks give it: y = A x.  Its gradient is that of A turned
** around, so that over all ranks together sum(g * y) = sum(g_in * x), whatever g is.
** No derivative has to be known for that, and no run on one rank: the numbers of one
** call are enough.  Conventions differ by a factor that counts ranks (a loss that all
** ranks have is counted once or n times, a mean for a sum): such are let be.
** Each rank claims its three sums, of one of the first few calls at a place: of the first
** backward that has a gradient which is not 0.  Later ones may see replicas that drifted
** apart for another reason. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

enum { ADJOINTS = 64, TENSORS = 4, CALLS = 4, ITEMS = 1 << 14 };

/* A call between its forward and its backward: what went in and what came out. */
typedef struct Adjoint {
  int number;                   /* what its backward knows it by; 0: free */
  bool narrow;                  /* some of it has 16 bits */
  uint64_t place;
  int call;                     /* which at that place */
  int n[2];                     /* tensors in, tensors out */
  int64_t len[2][TENSORS];      /* their elements; 0: none there, or of no gradient */
  double *v[2][TENSORS];
} Adjoint;

typedef struct Place { uint64_t key; int calls; bool claimed; } Place;

struct DtAdjoints {
  Adjoint v[ADJOINTS];
  Place place[ADJOINTS];
  int nplace;
  int depth;                    /* functions whose forward runs, one within another */
  int open;                     /* the outermost one's call; -1: it is not looked at */
  bool linear;                  /* nothing else was called in it so far */
  bool back, plain;             /* a backward runs; so far it only moves, adds up and
                                ** counts ranks */
  int last;                     /* the last call's number */
  int64_t messages;             /* between two ranks, before it */
};

static void drop (DtDiag *g, Adjoint *a) {
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < TENSORS; i++) dt_free(g->s->cx, a->v[k][i]);
  memset(a, 0, sizeof *a);
}

void dt_diag_adjoints_free (DtDiag *g) {
  for (int i = 0; g->adjoints && i < ADJOINTS; i++) drop(g, &g->adjoints->v[i]);
  dt_free(g->s->cx, g->adjoints);
  g->adjoints = NULL;
  g->nadjoint = 0;
}

/* Elements of a plain floating tensor, in order; NULL: too many, or none. */
static double *read_items (DtDiag *g, const DtTensor *t, int64_t *len) {
  const int64_t n = dt_meta_numel(&t->m);
  int64_t at[DT_MAX_NDIM] = { 0 };
  double *v;
  *len = 0;
  if (n < 1 || n > ITEMS || !dt_tensor_has_data(t)) return NULL;
  if ((v = DT_NEWN(g->s->cx, double, n)) == NULL) {
    dt_error_clear(g->s->cx);
    return NULL;
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t rest = i;
    for (int d = t->m.ndim - 1; d >= 0; d--) {
      at[d] = rest % t->m.shape[d];
      rest /= t->m.shape[d];
    }
    v[i] = dt_tensor_get(t, at).re;
  }
  *len = n;
  return v;
}

static bool is_plain_float (const DtVar *v) {
  return v && v->spec == NULL && dt_dtype_is_float((DtDtype)v->local->m.dtype);
}

/* Keep what `v[0..n)` hold.  false: it cannot be looked at. */
static bool keep (DtDiag *g, Adjoint *a, int k, int n, DtVar *const *v, bool wanted) {
  if (n > TENSORS) return false;
  a->n[k] = n;
  for (int i = 0; i < n; i++) {
    if (v[i] == NULL || (wanted && !dt_var_needs_grad(v[i]))) {
      /* a constant that is no index might be added to the rest */
      if (is_plain_float(v[i])) return false;
      continue;
    }
    if (!is_plain_float(v[i])) return false;
    a->narrow = a->narrow || dt_dtype_size((DtDtype)v[i]->local->m.dtype) < 4;
    if ((a->v[k][i] = read_items(g, v[i]->local, &a->len[k][i])) == NULL) return false;
  }
  return true;
}

/* Count a call at that place; -1: there were enough. */
static int count_call (struct DtAdjoints *j, uint64_t key) {
  int k = 0;
  while (k < j->nplace && j->place[k].key != key) k++;
  if (k == ADJOINTS) return -1;
  if (k == j->nplace) j->place[j->nplace++] = (Place){ key, 0, false };
  return j->place[k].calls == CALLS ? -1 : j->place[k].calls++;
}

/* Is it the first claim at that place? */
static bool is_first (struct DtAdjoints *j, uint64_t key) {
  for (int k = 0; k < j->nplace; k++)
    if (j->place[k].key == key && !j->place[k].claimed) return j->place[k].claimed = true;
  return false;
}

static int find_free (const struct DtAdjoints *j) {
  int k = 0;
  while (k < ADJOINTS && j->v[k].number != 0) k++;
  return k < ADJOINTS ? k : -1;
}

/* A backward may run again (retain_graph) when its call is dropped, and another has its
** place: by the number they are told apart. */
static Adjoint *find_call (const DtDiag *g, int number) {
  for (int k = 0; g->adjoints && number > 0 && k < ADJOINTS; k++)
    if (g->adjoints->v[k].number == number) return &g->adjoints->v[k];
  return NULL;
}

static void set_watched (DtDiag *g) {
  g->nadjoint = g->adjoints->depth > 0 || g->adjoints->back;
}

void dt_diag_function_begins (DtDiag *g, const char *name, int n, DtVar *const *in) {
  struct DtAdjoints *j = g->adjoints;
  const DtOrigin here = dt_diag_here(g, "function");
  uint64_t key = dt_hash_u64(dt_hash_str(DT_HASH_SEED, name), (uint64_t)here.line);
  if (!g->on || g->d->muted || dt_session_no_data(g->s)) return;
  if (j == NULL) j = g->adjoints = DT_NEW(g->s->cx, struct DtAdjoints);
  if (j == NULL) { dt_error_clear(g->s->cx); return; }
  g->nadjoint = 1;
  if (j->depth++ > 0) return;
  j->linear = true;
  j->messages = g->nmessage;
  j->open = find_free(j);
  if (j->open < 0) return;
  Adjoint *a = &j->v[j->open];
  a->place = dt_hash_str(key, here.file);
  if ((a->call = count_call(j, a->place)) < 0 || !keep(g, a, 0, n, in, true)) {
    drop(g, a);
    j->open = -1;
    return;
  }
  a->number = ++j->last;
}

int dt_diag_function_ends (DtDiag *g, bool sent, int n, DtVar *const *out) {
  struct DtAdjoints *j = g->adjoints;
  if (j == NULL || j->depth == 0 || --j->depth > 0) return 0;
  set_watched(g);
  const int open = j->open;
  j->open = -1;
  if (open < 0) return 0;
  sent = sent || g->nmessage > j->messages;
  if (sent && j->linear && keep(g, &j->v[open], 1, n, out, false)) return j->v[open].number;
  drop(g, &j->v[open]);
  return 0;
}

/* sum(x * y) of what was kept and what is there now; *size: of the absolute values.  A
** gradient that is not there is 0.  false: they do not fit. */
static bool multiply (DtDiag *g, const Adjoint *a, int k, int n, DtVar *const *v,
                      double *sum, double *size) {
  for (int i = 0; i < a->n[k] && i < n; i++) {
    int64_t len;
    if (a->len[k][i] == 0 || v[i] == NULL) continue;
    if (!is_plain_float(v[i])) return false;
    double *y = read_items(g, v[i]->local, &len);
    const bool fits = y != NULL && len == a->len[k][i];
    for (int64_t e = 0; fits && e < len; e++) {
      *sum += a->v[k][i][e] * y[e];
      *size += fabs(a->v[k][i][e] * y[e]);
    }
    dt_free(g->s->cx, y);
    if (!fits) return false;
  }
  return isfinite(*size);
}

/* A number as a fact: never 0, which would say nothing. */
static const uint64_t MASK = 0x5bd1e995a5a5a5a5u;
static uint64_t fact_of (double x) {
  uint64_t h;
  memcpy(&h, &x, sizeof h);
  return h == MASK ? 1 : h ^ MASK;
}
static double number_of (uint64_t fact) {
  const uint64_t h = fact == 1 ? MASK : fact ^ MASK;
  double x;
  memcpy(&x, &h, sizeof x);
  return x;
}

void dt_diag_function_turns (DtDiag *g, int number) {
  if (find_call(g, number) == NULL) return;
  g->adjoints->back = g->adjoints->plain = true;
  set_watched(g);
}

void dt_diag_function_back (DtDiag *g, int number, int nout, DtVar *const *gout, int nin,
                            DtVar *const *gin, const char *name, const char *file,
                            int line) {
  Adjoint *a = find_call(g, number);
  double out = 0, in = 0, size = 0, rest = 0;
  if (a == NULL) return;
  g->adjoints->back = false;
  set_watched(g);
  if (g->adjoints->plain && multiply(g, a, 1, nout, gout, &out, &size) &&
      multiply(g, a, 0, nin, gin, &in, &rest) && size > 0 &&
      is_first(g->adjoints, a->place)) {
    const DtFact facts[DT_SUMS] = { { true, fact_of(out) }, { true, fact_of(in) },
                              { true, fact_of(a->narrow ? -size : size) } };
    const DtOrigin at = { .op = "backward", .file = dt_session_intern(g->s, file),
                          .line = line, .seq = g->s->seq };
    DtEvent e = dt_diag_origin(&at, "backward");
    e.backward = true;
    DtClaim *c = dt_diag_claim_all(g, &e, DT_FIND_ID_NO_ADJOINT, NULL, -1,
                                   (int64_t)(a->place + (uint64_t)a->call), DT_SUMS, facts, name,
                                   "its forward is linear: over all ranks, what comes out "
                                   "times its gradient adds up to what goes in times the "
                                   "gradient that backward gives for it");
    if (c != NULL) c->sums = true;
  }
  drop(g, a);
}

/* A quotient of two numbers of ranks: how often a convention counts. */
static bool counts_ranks (double x, int n) {
  for (int p = 1; p <= n; p++)
    for (int q = 1; n % p == 0 && q <= n; q++)
      if (n % q == 0 && fabs(x * q - p) < 1e-9) return true;
  return false;
}

bool dt_diag_adjoint_fails (int n, const DtSums *of, double *out, double *in) {
  double size = 0;
  bool narrow = false;
  *out = *in = 0;
  for (int r = 0; r < n; r++) {
    const double s = number_of(of[r].fact[2]);
    *out += number_of(of[r].fact[0]);
    *in += number_of(of[r].fact[1]);
    size += fabs(s);
    narrow = narrow || s < 0;
  }
  const double near = (narrow ? 5e-2 : 1e-3) * size;
  if (!(size > 0) || fabs(*out) < 10 * near) return false;     /* it cancels */
  for (int p = 1; p <= n; p++)
    for (int q = 1; q <= n; q++)
      if (counts_ranks((double)p / q, n) && fabs(*in - *out * p / q) <= near * p / q)
        return false;
  return true;
}

/* Operators that move, copy, scale or sum, whatever the tensors hold. */
static bool is_linear (const DtEvent *e) {
  static const char *const names[] = {
    "aten.clone.", "aten.cat.", "aten.stack.", "aten.copy_.", "aten.empty",
    "aten.new_empty", "aten.zeros", "aten.new_zeros", "aten.zero_.", "aten._to_copy.",
    "aten.index_select.", "aten.sum.", "aten.neg.", "aten.contiguous.", "aten.flip.",
    "aten.constant_pad_nd." };
  static const char *const scales[] = { "aten.mul", "aten.div" };
  const char *full = e->op->sig->full;
  if ((e->op->flags & DT_OP_VIEW) != 0) return true;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strncmp(full, names[i], strlen(names[i])) == 0)
      return e->nout < 1 || e->out[0] == NULL || e->nin < 1 || !is_plain_float(e->in[0]) ||
             is_plain_float(e->out[0]);         /* rounded to integers */
  for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++)
    if (strncmp(full, scales[i], strlen(scales[i])) == 0)
      return e->nin < 2 || e->in[1] == NULL;
  return false;
}

/* Does backward change the gradient by it, other than by a count of ranks? */
static bool changes (const DtDiag *g, const DtEvent *e) {
  double x;
  if ((e->op->flags & DT_OP_POINTWISE) == 0) return false;
  if (strncmp(e->op->sig->full, "aten.neg", 8) == 0) return true;
  if (strncmp(e->op->sig->full, "aten.mul", 8) == 0 ||
      strncmp(e->op->sig->full, "aten.div", 8) == 0)
    return !is_linear(e) ||
           (dt_diag_scales(g, e, &x) && !counts_ranks(x, dt_session_size(g->s)));
  return strncmp(e->op->sig->full, "aten.add", 8) != 0 &&
         strncmp(e->op->sig->full, "aten.sub", 8) != 0 && !is_linear(e);
}

static void on_operator (DtDiag *g, const DtEvent *e) {
  struct DtAdjoints *j = g->adjoints;
  if (j == NULL) return;
  if (j->linear && !is_linear(e)) j->linear = false;
  if (j->back && changes(g, e)) j->plain = false;
}

/* A raw collective in it that is no sum. */
void dt_diag_adjoint_raw (DtDiag *g, const DtRecRaw *raw) {
  if (g->nadjoint > 0 && raw->reduce && strcmp(raw->reduce, "sum") != 0 &&
      strcmp(raw->reduce, "avg") != 0) g->adjoints->linear = g->adjoints->plain = false;
}

const DtDiagRule dt_rules_adjoint[] = {
  { DT_EV_OP_END, on_operator, NULL, DT_WHEN(nadjoint) },
  { 0, NULL, NULL, 0 }
};
