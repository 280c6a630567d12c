/* SPDX-License-Identifier: MIT
** repl/stream.c: the thread of rank 0's process that shows what ranks print.
**
** What a rank has sent lies in `text`, in sections: one for each stretch
** between two agreements of all ranks, numbered alike on all of them.  A section
** is complete when every rank has passed its number, and is folded and shown on
** its own.  Of the first incomplete one, lines that all ranks share are shown at
** once: folding would begin with them anyway (dt_fold_head), so that when they
** were shown changes nothing. */
#include "repl/stream.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "repl/fold.h"

enum {
  LOOK_MS = 20,                 /* between looks while something is undecided */
  PATIENCE_MS = 300,            /* undecided text is shown after that: to a */
  PATIENCE_PIPE_MS = 2000       /* person, into a pipe or file */
};

static const uint64_t last_section = UINT64_MAX;      /* the end of the chunk */

typedef struct Section { uint64_t number; size_t end; } Section;

/* What one rank has sent: section i ends at text[section[i].end]. */
typedef struct Sent {
  DtBuf text;
  Section *section;
  int n, room;
} Sent;

struct DtStream {
  DtCtx *cx;                    /* its own: used under the lock only */
  DtComm *comm;
  DtOutput *out;
  pthread_mutex_t lock;         /* of all that follows */
  pthread_t thread;
  bool threaded, quit, live, raw, streamed;
  int n;
  Sent *sent;
  const char **part;            /* scratch: a text of each rank, */
  int *rank;                    /* its number, */
  uint64_t *passed;             /* and where it is */
  DtBuf last;                   /* the block the output ends with (dt_fold) */
  uint64_t until;               /* numbers of sections of later chunks */
  uint64_t begun, moved;        /* ms: of the chunk; when text was shown, or
                                ** came and there was none */
};

