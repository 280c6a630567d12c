/* SPDX-License-Identifier: MIT
** debug/debug.c: the debugger of a session begins and ends, keeps the call
** that failed last, and does not hear what it runs itself. */
#include <string.h>
#include "debug/control.h"
#include "debug/grads.h"
#include "debug/record_int.h"
#include "debug/verify.h"

#define BIT(k) (UINT64_C(1) << DT_EV_##k)
#define MASK (BIT(FUNC) | BIT(FUNC_END) | BIT(OP) | BIT(PROP) | BIT(OP_END) \
  | BIT(REDIST) | BIT(REDIST_END) | BIT(COLL) | BIT(ERROR))

enum { VALUES = 64 << 20 };     /* bytes of values by default */

bool dt_is_python_file (const char *name) {
  size_t n = strlen(name);
  return n > 3 && strcmp(name + n - 3, ".py") == 0;
}

/* --- the failed call --- */

static void failed_clear (DtDebug *d) {
  DtFailed *f = &d->failed;
  DtArenaMark start = { NULL, 0 };
  int i;
  for (i = 0; i < f->nin; i++) dt_var_unref(f->in[i]);
  dt_arena_release(&f->arena, start);
  {
    DtArena keep = f->arena;
    memset(f, 0, sizeof *f);
    f->arena = keep;
  }
}

bool dt_failed_is_path (const char *name) {
  return name != NULL && strpbrk(name, "([ \"'") == NULL;
}

bool dt_failed_make_slots (DtCtx *cx, DtFailed *f, int n) {
  f->in = DT_ANEWN(cx, &f->arena, DtVar *, n + 1);
  f->name = DT_ANEWN(cx, &f->arena, const char *, n + 1);
  f->said = DT_ANEWN(cx, &f->arena, const char *, n + 1);
  f->of = DT_ANEWN(cx, &f->arena, const char *, n + 1);
  f->param = DT_ANEWN(cx, &f->arena, bool, n + 1);
  return f->in && f->name && f->said && f->of && f->param;
}

/* Keep the failed call whole: arguments, inputs, words. */
void dt_debug_failed (DtDebug *d, const DtEvent *e) {
  DtFailed *f = &d->failed;
  DtCtx *cx = d->s->cx;
  DtArena *a = &f->arena;
  int i;
  if (e->op == NULL || e->err == NULL) return;
  if (f->valid && f->fresh && f->seq == e->seq) return;   /* the first counts */
  failed_clear(d);
  f->message = dt_arena_strdup(cx, a, dt_buf_str(&e->err->err.message));
  f->reason = e->err->err.reason;
  f->cause = e->err->err.cause != NULL
    ? dt_arena_strdup(cx, a, e->err->err.cause) : NULL;
  if (!f->message || !dt_failed_make_slots(cx, f, e->nin)) return;
  if (dt_args_copy(cx, a, e->args, &f->args) != DT_OK) return;
  for (i = 0; i < e->nin; i++) f->in[i] = dt_var_ref(e->in[i]);
  f->nin = e->nin;
  f->code = e->status;
  f->op = e->op;
  f->seq = e->seq;
  f->file = e->file; f->line = e->line;
  f->python = d->python || (e->file && dt_is_python_file(e->file));
  f->backward = e->backward;
  f->valid = f->fresh = true;
}

/* --- the debugger --- */

DtStatus dt_debug_new (DtSession *s, int cap, DtDebug **out) {
  DtDebug *d = DT_NEW(s->cx, DtDebug);
  DtStatus st;
  if (d == NULL) return DT_E_NOMEM;
  d->s = s;
  d->rec.limit = VALUES;
  d->rec.values = true;
  st = dt_record_start(d, cap);
  if (st == DT_OK)
    st = dt_event_listen(s, MASK, dt_record_hear, d, &d->listener);
  if (st != DT_OK) {
    dt_record_stop(d);
    dt_free(s->cx, d);
    return st;
  }
  s->debug = d;
  st = dt_grads_new(d);
  if (st != DT_OK) {
    dt_debug_free(s);
    return st;
  }
  if (out) *out = d;
  return DT_OK;
}

void dt_debug_free (DtSession *s) {
  DtDebug *d = dt_debug_of(s);
  if (d == NULL) return;
  dt_control_free(d);
  dt_verify_off(d);
  dt_grads_free(d);
  dt_event_unlisten(s, d->listener);
  failed_clear(d);
  dt_arena_fini(s->cx, &d->failed.arena);
  dt_record_stop(d);
  dt_record_drop(d, &d->last);
  dt_record_drop(d, &d->typed);
  dt_free(s->cx, d);
  s->debug = NULL;
}

void dt_debug_mute (DtDebug *d, DtMute *m) {
  m->seq = d->s->seq;
  m->rng = d->s->rng;
  m->grad = d->s->grad_enabled;
  d->s->grad_enabled = false;
  m->traced = dt_prop_traced_mode(d->s->prop, DT_TRACED_FROZEN);
  if (d->muted++ == 0) d->muted_at = d->s->seq;
  d->muted_bytes = 0;
  d->muted_coll = 0;
}

void dt_debug_unmute (DtDebug *d, const DtMute *m) {
  d->muted--;
  d->s->seq = m->seq;
  d->s->rng = m->rng;
  d->s->grad_enabled = m->grad;
  (void)dt_prop_traced_mode(d->s->prop, m->traced);
}
