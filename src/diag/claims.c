/* SPDX-License-Identifier: MIT
** diag/claims.c: what only several ranks together can know: each claims that
** its data is equal to (or other than) that of a group, by a hash; whoever
** shows findings gathers the claims and has them judged.
**
** Claims of different ranks are matched by operator, script line, group and
** how often that came before, never by operator numbers, which differ where
** one rank did something alone.  What does not match is left alone: a rank
** that went another way is no evidence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

/* An element as a word. */
static uint64_t word_at (const char *p, int64_t size) {
  uint64_t w = 0;
  uint32_t half;
  switch (size) {
    case 4: memcpy(&half, p, sizeof half); return half;
    case 8: memcpy(&w, p, sizeof w); return w;
    default: return dt_hash_bytes(DT_HASH_SEED, p, (size_t)size);
  }
}

/* A hash of a tensor's values, never 0; 0 says that there is nothing to
** compare. With `varied`, a tensor of one repeated value gives 0: equal zeros
** on two ranks are no evidence. Beyond 64 KiB only every step-th value is
** looked at; the step is odd, so as not to run down one column. */
uint64_t dt_diag_hash (const DtTensor *t, bool varied) {
  enum { MAX = 1 << 16 };       /* bytes looked at */
  const DtMeta *m = &t->m;
  int64_t n = dt_meta_numel(m), size, step, i;
  const char *p = dt_tensor_cdata(t);
  uint64_t h = dt_hash_u64(DT_HASH_SEED, (uint64_t)n), first = 0, word;
  bool same = true;
  const bool in_row = dt_meta_is_contiguous(m);
  int d;
  if (p == NULL || n == 0) return 0;
  size = (int64_t)dt_dtype_size((DtDtype)m->dtype);
  if (in_row && n * size <= MAX && !varied)
    return dt_hash_bytes(h, p, (size_t)(n * size)) | 1;
  step = n * size > MAX ? n / (MAX / size) | 1 : 1;
  for (i = 0; i < n; i += step) {
    int64_t rest = i, off = in_row ? i : 0;
    for (d = m->ndim - 1; d >= 0 && !in_row; d--) {
      off += rest % m->shape[d] * m->stride[d];
      rest /= m->shape[d];
    }
    word = word_at(p + off * size, size);
    if (i == 0) first = word;
    else if (word != first) same = false;
    h = dt_hash_u64(h, word);
  }
  return varied && same ? 0 : h | 1;
}

enum { MAX_CLAIMS = 1024, EACH = 8, MAX_GROUP = 1024 };

static void claim_fini (DtDiag *g, DtClaim *c) {
  dt_free(g->s->cx, c->rank);
  dt_free(g->s->cx, c->subject);
}

/* The ranks of a claim, until the next one, *nrank of them; NULL: not several,
** or no memory.  Most claims are folded into one that was made before, which has
** them already. */
static const int *claim_group (DtDiag *g, const DtMesh *mesh, int mdim,
                               int *nrank) {
  int64_t n = mesh == NULL ? dt_session_size(g->s)
            : mdim < 0 ? dt_mesh_size(mesh) : mesh->shape[mdim], i;
  if (n < 2 || n > MAX_GROUP) return NULL;
  if (g->group == NULL && (g->group = DT_NEWN(g->s->cx, int, MAX_GROUP)) == NULL) {
    dt_error_clear(g->s->cx);
    return NULL;
  }
  *nrank = (int)n;
  if (mesh == NULL) {
    for (i = 0; i < n; i++) g->group[i] = (int)i;
  } else if (mdim >= 0) {
    dt_mesh_group(mesh, mdim, mesh->my_rank, g->group);
  } else {
    int64_t *all = DT_NEWN(g->s->cx, int64_t, n);
    if (all == NULL) { dt_error_clear(g->s->cx); return NULL; }
    dt_mesh_ranks(mesh, all);
    for (i = 0; i < n; i++) g->group[i] = (int)all[i];
    dt_free(g->s->cx, all);
  }
  return g->group;
}

static DtClaim *claim_slot (DtDiag *g) {
  if (g->nclaim == MAX_CLAIMS) { g->ndropped++; return NULL; }
  if (g->nclaim == g->capclaim) {
    int cap = g->capclaim ? g->capclaim * 2 : 16;
    DtClaim *c = dt_realloc(g->s->cx, g->claim, (size_t)cap * sizeof *c);
    if (c == NULL) { dt_error_clear(g->s->cx); return NULL; }
    g->claim = c;
    g->capclaim = cap;
  }
  memset(&g->claim[g->nclaim], 0, sizeof *g->claim);
  return &g->claim[g->nclaim++];
}

