/* SPDX-License-Identifier: MIT
** debug/repair_move.c: repairs for a call that no strategy fits: a view across
** a sharded dimension, an in-place operator that would have to reduce or move
** what it writes.
**
** An input is redistributed first: addends are reduced, a shard is moved to
** another tensor dimension, or gathered.  Only what works and equals one device
** is kept; the ranks agree on that, for they go on together. */
#include <stdio.h>
#include <string.h>
#include "base/error_shard.h"
#include "base/hash.h"
#include "debug/autopsy.h"
#include "debug/repair_int.h"
#include "debug/verify_int.h"

enum { MOST_TRIES = 10, MOST_KEPT = 4 };

typedef struct Move { DtPlacement pl[DT_MAX_MDIM]; } Move;

typedef struct Moves {
  DtTrial *t;
  DtRepairs *out;
  int tries;
} Moves;

static bool is_movable (const DtVar *v) {
  const DtSpec *s = v->spec;
  if (s == NULL || !s->has_meta || s->npl != s->mesh->ndim) return false;
  for (int m = 0; m < s->npl; m++)
    if (s->pl[m].kind == DT_PL_MASK_PARTIAL) return false;
  return true;
}

/* --- one trial --- */

/* Does every rank say so? */
static DtStatus all_say (Moves *k, bool mine, bool *all) {
  DtSession *s = k->t->d->s;
  char **v = NULL;
  *all = true;
  DT_TRY(s->cx, dt_vf_gather(s, k->t->group, mine ? "1" : "0", &v));
  for (int i = 0; i < k->t->group->size; i++) *all = *all && *v[i] == '1';
  dt_vf_gather_free(s, k->t->group, v);
  return DT_OK;
}

static void add_move (const char *who, const char *on, bool python,
                      const DtVar *v, const Move *m, DtBuf *b) {
  if (b->len) dt_buf_add(b, "; ");
  dt_buf_addf(b, python ? "%s = %s.redistribute(placements=["
                        : "%s = %s:redistribute(", who, who);
  if (!python) dt_buf_addf(b, "%s%s, \"", on ? on : "mesh",
                           on ? ".device_mesh" : "");
  for (int i = 0; i < v->spec->npl; i++) {
    if (i) dt_buf_add(b, python ? ", " : " ");
    if (python) dt_pl_repr(m->pl[i], b);
    else dt_pl_print(m->pl[i], b);
  }
  dt_buf_add(b, python ? "])" : "\")");
}

/* The words of the repair: `slot` moves as `m`; -1: all to Replicate. */
static void word_it (Moves *k, int slot, const Move *m, DtRepair *r) {
  const DtFailed *f = k->t->f;
  DtSession *s = k->t->d->s;
  DtBuf who, lua, py, run;
  bool named = true;
  dt_buf_init(&who, s->cx);
  dt_buf_init(&lua, s->cx);
  dt_buf_init(&py, s->cx);
  dt_buf_init(&run, s->cx);
  for (int i = 0; i < f->nin; i++) {
    bool again = false;
    if (!f->in[i]->spec || (slot >= 0 && f->in[i] != f->in[slot])) continue;
    for (int j = 0; j < i; j++) again = again || f->in[j] == f->in[i];
    if (again || (slot < 0 && dt_spec_is_replicated(f->in[i]->spec))) continue;
    dt_buf_clear(&who);
    dt_trial_name(f, i, &who);
    add_move(dt_buf_str(&who), NULL, false, f->in[i], m, &lua);
    add_move(dt_buf_str(&who), NULL, true, f->in[i], m, &py);
    named = named && dt_trial_is_variable(f->name[i]);
    if (named) add_move(f->name[i], f->name[i], false, f->in[i], m, &run);
  }
  r->lua = dt_trial_words(k->t, k->out, dt_buf_str(&lua));
  r->torch = dt_trial_words(k->t, k->out, dt_buf_str(&py));
  if (named) r->apply = dt_trial_words(k->t, k->out, dt_buf_str(&run));
  dt_buf_fini(&who);
  dt_buf_fini(&lua);
  dt_buf_fini(&py);
  dt_buf_fini(&run);
}

/* Take back what was kept of the last candidate.  `keep` holds the inputs of
** repair number `want` for the caller; when that one is taken back, the next
** candidate gets its number. */
static void forget_candidate (Moves *k) {
  DtTrial *t = k->t;
  k->out->n--;
  if (t->keep == NULL || k->out->n != t->want) return;
  for (int i = 0; i < t->f->nin; i++) {
    dt_var_unref(t->keep[i]);
    t->keep[i] = NULL;
  }
}

