/* SPDX-License-Identifier: MIT
** debug/control.c: decide at each event whether to stop, and be stopped.
**
** Only what steps and breakpoints need is listened to: with neither, there is
** no listener and nothing is paid.  How deep an event lies says what is inside
** what: `next` waits for a begin event that is not deeper than the stop it
** goes on from, `finish` for one that is less deep.  Script lines have no
** depth; for them the number of Lua functions below plays that part. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "debug/control.h"

#define BIT(k) (UINT64_C(1) << DT_EV_##k)

static const uint64_t begins = BIT(FUNC) | BIT(OP) | BIT(REDIST) | BIT(COLL) |
  BIT(KERNEL) | BIT(BACKWARD) | BIT(MODULE);
static const uint64_t calls = BIT(OP) | BIT(FUNC);

static bool is_in (uint64_t set, DtEventKind k) {
  return (set >> k & 1) != 0;
}

/* --- where stepping wants to stop --- */

static bool step_wants (const DtControl *c, const DtEvent *e) {
  bool begin = is_in(begins, e->kind);
  switch (c->way.mode) {
    case DT_GO_STEP: return begin;
    case DT_GO_NEXT: return begin && !c->way.from_line && e->depth <= c->way.depth;
    case DT_GO_FINISH: return begin && !c->way.from_line && e->depth < c->way.depth;
    case DT_GO_OP: return is_in(calls, e->kind);
    case DT_GO_UNTIL:
      return c->way.until > 0 && e->kind == DT_EV_OP && e->seq >= c->way.until;
    default: return false;
  }
}

static bool line_wants (const DtControl *c, const char *file, int line,
                        int level) {
  switch (c->way.mode) {
    case DT_GO_STEP: return true;
    case DT_GO_LINE: return level <= c->way.level;
    case DT_GO_NEXT: return c->way.from_line && level <= c->way.level;
    case DT_GO_FINISH:
      return (c->way.from_line || c->way.depth == 0) && level < c->way.level;
    case DT_GO_UNTIL:
      return c->way.until == 0 && line == c->way.line &&
             (c->way.file == NULL || strcmp(file, c->way.file) == 0);
    default: return false;
  }
}

static bool mode_needs_lines (const DtControl *c) {
  switch (c->way.mode) {
    case DT_GO_STEP: case DT_GO_LINE: return true;
    case DT_GO_NEXT: return c->way.from_line;
    case DT_GO_FINISH: return c->way.from_line || c->way.depth == 0;
    case DT_GO_UNTIL: return c->way.until == 0;
    default: return false;
  }
}

static uint64_t mode_events (const DtControl *c) {
  switch (c->way.mode) {
    case DT_GO_STEP: case DT_GO_NEXT: case DT_GO_FINISH: return begins;
    case DT_GO_OP: case DT_GO_UNTIL: case DT_GO_LINE: case DT_GO_QUIT:
      return calls;
    default: return 0;
  }
}

/* --- listening --- */

static DtStatus on_event (void *ud, DtSession *s, const DtEvent *e);

/* Listen to what some stop may need and to nothing else: each event that is
** heard costs every operator.  To be called after every change of breakpoints,
** mode or what is pending. */
void dt_control_arm (DtControl *c) {
  DtSession *s = c->d->s;
  bool lines = false;
  uint64_t mask = mode_events(c) | dt_bp_events(c, &lines);
  if (c->abort || c->has_pending) mask |= calls;
  if (mask != 0 || lines || c->attached)
    mask |= BIT(OP);                            /* others may ask */
  if (c->attached || c->prompt) mask |= BIT(ERROR);
  lines = lines || mode_needs_lines(c) || c->has_pending;
  if (mask != c->mask) {
    if (c->listener) dt_event_unlisten(s, c->listener);
    c->listener = 0;
    c->mask = 0;
    if (mask != 0 &&
        dt_event_listen(s, mask, on_event, c, &c->listener) != DT_OK)
      dt_error_clear(s->cx);
    else
      c->mask = mask;
  }
  if (lines != c->lines || c->abort) {
    c->lines = lines;
    if (c->h.lines) c->h.lines(c->h.ud, lines);
  }
}

static int level_now (const DtControl *c) {
  return c->h.level ? c->h.level(c->h.ud) : 0;
}

static void ask_others (DtControl *c, bool yes) {
  atomic_int *ask = c->d->s->comm ? dt_comm_ask(c->d->s->comm) : NULL;
  if (ask) atomic_store(ask, yes ? 1 : 0);
}

static bool is_interrupt_asked (const DtControl *c) {
  atomic_int *ask = c->d->s->comm ? dt_comm_ask(c->d->s->comm) : NULL;
  return ask && atomic_load(ask) != 0;
}

/* --- stopping --- */

static void delete_spent (DtControl *c) {
  int i;
  for (i = c->nbp - 1; i >= 0; i--)
    if (c->bp[i].once && c->bp[i].off && c->bp[i].hits > 0)
      (void)dt_bp_delete(c, c->bp[i].id);
}