/* A new claim of the ranks of `group`; NULL: no room, or no memory. */
static DtClaim *claim_put (DtDiag *g, DtClaim *c, const int *group, int n,
                           const char *subject) {
  DtClaim *to = claim_slot(g);
  if (to == NULL) return NULL;
  c->nrank = n;
  c->rank = DT_NEWN(g->s->cx, int, n);
  c->subject = c->rank ? dt_strdup(g->s->cx, subject) : NULL;
  if (c->subject == NULL) {
    g->nclaim--;
    dt_error_clear(g->s->cx);
    claim_fini(g, c);
    return NULL;
  }
  memcpy(c->rank, group, (size_t)n * sizeof *group);
  *to = *c;
  return to;
}

static DtClaim *claim_of (DtDiag *g, uint64_t key) {
  for (int k = 0; k < g->nclaim; k++)
    if (g->claim[k].key == key) return &g->claim[k];
  return NULL;
}

/* Claims of one place and group: the first few each by itself, the others
** folded into the last, so that a long loop stays small.  name NULL: that of `v`, which
** takes long to look up. */
static void claim_one (DtDiag *g, const DtEvent *e, DtFindId id, bool differ,
                       const DtMesh *mesh, int mdim, const DtVar *v, const char *name,
                       uint64_t hash, const char *what) {
  DtClaim c, *last = NULL;
  const int *group;
  uint64_t key;
  int i, n;
  if (!mesh->member || g->s->comm == NULL || dt_session_no_data(g->s) ||
      (group = claim_group(g, mesh, mdim, &n)) == NULL) return;
  key = dt_diag_key(dt_find_kind((int)id), dt_diag_op(e), e->file, e->line);
  key = dt_hash_str(key, what);
  for (i = 0; i < n; i++) key = dt_hash_u64(key, (uint64_t)group[i]);
  last = claim_of(g, dt_hash_u64(key, EACH - 1));      /* most often, in a loop */
  for (i = 0; i < EACH && last == NULL; i++)
    if (claim_of(g, dt_hash_u64(key, (uint64_t)i)) == NULL) break;
  if (last != NULL) {
    uint64_t *h = &last->fact[0].hash;
    *h = *h && hash ? dt_hash_u64(*h, hash) | 1 : 0;
    last->count++;
    return;
  }
  memset(&c, 0, sizeof c);
  c.kind = dt_find_kind((int)id);
  c.nfact = 1;
  c.fact[0] = (DtFact){ differ, hash };
  c.key = dt_hash_u64(key, (uint64_t)i);
  c.count = 1;
  c.seq = e->seq; c.op = dt_diag_op(e); c.file = e->file; c.line = e->line;
  c.module = e->module; c.backward = e->backward; c.what = what;
  if (e->nout > 0 && e->out[0] && e->out[0]->spec) {
    const DtSpec *s = e->out[0]->spec;
    for (; c.npl < s->npl && c.npl < DT_MAX_MDIM; c.npl++)
      c.pl[c.npl] = s->pl[c.npl];
  }
  claim_put(g, &c, group, n, name ? name : dt_diag_name(g, v));
}

void dt_diag_claim_named (DtDiag *g, const DtEvent *e, DtFindId id, bool differ,
                          const DtMesh *mesh, int mdim, const char *name,
                          uint64_t hash, const char *what) {
  claim_one(g, e, id, differ, mesh, mdim, NULL, name, hash, what);
}

void dt_diag_claim (DtDiag *g, const DtEvent *e, DtFindId id, bool differ,
                    const DtMesh *mesh, int mdim, const DtVar *v,
                    uint64_t hash, const char *what) {
  if (!mesh->member || g->s->comm == NULL || dt_session_no_data(g->s)) return;
  claim_one(g, e, id, differ, mesh, mdim, v, NULL, hash, what);
}

/* The key of a claim of `group`, of `n` ranks, at a place. */
static uint64_t key_of (const DtEvent *e, DtFindId id, int64_t salt,
                        const int *group, int n) {
  uint64_t key = dt_diag_key(dt_find_kind((int)id), dt_diag_op(e), e->file, e->line);
  key = dt_hash_u64(key, (uint64_t)salt);
  for (int i = 0; i < n; i++) key = dt_hash_u64(key, (uint64_t)group[i]);
  return key;
}

