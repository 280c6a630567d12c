/* SPDX-License-Identifier: MIT
** debug/typed.c: operators of lines typed at a stop.
**
** They are the person's, not the program's: running the program again, a
** script of it for PyTorch, a report leave them out, and the program's numbers
** go on as if nothing had been typed.  But what was typed is to be seen in
** :history.  So such a line fills a small record of its own, which takes the
** place of the program's while the line runs, or until the line asks for the
** record itself; everybody else who listens stays muted. */
#include <string.h>
#include "debug/debug.h"

enum { TYPED = 64 };            /* operators kept */

static void swap_records (DtDebug *d) {
  DtRecord r = d->rec;
  d->rec = d->typed;
  d->typed = r;
}

/* What is typed at a stop is recorded in a ring of its own, so that it does
** not push the program's rows out. Everything the recorder keeps between
** events is put aside in `t`, to be restored by the end of typing: the stop
** may be in the middle of a redistribution. */
void dt_debug_typing (DtDebug *d, DtTyping *t) {
  DtCtx *cx = d->s->cx;
  memset(t, 0, sizeof *t);
  if (d->typing || d->muted != 1 || d->rec.off) return;
  if (d->typed.ring == NULL) {
    d->typed.ring = DT_NEWN(cx, DtRecOp, TYPED);
    if (d->typed.ring == NULL) { dt_error_clear(cx); return; }
    d->typed.cap = TYPED;
    d->typed.id = ++d->nrecords;
  }
  t->on = true;
  t->in_redist = d->in_redist;
  t->redist_implicit = d->redist_implicit;
  t->redist_slot = d->redist_slot;
  t->redist_seq = d->redist_seq;
  t->func = d->func;
  t->composite = d->composite;
  t->composite_depth = d->composite_depth;
  t->names_file = d->names_file;
  t->names_line = d->names_line;
  t->names_op = d->names_op;
  t->scope = d->scope;
  t->from = d->from;
  swap_records(d);
  d->in_redist = false;
  d->func = d->composite = NULL;
  d->from = d->muted_at;
  d->typing = true;
  d->typing_by = t;
}

void dt_debug_typed (DtDebug *d, const DtTyping *t) {
  if (!t->on || !d->typing) return;
  d->typing = false;
  d->rec.cur = NULL;
  swap_records(d);
  d->in_redist = t->in_redist;
  d->redist_implicit = t->redist_implicit;
  d->redist_slot = t->redist_slot;
  d->redist_seq = t->redist_seq;
  d->func = t->func;
  d->composite = t->composite;
  d->composite_depth = t->composite_depth;
  d->names_file = t->names_file;
  d->names_line = t->names_line;
  d->names_op = t->names_op;
  d->scope = t->scope;
  d->from = t->from;
}

void dt_debug_look (DtDebug *d) {
  if (d->typing) dt_debug_typed(d, d->typing_by);
}