static uint64_t now_ms (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* --- what was sent ------------------------------------------------------ */

static DtStatus make_room (DtStream *s, Sent *x) {
  if (x->n == x->room) {
    int room = x->room > 0 ? 2 * x->room : 8;
    Section *v = DT_NEWN(s->cx, Section, room);
    if (v == NULL)
      return DT_E_NOMEM;
    if (x->n > 0)
      memcpy(v, x->section, (size_t)x->n * sizeof *v);
    dt_free(s->cx, x->section);
    x->section = v;
    x->room = room;
  }
  return DT_OK;
}

/* Text was added to x->text: it belongs to section `number`. */
static DtStatus mark_section (DtStream *s, Sent *x, uint64_t number) {
  if (make_room(s, x) != DT_OK || dt_buf_ok(&x->text) != DT_OK)
    return DT_E_NOMEM;
  if (x->n == 0 || x->section[x->n - 1].number != number)
    x->section[x->n++].number = number;
  x->section[x->n - 1].end = x->text.len;
  return DT_OK;
}

/* A section of its own behind those below `limit`: a rank may be in the next
** chunk already, and have printed there. */
static DtStatus insert_section (DtStream *s, Sent *x, uint64_t limit,
                                const char *text) {
  size_t n = strlen(text), at;
  int i = 0;
  while (i < x->n && x->section[i].number < limit)
    i++;
  at = i > 0 ? x->section[i - 1].end : 0;
  dt_buf_add(&x->text, text);
  if (make_room(s, x) != DT_OK || dt_buf_ok(&x->text) != DT_OK)
    return DT_E_NOMEM;
  memmove(x->text.s + at + n, x->text.s + at, x->text.len - at - n);
  memcpy(x->text.s + at, text, n);
  for (int k = x->n++; k > i; k--)
    x->section[k] = (Section){x->section[k - 1].number,
                              x->section[k - 1].end + n};
  x->section[i] = (Section){limit - 1, at + n};
  return DT_OK;
}

static DtStatus take_all (DtStream *s) {
  DtStatus st = DT_OK;
  for (int r = 0; r < s->n; r++) {
    uint64_t number;
    while (dt_comm_take_text(s->comm, r, &number, &s->sent[r].text)) {
      DtStatus one = mark_section(s, &s->sent[r], number);
      st = st != DT_OK ? st : one;
    }
  }
  return st;
}

/* Forget the first n bytes. */
static void drop_text (Sent *x, size_t n) {
  int k = 0;
  if (n == 0)
    return;
  memmove(x->text.s, x->text.s + n, x->text.len - n + 1);
  x->text.len -= n;
  for (int i = 0; i < x->n; i++)
    if (x->section[i].end > n)
      x->section[k++] = (Section){x->section[i].number, x->section[i].end - n};
  x->n = k;
}

/* The smallest number of a section that any rank has; false: none has. */
static bool find_first (const DtStream *s, uint64_t *number) {
  bool any = false;
  *number = 0;
  for (int r = 0; r < s->n; r++) {
    const Sent *x = &s->sent[r];
    if (x->n > 0 && (!any || x->section[0].number < *number)) {
      *number = x->section[0].number;
      any = true;
    }
  }
  return any;
}

static size_t section_bytes (const Sent *x, uint64_t number) {
  return x->n > 0 && x->section[0].number == number ? x->section[0].end : 0;
}

/* --- showing ------------------------------------------------------------ */

/* Section `number` of all ranks, folded, to `out`.  Texts are cut at the
** section's end by a zero byte for as long as they are folded; what stood
** there is put back. */
static DtStatus fold_section (DtStream *s, uint64_t number, DtBuf *out) {
  char *cut = DT_NEWN(s->cx, char, s->n);
  DtStatus st = cut == NULL ? DT_E_NOMEM : DT_OK;
  for (int r = 0; r < s->n && cut != NULL; r++) {
    Sent *x = &s->sent[r];
    size_t n = section_bytes(x, number);
    s->part[r] = n > 0 ? x->text.s : "";
    if (n > 0) {
      cut[r] = x->text.s[n];
      x->text.s[n] = '\0';
    }
  }
  if (st == DT_OK && s->raw && s->n > 1)
    dt_fold_raw(s->n, s->rank, s->part, out);
  else if (st == DT_OK)
    st = dt_fold(s->cx, s->n, s->rank, s->part, &s->last, out);
  for (int r = 0; r < s->n && cut != NULL; r++) {
    Sent *x = &s->sent[r];
    size_t n = section_bytes(x, number);
    if (n > 0)
      x->text.s[n] = cut[r];
    drop_text(x, n);
  }
  dt_free(s->cx, cut);
  return st != DT_OK ? st : dt_buf_ok(out);
}

/* All sections whose numbers are below `limit`, in their order. */
static DtStatus fold_below (DtStream *s, uint64_t limit, DtBuf *out) {
  DtStatus st = DT_OK;
  uint64_t number;
  while (st == DT_OK && find_first(s, &number) && number < limit)
    st = fold_section(s, number, out);
  return st;
}

/* Lines that all ranks share at the head of their first section. */
static void show_head (DtStream *s, DtBuf *out) {
  uint64_t number;
  if (!find_first(s, &number) || number >= s->until)
    return;
  size_t least = SIZE_MAX;
  for (int r = 0; r < s->n; r++) {
    size_t n = section_bytes(&s->sent[r], number);
    least = n < least ? n : least;
    s->part[r] = dt_buf_str(&s->sent[r].text);
  }
  size_t head = least == 0 ? 0 : dt_fold_head(s->n, s->part);
  while (head > least)          /* lines of a later section are not common */
    for (head--; head > 0 && s->part[0][head - 1] != '\n'; )
      head--;
  if (head == 0)
    return;
  dt_buf_addn(out, s->part[0], head);
  dt_buf_clear(&s->last);
  for (int r = 0; r < s->n; r++)
    drop_text(&s->sent[r], head);
}

static void write_out (DtStream *s, DtBuf *out) {
  if (out->len == 0)
    return;
  dt_output_write_live(s->out, s->cx, dt_buf_str(out), out->len);
  s->moved = now_ms();
  s->streamed = true;
}

/* Where all ranks are; before text is taken, see dt_comm_passed(). */
static void read_passed (DtStream *s) {
  for (int r = 0; r < s->n; r++)
    s->passed[r] = dt_comm_passed(s->comm, r);
}

/* All ranks but `one` (-1: all) are past sections with smaller numbers. */
static uint64_t find_limit (const DtStream *s, int one) {
  uint64_t least = s->until;
  for (int r = 0; r < s->n; r++)
    if (r != one && s->passed[r] < least)
      least = s->passed[r];
  return least;
}

/* The first section is incomplete, but only this rank has printed in it, and
** only this rank still can: -1, none. */
static int find_only_speaker (const DtStream *s) {
  uint64_t number;
  int only = -1;
  if (!find_first(s, &number))
    return -1;
  for (int r = 0; r < s->n; r++) {
    if (section_bytes(&s->sent[r], number) == 0)
      continue;
    if (only >= 0)
      return -1;
    only = r;
  }
  return number < find_limit(s, only) ? only : -1;
}

/* One look: true when text is left that was not decided.  Where ranks are is
** read before what they sent (read_passed, then take_all): the other way
** round a rank could print and pass in between, and its text would be
** missing from a section that looks complete. */
static bool look (DtStream *s) {
  uint64_t number, now = now_ms();
  bool idle = !find_first(s, &number);
  int patience = s->out->watched ? PATIENCE_MS : PATIENCE_PIPE_MS;
  DtBuf out;
  dt_buf_init(&out, s->cx);
  read_passed(s);
  (void)take_all(s);
  if (idle)
    s->moved = now;
  if (s->live && now >= s->begun) {
    (void)fold_below(s, find_limit(s, -1), &out);
    if (!s->raw || s->n == 1)   /* raw: rank by rank, whole sections */
      show_head(s, &out);
    if (find_only_speaker(s) >= 0 && find_first(s, &number))
      (void)fold_section(s, number, &out);
    if (out.len == 0 && now - s->moved >= (uint64_t)patience)
      (void)fold_below(s, s->until, &out);
    write_out(s, &out);
  }
  dt_buf_fini(&out);
  return find_first(s, &number) && s->live;
}

static void *run_stream (void *ud) {
  DtStream *s = ud;
  bool more = false, quit = false;
  while (!quit) {
    unsigned bell = dt_comm_text_bell(s->comm);
    pthread_mutex_lock(&s->lock);
    quit = s->quit;
    more = !quit && look(s);
    pthread_mutex_unlock(&s->lock);
    if (!quit)
      dt_comm_text_sleep(s->comm, bell, more ? LOOK_MS : -1);
  }
  return NULL;
}

/* --- rank 0's end ------------------------------------------------------- */

/* Signals are for the ranks. */
static bool start_thread (DtStream *s) {
  sigset_t all, was;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &was);
  bool ok = pthread_create(&s->thread, NULL, run_stream, s) == 0;
  pthread_sigmask(SIG_SETMASK, &was, NULL);
  return ok;
}