DtClaim *dt_diag_claim_all (DtDiag *g, const DtEvent *e, DtFindId id,
                            const DtMesh *mesh, int mdim, int64_t salt,
                            int nfact, const DtFact *fact,
                            const char *subject, const char *what) {
  const int *group;
  DtClaim c;
  int i, n;
  if ((mesh && !mesh->member) || g->s->comm == NULL ||
      dt_session_no_data(g->s)) return NULL;
  for (i = 0; i < nfact; i++)
    if (fact[i].hash == 0 && fact[i].same != DT_ADVISES) return NULL;
  if ((group = claim_group(g, mesh, mdim, &n)) == NULL) return NULL;
  memset(&c, 0, sizeof c);
  c.kind = dt_find_kind((int)id);
  c.key = key_of(e, id, salt, group, n);
  if (claim_of(g, c.key) != NULL) return NULL;
  c.nfact = nfact;
  for (i = 0; i < nfact; i++) c.fact[i] = fact[i];
  c.count = 1;
  c.seq = e->seq; c.op = dt_diag_op(e); c.file = e->file; c.line = e->line;
  c.module = e->module; c.backward = e->backward; c.what = what;
  for (i = 0; i < e->nin; i++)  /* results may not have their history yet */
    c.in_graph = c.in_graph || (e->in[i] && dt_var_needs_grad(e->in[i]));
  return claim_put(g, &c, group, n, subject ? subject : "");
}

void dt_diag_claim_often (DtDiag *g, const DtEvent *e, DtFindId id, int64_t salt,
                          int nfact, const DtFact *fact, const char *subject,
                          const char *what) {
  const DtFact first = { true, 2 };
  DtFact facts[DT_FACTS];
  const int *group;
  DtClaim *c = NULL;
  int n;
  if (g->s->comm != NULL && (group = claim_group(g, NULL, -1, &n)) != NULL)
    c = claim_of(g, key_of(e, id, salt, group, n));
  if (c == NULL) {
    memcpy(facts, fact, (size_t)nfact * sizeof *fact);
    facts[nfact] = first;
    dt_diag_claim_all(g, e, id, NULL, -1, salt, nfact + 1, facts, subject, what);
    return;
  }
  for (int i = 0; i < nfact; i++)
    if (c->fact[i].hash && fact[i].hash)
      c->fact[i].hash = dt_hash_u64(c->fact[i].hash, fact[i].hash) | 1;
    else c->fact[i].hash = 0;
  c->fact[nfact].hash++;
}

void dt_diag_claims (DtDiag *g, DtBuf *out) {
  int i, k;
  for (i = 0; i < g->nclaim; i++) {
    const DtClaim *c = &g->claim[i];
    dt_buf_addf(out, "%016llx %lld", (unsigned long long)c->key,
                (long long)c->count);
    for (k = 0; k < c->nfact; k++)
      dt_buf_addf(out, " %llx", (unsigned long long)c->fact[k].hash);
    if (!c->quiet) dt_buf_addf(out, " @%d %s\t%s", c->line, c->op, c->file ? c->file : "");
    dt_buf_addc(out, '\n');
  }
}

/* What the rank's text says under the key of `c`: the hashes of its facts.
** Looked for from *at on, where the ranks agree; *at moves behind it. */
static bool find_claim_in_text (const char *text, const char **at,
                                const DtClaim *c, uint64_t *hash) {
  const char *s = *at && **at ? *at : text, *end;
  char want[20], *next;
  int k;
  snprintf(want, sizeof want, "%016llx ", (unsigned long long)c->key);
  for (int turn = 0; text && *text && turn < 2; turn++) {
    for (; *s; s = end + 1) {
      if ((end = strchr(s, '\n')) == NULL) break;
      if (strncmp(s, want, 17) != 0) continue;
      if (strtoll(s + 17, &next, 10) != c->count) return false;
      for (k = 0; k < c->nfact; k++) hash[k] = strtoull(next, &next, 16);
      *at = end + 1;
      return true;
    }
    s = text;
  }
  return false;
}