/* A stop that came to nothing waits for a better place; the others are asked
** to come.  Steps just go on stepping.  The event lies on the stack of who
** sent it and is gone by then. */
static void keep_pending (DtControl *c, const DtStopAt *at) {
  if (at->why == DT_WHY_STEP || at->why == DT_WHY_START ||
      at->why == DT_WHY_ASKED || at->why == DT_WHY_ERROR ||
      at->why == DT_WHY_LUA || c->has_pending)
    return;
  c->pending = *at;
  c->pending.e = NULL;
  c->has_pending = true;
  ask_others(c, true);
}

/* The handler runs inside here, and may itself run operators that stop, so the
** way to go on is kept on both sides. If the handler saw that the stop was not
** for it (`missed`: another rank asked first), the old way is taken up again
** and the stop stays pending. */
static DtStatus stop_here (DtControl *c, DtStopAt *at) {
  DtStopAt *outer = c->at;
  const DtWay outside = c->before, before = c->way;
  DtStatus st;
  at->level = level_now(c);
  c->at = at;
  c->before = before;
  c->way.mode = DT_GO_ON;
  st = c->h.stop(c->h.ud, c, at);
  c->at = outer;
  c->before = outside;
  if (at->missed) {
    c->way.mode = before.mode;
    keep_pending(c, at);
  } else {
    c->has_pending = false;
    c->starting = false;
    ask_others(c, false);
    delete_spent(c);
  }
  dt_control_arm(c);
  if (st == DT_OK && c->abort)
    return dt_raise(c->d->s->cx, DT_E_INTERRUPTED, "interrupted");
  return st;
}

static bool is_prompt_present (const DtControl *c) {
  return c->h.stop && c->h.present && c->h.present(c->h.ud);
}

static void fill_place (DtStopAt *at, const DtEvent *e, const DtSession *s) {
  at->e = e;
  at->file = e->file; at->line = e->line;
  at->seq = e->seq > 0 ? e->seq : s->seq + 1;
  at->depth = e->depth;
}

/* The pending stop, reported where all ranks could come. */
static bool take_pending (DtControl *c, DtStopAt *at) {
  if (c->has_pending) {
    size_t n = strlen(c->pending.note);
    *at = c->pending;
    at->missed = false;
    snprintf(at->note + n, sizeof at->note - n, "%sthat was at %s:%d, op #%lld; "
             "the other ranks could come here only", n > 0 ? "; " : "",
             at->file ? at->file : "?", at->line, (long long)at->seq);
    if (at->own == 0) at->own = -1;     /* all ranks hear of it */
    return true;
  }
  if (!is_interrupt_asked(c)) return false;
  at->why = DT_WHY_ASKED;
  at->own = -1;
  return true;
}

/* A breakpoint that may be true on some ranks only: all come to this place
** before anybody goes on, and know then whether one was hit.  Where they cannot
** come, they are asked to stop. */
static DtStatus keep_pace (DtControl *c, uint64_t place, DtStopAt *at) {
  DtSession *s = c->d->s;
  DtPace p = {true, -1, at->own};
  if (s->comm && !s->comm->no_data)
    DT_TRY(s->cx, dt_comm_pace(s->cx, s->comm, place, at->own, &p));
  if (p.together) at->own = p.id;
  else if (at->own != 0) ask_others(c, true);
  dt_bp_settle(c, at);
  return DT_OK;
}

/* Ranks compare this number, so it is made of names and lines and of no
** address or operator number, in which ranks differ. */
static uint64_t place_of (const DtEvent *e) {
  uint64_t h = dt_hash_u64(DT_HASH_SEED, (uint64_t)e->kind);
  const char *name = e->op && e->op->sig ? e->op->sig->full
    : e->coll ? e->coll : e->text;
  h = dt_hash_u64(h, (uint64_t)e->line);
  h = dt_hash_str(h, e->file ? e->file : "");
  return dt_hash_str(h, name ? name : "");
}

static bool is_stop_wanted (const DtStopAt *at) {
  return at->nhit > 0 || at->note[0] || at->own != 0;
}

/* An error stops where it is raised, unless a Python try or a pcall will
** catch it. Without a debugger attached the stop is a light one: the place
** is noted for :where, nobody is asked.  The message is copied: the prompt
** has errors of its own in the same context. */
static DtStatus on_error (DtControl *c, const DtEvent *e) {
  DtCtx *cx = c->d->s->cx;
  DtStopAt at;
  DtStatus st;
  char *message;
  memset(&at, 0, sizeof at);
  if (c->abort) return DT_OK;
  dt_bp_event(c, e, &at);
  dt_bp_settle(c, &at);
  at.why = DT_WHY_ERROR;
  if (!is_stop_wanted(&at)) {
    if (!c->attached && !c->prompt) return DT_OK;
    if (c->h.caught && c->h.caught(c->h.ud)) return DT_OK;
    at.light = !c->attached;
  }
  fill_place(&at, e, c->d->s);
  message = dt_strdup(cx, dt_buf_str(&cx->err.message));
  at.message = message;
  st = stop_here(c, &at);
  dt_free(cx, message);
  if (st != DT_OK && cx->err.code == DT_OK)
    return dt_raise(cx, st, "interrupted");
  return st;
}