/* Output of the ranks while they run: a thread on rank 0 folds equal lines
** of several ranks together. It has a context of its own, since the rank's
** own is in use.  Ranks send only when somebody takes text
** (dt_comm_text_open): without a thread all is shown at the end of the
** chunk. */
DtStatus dt_stream_new (DtCtx *cx, DtComm *c, DtOutput *o, DtStream **out) {
  DtStream *s = DT_NEW(cx, DtStream);
  if (s == NULL)
    return DT_E_NOMEM;
  *out = s;
  s->comm = c;
  s->out = o;
  s->n = c->size;
  pthread_mutex_init(&s->lock, NULL);
  DtStatus st = dt_ctx_new(&s->cx);
  if (st == DT_OK) {
    dt_buf_init(&s->last, s->cx);
    s->sent = DT_NEWN(s->cx, Sent, s->n);
    s->part = DT_NEWN(s->cx, const char *, s->n);
    s->rank = DT_NEWN(s->cx, int, s->n);
    s->passed = DT_NEWN(s->cx, uint64_t, s->n);
  }
  if (st != DT_OK || s->sent == NULL || s->part == NULL || s->rank == NULL ||
      s->passed == NULL) {
    dt_stream_free(cx, s);
    *out = NULL;
    return DT_E_NOMEM;
  }
  for (int r = 0; r < s->n; r++) {
    dt_buf_init(&s->sent[r].text, s->cx);
    s->rank[r] = r;
  }
  s->threaded = start_thread(s);
  dt_comm_text_open(c, s->threaded);
  return DT_OK;
}

void dt_stream_begin (DtStream *s, bool raw, int delay_ms) {
  pthread_mutex_lock(&s->lock);
  s->raw = raw;
  s->live = true;
  s->until = ((uint64_t)s->comm->epoch + 1) << 32;
  s->begun = s->moved = now_ms() + (uint64_t)delay_ms;
  pthread_mutex_unlock(&s->lock);
  dt_comm_text_wake(s->comm);   /* other ranks may have printed already */
}

/* What is left is printed up to the meeting of all ranks; equal sections of
** ranks are folded, the rest is labelled. */
DtStatus dt_stream_end (DtStream *s, const char *const *text) {
  /* Ranks are past their meeting, or it never comes. */
  uint64_t limit = s->comm->dead ? last_section
                                 : (uint64_t)s->comm->epoch << 32;
  pthread_mutex_lock(&s->lock);
  DtStatus st = take_all(s);
  DtBuf out;
  dt_buf_init(&out, s->cx);
  for (int r = 0; r < s->n; r++) {
    Sent *x = &s->sent[r];
    if (text == NULL)
      drop_text(x, x->text.len);
    else if (text[r][0] != '\0' && st == DT_OK)
      st = insert_section(s, x, limit, text[r]);
  }
  if (st == DT_OK)
    st = fold_below(s, limit, &out);
  if (s->streamed)
    write_out(s, &out);
  else
    dt_output_write(s->out, DT_OUT_RESULT, dt_buf_str(&out), out.len);
  dt_buf_fini(&out);
  dt_buf_clear(&s->last);
  s->live = s->streamed = false;
  pthread_mutex_unlock(&s->lock);
  return st;
}

/* The thread is woken and joined before anything that it reads is freed. */
void dt_stream_free (DtCtx *cx, DtStream *s) {
  if (s == NULL)
    return;
  if (s->threaded) {
    dt_comm_text_open(s->comm, false);
    pthread_mutex_lock(&s->lock);
    s->quit = true;
    pthread_mutex_unlock(&s->lock);
    dt_comm_text_wake(s->comm);
    pthread_join(s->thread, NULL);
  }
  for (int r = 0; r < s->n && s->sent != NULL; r++) {
    dt_buf_fini(&s->sent[r].text);
    dt_free(s->cx, s->sent[r].section);
  }
  if (s->cx != NULL) {
    dt_free(s->cx, s->sent);
    dt_free(s->cx, s->part);
    dt_free(s->cx, s->rank);
    dt_free(s->cx, s->passed);
    dt_buf_fini(&s->last);
    dt_ctx_free(s->cx);
  }
  pthread_mutex_destroy(&s->lock);
  dt_free(cx, s);
}