/* "[0, 2] [1, 3]": ranks with the same data together. */
static void add_groups (const DtClaim *c, const uint64_t *hash, DtBuf *b) {
  int i, k;
  bool any = false;
  for (i = 0; i < c->nrank; i++) {
    for (k = 0; k < i && hash[k] != hash[i]; k++) ;
    if (k < i || hash[i] == 0) continue;
    dt_buf_addf(b, "%s[%d", any ? " " : "", c->rank[i]);
    any = true;
    for (k = i + 1; k < c->nrank; k++)
      if (hash[k] == hash[i]) dt_buf_addf(b, ", %d", c->rank[k]);
    dt_buf_addc(b, ']');
  }
}

static void report_claim (DtDiag *g, const DtClaim *c, const uint64_t *hash) {
  DtFinding f = { .kind = c->kind, .seq = c->seq, .op = c->op,
                  .file = c->file, .line = c->line, .module = c->module,
                  .backward = c->backward, .in_graph = c->in_graph,
                  .some = c->nrank < dt_session_size(g->s) };
  DtBuf b;
  dt_buf_init(&b, g->s->cx);
  dt_buf_add(&b, c->what);
  if (c->plain || c->lagging) hash = NULL;
  else if (c->fact[0].same) dt_buf_add(&b, ": bitwise the same on ranks ");
  else dt_buf_add(&b, ": ranks with the same data: ");
  if (hash) add_groups(c, hash, &b);
  if (!b.oom)
    dt_diag_put_for(g, &f, c->fix ? c->fix : f.op, c->npl, c->pl, c->subject,
                    dt_buf_str(&b));
  else dt_error_clear(g->s->cx);
  dt_buf_fini(&b);
}

static const char *intern_part (DtDiag *g, const char *from, const char *end) {
  char name[1024];
  const char *kept;
  const size_t n = (size_t)(end - from);
  if (n >= sizeof name) return NULL;
  memcpy(name, from, n);
  name[n] = '\0';
  kept = dt_session_intern(g->s, name);
  if (kept == NULL) dt_error_clear(g->s->cx);
  return kept;
}

/* The place that a rank knows whose line of claims ends before `end`. */
static void adopt_place (DtDiag *g, DtClaim *c, const char *text,
                         const char *end) {
  const char *at = end - 1, *op, *file, *names[2] = { NULL, NULL };
  while (at > text && at[-1] != '\n') at--;
  at = memchr(at, '@', (size_t)(end - at));
  op = at ? memchr(at, ' ', (size_t)(end - at)) : NULL;
  file = op ? memchr(op, '\t', (size_t)(end - op)) : NULL;
  if (file == NULL || file == op + 1) return;
  names[0] = intern_part(g, op + 1, file);
  names[1] = intern_part(g, file + 1, end - 1);
  if (names[0] == NULL || names[1] == NULL) return;
  c->op = names[0];
  c->file = names[1];
  c->line = (int)strtol(at + 1, NULL, 10);
  c->quiet = false;
}

/* Is there one rank alone that has other data, and is it not `but`? */
static bool is_lone (const uint64_t *hash, int n, int but) {
  const uint64_t most = n > 2 && hash[0] != hash[1] ? hash[2] : hash[0];
  int odd = 0, at = -1;
  for (int i = 0; i < n; i++)
    if (hash[i] != most) { odd++; at = i; }
  return n > 2 && odd == 1 && at != but;
}

/* Does each of several values lie on the same number of ranks, more than one? */
static bool is_paired (const uint64_t *hash, int n) {
  int each = 0;
  for (int i = 0; i < n; i++) {
    int k = 0;
    for (int j = 0; j < n; j++) k += hash[j] == hash[i];
    if (i == 0) each = k;
    if (k != each) return false;
  }
  return each > 1 && each < n;
}