/* Called for every event while a prompt is present, so what is cheap comes
** first and `at` is not cleared as a whole. A condition that differs by
** rank (at.varies) makes all ranks agree here, before the place is known
** to be one. */
static DtStatus on_event (void *ud, DtSession *s, const DtEvent *e) {
  DtControl *c = (DtControl *)ud;
  DtStopAt at;
  if (c->d->muted || !is_prompt_present(c)) return DT_OK;
  if (e->kind == DT_EV_ERROR) return on_error(c, e);
  if (c->abort)
    return dt_raise(s->cx, DT_E_INTERRUPTED, "interrupted");
  at.nhit = 0;
  at.message = NULL;
  at.note[0] = 0;
  at.own = 0;
  at.light = at.fixed = at.missed = at.varies = at.mine = at.step = false;
  at.why = DT_WHY_NONE;
  if (c->nbp) dt_bp_event(c, e, &at);
  if (at.varies) DT_TRY(s->cx, keep_pace(c, place_of(e), &at));
  at.step = step_wants(c, e);
  if (is_stop_wanted(&at)) at.why = DT_WHY_BREAK;
  else if (at.step)
    at.why = c->starting ? DT_WHY_START : DT_WHY_STEP;
  else if (!is_in(calls, e->kind) || !take_pending(c, &at)) return DT_OK;
  fill_place(&at, e, s);
  return stop_here(c, &at);
}

DtStatus dt_control_line (DtControl *c, const char *file, int line,
                          int level) {
  DtStopAt at;
  if (c->d->muted || !is_prompt_present(c)) return DT_OK;
  if (c->abort)
    return dt_raise(c->d->s->cx, DT_E_INTERRUPTED, "interrupted");
  memset(&at, 0, sizeof at);
  dt_bp_line(c, file, line, &at);
  if (at.varies)
    DT_TRY(c->d->s->cx, keep_pace(c, dt_hash_str((uint64_t)line, file), &at));
  at.step = line_wants(c, file, line, level);
  if (is_stop_wanted(&at)) at.why = DT_WHY_BREAK;
  else if (at.step)
    at.why = c->starting ? DT_WHY_START : DT_WHY_STEP;
  else if (!c->has_pending || !take_pending(c, &at)) return DT_OK;
  at.e = NULL;
  at.file = file; at.line = line;
  at.seq = c->d->s->seq + 1;
  at.depth = 0;
  return stop_here(c, &at);
}

DtStatus dt_control_stop (DtControl *c, DtStopWhy why, const char *file,
                          int line, const char *note) {
  DtStopAt at;
  if (c->d->muted || !is_prompt_present(c) || c->abort) return DT_OK;
  memset(&at, 0, sizeof at);
  at.why = why;
  at.file = file; at.line = line;
  at.seq = c->d->s->seq + (why == DT_WHY_LUA ? 0 : 1);
  snprintf(at.note, sizeof at.note, "%s", note ? note : "");
  return stop_here(c, &at);
}

/* --- going on --- */

/* Asked for outside of a stop, every place is less deep than INT_MAX: the
** first event or line will do. */
static void go_from (DtControl *c) {
  const DtStopAt *at = c->at;
  c->resumed = true;
  c->way.depth = at ? at->depth : INT_MAX;
  c->way.level = at ? at->level : INT_MAX;
  c->way.from_line = at && at->e == NULL;
  c->way.file = NULL;
  c->way.line = 0;
  c->way.until = 0;
}

void dt_control_go (DtControl *c, DtStepMode mode) {
  go_from(c);
  c->way.mode = mode;
  if (mode == DT_GO_QUIT) c->abort = true;
  if (c->at == NULL) dt_control_arm(c);
}

void dt_control_until (DtControl *c, int64_t op, const char *file, int line) {
  go_from(c);
  c->way.mode = DT_GO_UNTIL;
  c->way.until = op;
  c->way.file = file;
  c->way.line = line;
  if (c->at == NULL) dt_control_arm(c);
}

void dt_control_resume (DtControl *c) {
  c->resumed = true;
  c->way = c->before;
  if (c->at == NULL) dt_control_arm(c);
}

void dt_control_rest (DtControl *c) {
  c->way.mode = DT_GO_ON;
  c->abort = c->starting = c->has_pending = false;
  ask_others(c, false);
  dt_control_arm(c);
}

/* --- life --- */

DtStatus dt_control_new (DtDebug *d, const DtHooks *h, DtControl **out) {
  DtControl *c = DT_NEW(d->s->cx, DtControl);
  if (c == NULL) return DT_E_NOMEM;
  c->d = d;
  if (h) c->h = *h;
  d->control = c;
  if (out) *out = c;
  return DT_OK;
}

void dt_control_free (DtDebug *d) {
  DtControl *c = d->control;
  if (c == NULL) return;
  if (c->listener) dt_event_unlisten(d->s, c->listener);
  dt_bp_free(c);
  dt_free(d->s->cx, c);
  d->control = NULL;
}