/* One candidate: redistribute the inputs, run the call, compare. All ranks
** must agree before each collective step (all_say), since a move may fail on
** one of them only. */
static DtStatus try_move (Moves *k, int slot, const Move *m) {
  DtTrial *t = k->t;
  DtSession *s = t->d->s;
  const DtFailed *f = t->f;
  DtStatus st = DT_OK;
  int64_t bytes;
  DtRepair *r;
  bool all;
  if (k->tries == MOST_TRIES || k->out->n == MOST_KEPT) return DT_OK;
  k->tries++;
  dt_trial_inputs(t, f->in);
  t->d->muted_bytes = 0;
  for (int i = 0; i < f->nin && st == DT_OK; i++) {
    DtVar *v = NULL;
    if (!f->in[i]->spec || (slot >= 0 && f->in[i] != f->in[slot])) continue;
    st = dt_redistribute(s, f->in[i], f->in[i]->spec->mesh,
                         f->in[i]->spec->npl, m->pl, DT_DTYPE_NONE,
                         DT_DTYPE_NONE, &v);
    if (st != DT_OK) break;
    dt_var_unref(t->in[i]);
    t->in[i] = v;
  }
  bytes = t->d->muted_bytes;
  DT_TRY(s->cx, all_say(k, st == DT_OK, &all));
  if (!all) { dt_error_clear(s->cx); return DT_OK; }
  r = dt_trial_repair(k->out);
  word_it(k, slot, m, r);
  dt_trial_run(t, k->out, r);
  r->bytes += bytes;
  DT_TRY(s->cx, all_say(k, dt_repair_good(r), &all));
  if (!all) forget_candidate(k);
  return DT_OK;
}

/* --- candidates --- */

static Move as_it_is (const DtSpec *s) {
  Move m;
  memset(&m, 0, sizeof m);
  for (int i = 0; i < s->npl; i++) m.pl[i] = s->pl[i];
  return m;
}

static bool has_shard_of (const DtSpec *p, int dim) {
  for (int i = 0; i < p->npl; i++)
    if (dt_pl_is_shard_like(p->pl[i]) && p->pl[i].dim == dim) return true;
  return false;
}

static bool is_all_replicated (const DtSpec *p, const Move *m) {
  for (int i = 0; i < p->npl; i++)
    if (!dt_pl_is_replicate(m->pl[i])) return false;
  return true;
}

/* Addends reduced; shards moved to another dim that divides, dim by dim; then
** gathered. */
static DtStatus try_input (Moves *k, int slot) {
  DtSession *s = k->t->d->s;
  const DtSpec *p = k->t->f->in[slot]->spec;
  Move m = as_it_is(p);
  bool partial = false, shard = false;
  for (int i = 0; i < p->npl; i++) {
    if (dt_pl_is_partial(p->pl[i])) {
      m.pl[i] = dt_pl_replicate();
      partial = true;
    } else shard = shard || dt_pl_is_shard_like(p->pl[i]);
  }
  if (partial) DT_TRY(s->cx, try_move(k, slot, &m));
  for (int i = 0; i < p->npl; i++) {
    Move one = m;
    if (!dt_pl_is_shard(p->pl[i]) || p->mesh->shape[i] < 2) continue;
    for (int d = 0; d < p->meta.ndim; d++) {
      if (has_shard_of(p, d) || p->meta.shape[d] % p->mesh->shape[i]) continue;
      one.pl[i] = dt_pl_shard(d);
      DT_TRY(s->cx, try_move(k, slot, &one));
    }
    one.pl[i] = dt_pl_replicate();
    if (!is_all_replicated(p, &one)) DT_TRY(s->cx, try_move(k, slot, &one));
  }
  for (int i = 0; i < p->npl; i++) m.pl[i] = dt_pl_replicate();
  return shard ? try_move(k, slot, &m) : DT_OK;
}

/* What the out-of-place form does, in a line of advice. */
static void out_of_place (Moves *k) {
  DtTrial *t = k->t;
  DtSession *s = t->d->s;
  const DtOpDef *op = t->f->op->base;
  DtResults res;
  DtBuf b;
  int same = 0;
  if (op == NULL || op->sig == NULL || !(t->f->op->flags & DT_OP_INPLACE))
    return;
  memset(&res, 0, sizeof res);
  if (dt_call(s, op, &t->f->args, t->f->nin, t->f->in, &res) != DT_OK ||
      dt_trial_compare(t, &res, &same) != DT_OK)
    dt_error_clear(s->cx);
  else if (same && res.n > 0 && dt_result(&res, 0)) {
    dt_buf_init(&b, s->cx);
    dt_buf_addf(&b, "out of place, %s equals one device and gives ",
                op->sig->full);
    dt_var_print(dt_result(&res, 0), &b);
    k->out->equality = dt_trial_words(t, k->out, dt_buf_str(&b));
    dt_buf_fini(&b);
  }
  dt_results_fini(s, &res);
}