/* Do all facts hold?  `hash`: room for the first one's of each rank, 0 of those that
** do not claim it. */
static void judge_claim (DtDiag *g, DtClaim *c, int n, const char *const *text,
                         const char **at, uint64_t *hash, uint64_t (*all)[DT_FACTS]) {
  bool equal[DT_FACTS] = { true, true, true, true, true, true };
  uint64_t first[DT_FACTS], h[DT_FACTS];
  int i, k, said = 0;
  bool advised = false;
  for (i = 0; i < c->nrank; i++) {
    int r = c->rank[i];
    hash[i] = 0;
    if (r >= n || !find_claim_in_text(text[r], &at[r], c, h)) {
      if (c->some && r < n) continue;
      return;
    }
    if (c->quiet) adopt_place(g, c, text[r], at[r]);
    for (k = 0; k < c->nfact; k++) {
      if (h[k] == 0 && c->fact[k].same != DT_ADVISES) return;
      if (said == 0) first[k] = h[k];
      if (h[k] != first[k]) equal[k] = false;
    }
    hash[i] = h[0];
    memcpy(all[i], h, (size_t)c->nfact * sizeof *h);
    said++;
  }
  if (c->some && (said < 2 || (c->some == DT_SOME_NOT_ALL && said == c->nrank)))
    return;
  for (k = 0; k < c->nfact; k++)
    if (c->fact[k].same == DT_ADVISES) advised = equal[k] && first[k] != 0;
    else if (equal[k] != c->fact[k].same) return;
  if (!advised) c->fix = NULL;
  if (c->lone > 0 && !is_lone(hash, c->nrank, c->lone - 1)) return;
  if (c->paired && !is_paired(hash, c->nrank)) return;
  if (c->lagging && !dt_diag_is_lagging(all, c->nrank, c->nfact,
                                        c->lagging == DT_LAGS_ONLY)) return;
  if (!c->quiet && !c->mute) report_claim(g, c, hash);
}

/* The facts are numbers of each rank, to be added up. */
static void judge_sums (DtDiag *g, const DtClaim *c, int n, const char *const *text) {
  DtFinding f = { .kind = c->kind, .seq = c->seq, .op = c->op, .file = c->file,
                  .line = c->line, .module = c->module, .backward = true };
  DtSums *of = DT_NEWN(g->s->cx, DtSums, c->nrank);
  uint64_t h[DT_FACTS];
  double out, in;
  bool all = of != NULL;
  DtBuf b;
  if (!all) dt_error_clear(g->s->cx);
  for (int i = 0; all && i < c->nrank; i++) {
    const char *at = NULL;
    all = c->rank[i] < n && find_claim_in_text(text[c->rank[i]], &at, c, h);
    if (all) memcpy(of[i].fact, h, sizeof of[i].fact);
  }
  if (all && dt_diag_adjoint_fails(c->nrank, of, &out, &in)) {
    dt_buf_init(&b, g->s->cx);
    dt_buf_addf(&b, "%s; here %.6g and %.6g", c->what, out, in);
    if (!b.oom) dt_diag_put_for(g, &f, NULL, 0, NULL, c->subject, dt_buf_str(&b));
    else dt_error_clear(g->s->cx);
    dt_buf_fini(&b);
  }
  dt_free(g->s->cx, of);
}

/* Do the ranks have the same first hash under the claim's key? */
static bool is_equal (const DtClaim *c, int n, const char *const *text) {
  uint64_t h[DT_FACTS], first = 0;
  for (int i = 0; i < c->nrank; i++) {
    const char *at = NULL;
    if (c->rank[i] >= n || !find_claim_in_text(text[c->rank[i]], &at, c, h))
      return true;              /* not known */
    if (i == 0) first = h[0];
    if (h[0] != first) return false;
  }
  return true;
}

/* A line that sums what differs, too, is for every number that a program keeps:
** that some are equal is no mistake. */
static void excuse_lines (DtDiag *g, int n, const char *const *text) {
  for (int i = 0; i < g->nclaim; i++) {
    DtClaim *c = &g->claim[i];
    for (int k = 0; c->line_differs && !c->mute && k < g->nclaim; k++) {
      const DtClaim *o = &g->claim[k];
      if (k != i && o->line_differs && o->kind == c->kind && o->line == c->line &&
          o->nrank == c->nrank && strcmp(o->file, c->file) == 0 &&
          !is_equal(o, n, text)) c->mute = true;
    }
  }
}

void dt_diag_unclaim (DtDiag *g) {
  int i;
  for (i = 0; i < g->nclaim; i++) claim_fini(g, &g->claim[i]);
  g->nclaim = 0;
}

/* By operator; what was judged late goes to its place. */
static void sort_findings (DtDiag *g) {
  int i, k;
  for (i = 1; i < g->n; i++) {
    DtFinding f = g->found[i];
    uint64_t key = g->key[i];
    for (k = i; k > 0 && g->found[k - 1].seq > f.seq; k--) {
      g->found[k] = g->found[k - 1];
      g->key[k] = g->key[k - 1];
    }
    g->found[k] = f;
    g->key[k] = key;
  }
}

