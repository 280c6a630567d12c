/* SPDX-License-Identifier: MIT
** repl/notes.c: a listener that counts the collectives of each operator.
** It counts by (operator number, collective, mesh dimension), because one
** operator may redistribute several arguments by the same collective. */
#include "repl/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "debug/debug.h"

enum { MAX_NOTES = 12 };       /* a script has hundreds: the ledger sums */

typedef struct Note {
  int64_t seq, bytes;
  int count;
  bool implicit;
  char op[64], coll[40], dim[24];
} Note;

struct DtNotes {
  DtSession *s;
  int id;
  bool on, moving, implicit;
  char op[64];                  /* the operator that runs */
  int n, more;
  int64_t more_bytes;
  Note note[MAX_NOTES];
};

static void set_text (char *dst, size_t size, const char *src) {
  size_t n = src != NULL ? strlen(src) : 0;
  if (n >= size)
    n = size - 1;
  if (n > 0)
    memcpy(dst, src, n);
  dst[n] = '\0';
}

/* Bytes as the note prints them: the same on every rank, also where only one
** rank sends. */
static int64_t bytes_of (const DtEvent *e) {
  if (strcmp(e->coll, "scatter_") == 0 || strcmp(e->coll, "broadcast_") == 0)
    return e->bytes_out;
  return e->bytes_in;
}

/* Collectives of one operator over one mesh dimension are one note; beyond
** MAX_NOTES only their number and bytes are counted. */
static void count_event (DtNotes *n, const DtEvent *e) {
  char dim[24] = "";
  if (e->mesh != NULL && e->mdim >= 0 && e->mdim < e->mesh->ndim) {
    if (e->mesh->name[e->mdim] != NULL)
      set_text(dim, sizeof dim, e->mesh->name[e->mdim]);
    else
      snprintf(dim, sizeof dim, "dim %d", e->mdim);
  }
  for (int i = n->n - 1; i >= 0 && n->note[i].seq == e->seq; i--) {
    Note *k = &n->note[i];
    if (strcmp(k->coll, e->coll) == 0 && strcmp(k->dim, dim) == 0) {
      k->count++;
      k->bytes += bytes_of(e);
      return;
    }
  }
  if (n->n == MAX_NOTES) {
    n->more++;
    n->more_bytes += bytes_of(e);
    return;
  }
  Note *k = &n->note[n->n++];
  k->seq = e->seq;
  k->bytes = bytes_of(e);
  k->count = 1;
  k->implicit = n->implicit;
  set_text(k->op, sizeof k->op, n->moving && !*n->op ? "redistribute" : n->op);
  set_text(k->coll, sizeof k->coll, e->coll);
  memcpy(k->dim, dim, sizeof dim);
}

/* Collects for the dim line below a result what each operator moved; events of
** tried repairs are not the program's. */
static DtStatus on_event (void *ud, DtSession *s, const DtEvent *e) {
  DtNotes *n = ud;
  const DtDebug *d = dt_debug_of(s);
  if (!n->on || (d != NULL && d->muted > 0))    /* tried repairs are ours */
    return DT_OK;
  switch (e->kind) {
    case DT_EV_OP:
      if (e->op != NULL && e->op->sig != NULL) {
        set_text(n->op, sizeof n->op, e->op->sig->full);
        char *dflt = strstr(n->op, ".default");
        if (dflt != NULL)
          *dflt = '\0';
      }
      break;
    case DT_EV_FUNC:
      if (e->op == NULL && e->text != NULL)
        set_text(n->op, sizeof n->op, e->text);
      break;
    case DT_EV_OP_END: case DT_EV_FUNC_END: n->op[0] = '\0'; break;
    case DT_EV_REDIST:
      n->moving = true;
      n->implicit = e->implicit;
      break;
    case DT_EV_REDIST_END: n->moving = n->implicit = false; break;
    case DT_EV_COLL:
      if (e->coll != NULL)
        count_event(n, e);
      break;
    default: break;
  }
  return DT_OK;
}

DtStatus dt_notes_new (DtSession *s, DtNotes **out) {
  DtNotes *n = DT_NEW(s->cx, DtNotes);
  if (n == NULL)
    return DT_E_NOMEM;
  n->s = s;
  n->id = -1;
  *out = n;
  return DT_OK;
}

void dt_notes_enable (DtNotes *n, bool on) {
  static const uint64_t mask = 1u << DT_EV_FUNC | 1u << DT_EV_FUNC_END |
    1u << DT_EV_OP | 1u << DT_EV_OP_END |
    1u << DT_EV_REDIST | 1u << DT_EV_REDIST_END | 1u << DT_EV_COLL;
  if (on && !n->on) {
    if (dt_event_listen(n->s, mask, on_event, n, &n->id) != DT_OK)
      dt_error_clear(n->s->cx);
    else
      n->on = true;
  } else if (!on && n->on) {
    dt_event_unlisten(n->s, n->id);
    n->on = false;
  }
}

void dt_notes_free (DtNotes *n) {
  if (n == NULL)
    return;
  dt_notes_enable(n, false);
  dt_free(n->s->cx, n);
}

void dt_notes_take (DtNotes *n, DtBuf *out) {
  for (int i = 0; i < n->n; i++) {
    const Note *k = &n->note[i];
    if (k->seq > 0)
      dt_buf_addf(out, "#%" PRId64 " ", k->seq);
    if (k->op[0] != '\0')
      dt_buf_addf(out, "%s: ", k->op);
    dt_buf_addf(out, "%d %s", k->count, k->coll);
    if (k->dim[0] != '\0')
      dt_buf_addf(out, " on %s", k->dim);
    dt_buf_addf(out, ", %" PRId64 " B/rank%s\n", k->bytes,
                k->implicit ? ", implicit" : "");
  }
  if (n->more > 0)
    dt_buf_addf(out, "# and %d more collectives, %" PRId64 " B/rank; :ledger "
                "sums them up\n", n->more, n->more_bytes);
  n->n = n->more = 0;
  n->more_bytes = 0;
}