static bool all_movable (const DtFailed *f) {
  for (int i = 0; i < f->nin; i++)
    if (f->in[i]->spec && !is_movable(f->in[i])) return false;
  return !dt_repair_meshes_differ(f);
}

/* Inputs as this rank sees them, a line each. */
static void inputs_text (const DtFailed *f, DtBuf *b) {
  for (int i = 0; i < f->nin; i++) {
    dt_buf_add(b, f->op->sig->full);
    dt_buf_addc(b, ' ');
    dt_trial_name(f, i, b);
    dt_buf_add(b, " is ");
    dt_var_print(f->in[i], b);
    dt_buf_addc(b, '\n');
  }
}

/* "b says ..., a says ...": the first line in which two texts differ. */
static void first_difference (const char *a, const char *z, int ra, int rz,
                              DtBuf *b) {
  int na = (int)strcspn(a, "\n"), nz = (int)strcspn(z, "\n");
  while (na == nz && na > 0 && strncmp(a, z, (size_t)na) == 0) {
    a += na + (a[na] != '\0');
    z += nz + (z[nz] != '\0');
    na = (int)strcspn(a, "\n");
    nz = (int)strcspn(z, "\n");
  }
  dt_buf_addf(b, "the ranks see other tensors: on rank %d %.*s, on rank %d "
              "%.*s", ra, na, a, rz, nz, z);
}

/* Do all ranks make the same call?  Where they do not there is nothing to
** try; a line says what differs. */
static DtStatus same_call (Moves *k, bool *same) {
  DtSession *s = k->t->d->s;
  char **v = NULL;
  DtStatus st;
  DtBuf b;
  *same = true;
  dt_buf_init(&b, s->cx);
  inputs_text(k->t->f, &b);
  st = dt_vf_gather(s, k->t->group, dt_buf_str(&b), &v);
  dt_buf_clear(&b);
  for (int i = 1; st == DT_OK && i < k->t->group->size && *same; i++) {
    *same = strcmp(v[0], v[i]) == 0;
    if (*same) continue;
    first_difference(v[0], v[i], k->t->group->ranks[0], k->t->group->ranks[i], &b);
    k->out->equality = dt_trial_words(k->t, k->out, dt_buf_str(&b));
  }
  dt_buf_fini(&b);
  dt_vf_gather_free(s, k->t->group, v);
  return st;
}

static void fails_alone (DtTrial *t, DtRepairs *out) {
  DtCtx *cx = t->d->s->cx;
  DtBuf b;
  dt_buf_init(&b, cx);
  dt_buf_addf(&b, "on one device it fails, too: %s",
              dt_buf_str(&cx->err.message));
  dt_error_clear(cx);
  out->equality = dt_trial_words(t, out, dt_buf_str(&b));
  dt_buf_fini(&b);
}

/* Is "one device" the same on all ranks?  What should be equal and is not makes
** a reference of each rank's own, and a repair that equals it proves nothing. */
static DtStatus same_inputs (Moves *k, bool *same) {
  DtSession *s = k->t->d->s;
  DtTrial *t = k->t;
  uint64_t h = DT_HASH_SEED;
  char mine[24], **v = NULL;
  *same = true;
  if (t->f->message != NULL) return DT_OK;
  for (int i = 0; i < t->f->nin; i++)
    h = dt_hash_u64(h, (uint64_t)dt_vf_hash(t->full[i]->local));
  snprintf(mine, sizeof mine, "%016llx", (unsigned long long)h);
  DT_TRY(s->cx, dt_vf_gather(s, t->group, mine, &v));
  for (int i = 1; i < t->group->size && *same; i++)
    *same = strcmp(v[0], v[i]) == 0;
  dt_vf_gather_free(s, t->group, v);
  return DT_OK;
}

/* Does a call that did not fail differ from one device with these values?  If
** not, a repair that equals it proves nothing. */
static DtStatus differs_from_one_device (Moves *k, bool *yes) {
  DtTrial *t = k->t;
  DtRepair *r;
  *yes = true;
  if (t->f->message != NULL) return DT_OK;
  dt_trial_inputs(t, t->f->in);
  r = dt_trial_repair(k->out);
  dt_trial_run(t, k->out, r);
  DT_TRY(t->d->s->cx, all_say(k, r->verdict == DT_VD_WRONG, yes));
  forget_candidate(k);
  return DT_OK;
}