void dt_diag_judge (DtDiag *g, int n, const char *const *text) {
  uint64_t *hash = DT_NEWN(g->s->cx, uint64_t, MAX_GROUP);
  uint64_t (*all)[DT_FACTS] = dt_alloc(g->s->cx, MAX_GROUP * sizeof *all);
  const char **at = DT_NEWN(g->s->cx, const char *, n);
  int i;
  if (hash == NULL || all == NULL || at == NULL) dt_error_clear(g->s->cx);
  else excuse_lines(g, n, text);
  for (i = 0; hash && all && at && i < g->nclaim; i++)
    if (g->claim[i].sums) judge_sums(g, &g->claim[i], n, text);
    else judge_claim(g, &g->claim[i], n, text, at, hash, all);
  dt_free(g->s->cx, hash);
  dt_free(g->s->cx, all);
  dt_free(g->s->cx, at);
  dt_diag_unclaim(g);
  sort_findings(g);
}

/* Collective: each rank states its claims as text, all ranks see all of them
** and judge alike. The order of the passes before it matters where one excuses
** what a later one would claim. */
DtStatus dt_diag_settle (DtDiag *g) {
  DtCtx *cx = g->s->cx;
  DtComm *c = g->s->comm;
  DtCollInfo info = { "findings", 0, "", "", "" };
  int n = dt_comm_running(c), i;
  DtStatus st;
  DtBuf b;
  if (n < 2 || dt_session_no_data(g->s)) { dt_diag_unclaim(g); return DT_OK; }
  dt_diag_numbers(g);
  dt_diag_results(g);
  dt_diag_copies(g);
  dt_diag_train(g);
  dt_diag_batch(g);
  dt_diag_shared_loss(g);
  dt_diag_state(g);
  dt_diag_averages(g);
  dt_diag_drifts(g);
  dt_diag_schedule(g);
  dt_diag_groups(g);
  dt_diag_besides(g);
  dt_diag_rates(g);
  dt_diag_answers(g);
  dt_diag_scattered_clips(g);
  dt_buf_init(&b, cx);
  dt_diag_claims(g, &b);
  if (b.oom) dt_error_clear(cx);
  st = dt_comm_gather_text(cx, c->world, &info, dt_buf_str(&b),
                           b.oom ? 0 : b.len, g->text, g->len);
  if (st == DT_OK) dt_diag_judge(g, n, (const char *const *)g->text);
  for (i = 0; st == DT_OK && i < n; i++) dt_free(cx, g->text[i]);
  dt_buf_fini(&b);
  return st;
}

void dt_diag_put_at (DtDiag *g, DtFindId id, const DtOrigin *at, const char *subject,
                     DtBuf *b) {
  const DtFinding f = { .kind = dt_find_kind((int)id), .seq = at->seq,
                        .op = at->op ? at->op : "backward",
                        .file = at->file ? at->file : "", .line = at->line,
                        .module = "" };
  if (!b->oom) dt_diag_put(g, &f, 0, NULL, subject, dt_buf_str(b));
  else dt_error_clear(g->s->cx);
  dt_buf_fini(b);
}

DtEvent dt_diag_origin (const DtOrigin *o, const char *text) {
  return (DtEvent){ .kind = DT_EV_OP, .text = o->op ? o->op : text,
                    .file = o->file ? o->file : "", .line = o->line,
                    .seq = o->seq, .module = "" };
}

const char *dt_diag_intern (DtDiag *g, DtBuf *b) {
  const char *s = b->oom ? NULL : dt_session_intern(g->s, dt_buf_str(b));
  dt_buf_fini(b);
  if (s == NULL) dt_error_clear(g->s->cx);
  return s;
}

const char *dt_diag_kept_name (DtDiag *g, const DtVar *v) {
  const char *s = v ? dt_session_intern(g->s, dt_diag_name(g, v)) : "";
  if (s == NULL) dt_error_clear(g->s->cx);
  return s ? s : "";
}

const char *dt_diag_learn_name (const DtLearn *l) {
  return *l->name ? l->name : "a parameter";
}

const char *dt_diag_learn_words (DtDiag *g, const DtLearn *l, const char *fmt) {
  DtBuf b;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, fmt, dt_diag_learn_name(l),
              l->file ? l->file : "", l->line, l->times);
  return dt_diag_intern(g, &b);
}