/* Repairs of a failed call that move inputs.  Everything before the loop is a
** question that all ranks answer together, also those that have the answer: a
** rank that returned alone would leave the others in their next collective.  One
** input is tried before all of them, and full_tensor() last, as it moves most. */
DtStatus dt_repair_move (DtTrial *t, DtRepairs *out) {
  Moves k = {.t = t, .out = out};
  const DtFailed *f = t->f;
  Move all;
  bool alone, same;
  int ndist = 0;
  DtStatus st;
  if (!all_movable(f) || f->backward) return DT_OK;
  DT_TRY(t->d->s->cx, same_call(&k, &same));
  if (!same) return DT_OK;
  st = dt_trial_one_device(t);
  if (st != DT_OK && dt_vf_fatal(st)) return st;
  if (st != DT_OK) fails_alone(t, out);
  DT_TRY(t->d->s->cx, all_say(&k, t->have_ref, &alone));
  if (!alone) return DT_OK;
  DT_TRY(t->d->s->cx, same_inputs(&k, &same));
  if (!same) return DT_OK;
  DT_TRY(t->d->s->cx, differs_from_one_device(&k, &same));
  if (!same) return DT_OK;
  out_of_place(&k);
  for (int i = 0; i < f->nin; i++) {
    bool again = false;
    if (f->in[i]->spec == NULL) continue;
    for (int j = 0; j < i; j++) again = again || f->in[j] == f->in[i];
    if (again) continue;
    ndist++;
    DT_TRY(t->d->s->cx, try_input(&k, i));
  }
  memset(&all, 0, sizeof all);
  for (int i = 0; i < DT_MAX_MDIM; i++) all.pl[i] = dt_pl_replicate();
  k.tries = 0;
  if (out->n == 0 && ndist > 1)
    DT_TRY(t->d->s->cx, try_move(&k, -1, &all));
  if (out->n == 0 && !(f->op->flags & DT_OP_INPLACE)) dt_trial_full(t, out);
  return DT_OK;
}

/* --- an operator that did not fail --- */

/* What the script calls tensor `id` now, or NULL: of several names the latest,
** of these the first in the alphabet, for all ranks must say the same. */
static const char *name_in_script (DtDebug *d, int64_t id) {
  enum { MOST = 256 };
  const DtRecName *name[MOST], *best = NULL;
  int n = dt_record_names(d, INT64_MAX, name, MOST);
  for (int i = 0; i < n; i++)
    if (name[i]->var == id &&
        (best == NULL || name[i]->seq > best->seq ||
         (name[i]->seq == best->seq && strcmp(name[i]->name, best->name) < 0)))
      best = name[i];
  return best ? best->name : NULL;
}

/* The recorded call, as if it had failed.  Its inputs are revived. */
static DtStatus as_failed (DtDebug *d, const DtRecOp *r, DtFailed *f) {
  DtCtx *cx = d->s->cx;
  memset(f, 0, sizeof *f);
  f->code = DT_E_PROP;
  f->op = r->op;
  f->args = r->args;
  f->seq = r->seq;
  f->file = r->file;
  f->line = r->line;
  if (!dt_failed_make_slots(cx, f, r->nin)) return DT_E_NOMEM;
  for (int i = 0; i < r->nin; i++) {
    DT_TRY(cx, dt_record_revive(d, r->in[i].id, r->seq, &f->in[i]));
    f->name[i] = name_in_script(d, r->in[i].id);
    f->nin++;
  }
  return DT_OK;
}

/* Is it one whose results can be compared, and the same on all ranks? */
static DtStatus is_comparable (DtDebug *d, const DtRecOp *r, bool *ok) {
  DtSession *s = d->s;
  char text[160], **all = NULL;
  bool here = r && r->op && r->done && r->st == DT_OK && r->nout > 0 &&
              !r->backward && !(r->op->flags & DT_OP_RANDOM);
  for (int i = 0; here && i < r->nin; i++)
    here = !r->in[i].none && r->in[i].block != NULL;
  snprintf(text, sizeof text, "%.120s %d", here ? r->label : "", here);
  *ok = here;
  DT_TRY(s->cx, dt_vf_gather(s, s->comm->world, text, &all));
  for (int i = 0; i < s->comm->size; i++)
    *ok = *ok && strcmp(all[i], text) == 0;
  dt_vf_gather_free(s, s->comm->world, all);
  return DT_OK;
}

DtStatus dt_repair_recorded (DtDebug *d, int64_t seq, DtRepairs *out) {
  const DtRecOp *r = seq > 0 ? dt_record_find(d, seq) : NULL;
  DtFailed f;
  DtMute m;
  DtStatus st;
  bool ok;
  memset(out, 0, sizeof *out);
  DT_TRY(d->s->cx, is_comparable(d, r, &ok));
  if (!ok) return DT_OK;
  dt_debug_mute(d, &m);
  st = as_failed(d, r, &f);
  if (st == DT_OK) st = dt_repair_try(d, &f, out);
  for (int i = 0; i < f.nin; i++) dt_var_unref(f.in[i]);
  dt_arena_fini(d->s->cx, &f.arena);
  dt_debug_unmute(d, &m);
  return st;
}
