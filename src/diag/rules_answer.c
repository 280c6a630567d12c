/* SPDX-License-Identifier: MIT
** diag/rules_answer.c: gradients that come back for what was sent, as between the
** stages of a pipeline.
**
** A stage sends what it has computed, and later goes backward from it with a
** gradient that another rank sends back.  Which message that gradient answers, only
** the rank knows that took the gradient of what had come.  Messages are known by
** their data: both ranks claim, under the data that were sent, the data of the
** gradient, and the claims are equal unless the stage took the gradient of one
** micro-batch for that of another.  What is sent twice tells nothing, nor does a
** gradient that was changed on its way, or that goes to another rank than the data
** came from, as where a rank hands on what it got and adds to its gradient.
**
** Of two tensors that a stage gets in each step, the gradient of one is sent back each
** time, that of the other is neither sent nor looked at: the stage before learns
** without it. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

enum { ANSWERS = 64, SEEN = 256 };

/* What was sent, or came, and the gradient that it was given. */
typedef struct Answer {
  uint64_t data, grad;
  bool back;                    /* it was sent, and the gradient came back */
  bool given;                   /* the gradient was sent; or one only came */
  int peer;                     /* the other rank */
  const char *name;
  DtOrigin at;                  /* where the gradient was taken */
  int64_t storage; bool read;   /* of what came: the gradient's memory; an operator
                                ** took it */
  DtOrigin came_at, sent_at;    /* ... where that came, and the gradient was sent */
} Answer;

/* Messages, the rank at their other end and where they were sent or received; the last
** of many. */
typedef struct Message { uint64_t data; int peer; DtOrigin at; } Message;
typedef struct Seen { int n; Message v[SEEN]; } Seen;

struct DtAnswers {
  Seen sent, came;
  int n;
  Answer v[ANSWERS];
};

void dt_diag_answers_free (DtDiag *g) {
  dt_free(g->s->cx, g->answers);
  g->answers = NULL;
  g->nanswers = 0;
}

static struct DtAnswers *answers_of (DtDiag *g) {
  if (g->answers == NULL &&
      (g->answers = DT_NEW(g->s->cx, struct DtAnswers)) == NULL)
    dt_error_clear(g->s->cx);
  return g->answers;
}

/* What was sent, or came, once; NULL: not, or more often. */
static const Message *message_of (const Seen *s, uint64_t data) {
  const Message *m = NULL;
  for (int i = 0; i < s->n && i < SEEN; i++) {
    if (s->v[i].data != data) continue;
    if (m != NULL) return NULL;
    m = &s->v[i];
  }
  return m;
}

/* Its other rank; -1: none. */
static int peer_of (const Seen *s, uint64_t data) {
  const Message *m = message_of(s, data);
  return m ? m->peer : -1;
}

static void keep_seen (DtDiag *g, Seen *s, uint64_t data, int peer) {
  s->v[s->n++ % SEEN] = (Message){ data, peer, dt_diag_here(g, "message") };
}

/* That of `data`, or a new one; NULL: there are enough. */
static Answer *answer_to (struct DtAnswers *a, uint64_t data, int peer, bool back) {
  for (int i = 0; i < a->n; i++)
    if (a->v[i].data == data && a->v[i].back == back) return &a->v[i];
  if (a->n == ANSWERS) return NULL;
  a->v[a->n] = (Answer){ .data = data, .peer = peer, .back = back, .name = "" };
  return &a->v[a->n++];
}

/* 0 says nothing: no elements, or all of them the same. */
static uint64_t data_of (const DtVar *v) {
  return v && !v->spec ? dt_diag_hash(v->local, true) : 0;
}

void dt_diag_answer_sent (DtDiag *g, int to, const DtVar *v) {
  struct DtAnswers *a = answers_of(g);
  const uint64_t hash = a ? data_of(v) : 0;
  if (v) dt_diag_gradient_passed(g, v);
  g->nmessage++;
  if (hash == 0) return;
  for (int i = 0; i < a->n; i++)
    if (a->v[i].grad == hash && a->v[i].peer == to && !a->v[i].back) {
      a->v[i].given = true;
      a->v[i].sent_at = dt_diag_here(g, "send");
    } else if (a->v[i].storage == v->local->storage->id) a->v[i].read = true;
  keep_seen(g, &a->sent, hash, to);
}

void dt_diag_answer_came (DtDiag *g, int from, const DtVar *v) {
  struct DtAnswers *a = answers_of(g);
  const uint64_t hash = a ? data_of(v) : 0;
  g->nmessage++;
  if (hash == 0) return;
  g->nanswers++;
  keep_seen(g, &a->came, hash, from);
}

/* What came gets its gradient. */
static void on_gradient (DtDiag *g, const DtEvent *e) {
  const DtVar *leaf = e->nin > 0 ? e->in[0] : NULL;
  const Message *came;
  uint64_t hash;
  Answer *to;
  if (leaf == NULL || leaf->is_param || e->nout < 1 || e->out[0] == NULL ||
      (hash = data_of(leaf)) == 0 ||
      (came = message_of(&g->answers->came, hash)) == NULL ||
      (to = answer_to(g->answers, hash, came->peer, false)) == NULL) return;
  to->name = dt_diag_kept_name(g, leaf);
  to->grad = data_of(e->out[0]);
  to->at = dt_diag_here(g, "backward");
  to->storage = e->out[0]->local->storage->id;
  to->came_at = came->at;
  to->given = to->read = false;
}

/* An operator takes a gradient of what came. */
static void on_read (DtDiag *g, const DtEvent *e) {
  struct DtAnswers *a = g->answers;
  for (int k = 0; a && !e->backward && k < a->n; k++)
    for (int i = 0; a->v[k].storage != 0 && i < e->nin; i++)
      if (e->in[i] && e->in[i]->local->storage->id == a->v[k].storage)
        a->v[k].read = true;
}

/* Backward from what was sent, with a gradient that came from where it was sent. */
static void on_backward (DtDiag *g, const DtEvent *e) {
  const DtVar *root = e->nin == 1 ? e->in[0] : NULL;
  const DtVar *seed = e->nout == 1 && e->out ? e->out[0] : NULL;
  uint64_t data, grad;
  int peer;
  Answer *to;
  if (root == NULL || seed == NULL || (data = data_of(root)) == 0 ||
      (grad = data_of(seed)) == 0 || (peer = peer_of(&g->answers->sent, data)) < 0 ||
      peer_of(&g->answers->came, grad) != peer ||
      (to = answer_to(g->answers, data, peer, true)) == NULL) return;
  to->name = dt_diag_kept_name(g, root);
  to->at = dt_diag_here(g, "backward");
  to->given = to->grad == 0 || to->grad == grad;
  to->grad = grad;
}

static void claim_answer (DtDiag *g, const Answer *a) {
  const DtFact fact = { false, a->grad };
  /* Of no line: the other rank has it at another one. */
  DtEvent e = { .kind = DT_EV_OP, .text = "backward", .file = "", .module = "" };
  const int me = g->s->comm->rank, from = a->back ? me : a->peer;
  const uint64_t way = dt_hash_u64(dt_hash_u64(a->data, (uint64_t)from),
                                   (uint64_t)(a->back ? a->peer : me));
  DtClaim *c = dt_diag_claim_all(g, &e, DT_FIND_ID_OTHERS_ANSWER, NULL, -1,
                                 (int64_t)way, 1, &fact, a->name,
                                 "the gradient that is taken for what was sent is not "
                                 "the one that was sent back for it");
  if (c == NULL) return;
  c->some = DT_SOME;
  c->quiet = !a->back;
  c->file = a->at.file;
  c->line = a->at.line;
  c->seq = a->at.seq;
}

static bool came_alike (const Answer *a, const Answer *b) {
  return !a->back && !b->back && a->peer == b->peer &&
         a->came_at.line == b->came_at.line && a->came_at.file == b->came_at.file;
}

/* How often the gradient of what came where `one` did was sent back (or, `kept`, neither
** sent nor read); -1: it was not so each time. */
static int times_of (const struct DtAnswers *a, const Answer *one, bool kept) {
  int n = 0;
  for (int i = 0; i < a->n; i++) {
    const Answer *v = &a->v[i];
    if (!came_alike(v, one)) continue;
    if (v->grad == 0 || v->given == kept || (kept && v->read)) return -1;
    n++;
  }
  return n;
}

/* Told at the first message that another gradient is sent back with. */
static void report_kept (DtDiag *g, const struct DtAnswers *a, const Answer *kept) {
  enum { OFTEN = 2 };
  DtBuf b;
  if (kept->back || kept->given || kept->came_at.line == 0 ||
      times_of(a, kept, true) < OFTEN) return;
  for (int i = 0; i < a->n; i++) {
    const Answer *v = &a->v[i];
    if (v->back || !v->given || v->peer != kept->peer || came_alike(v, kept) ||
        times_of(a, v, false) < OFTEN) continue;
    dt_buf_init(&b, g->s->cx);
    dt_buf_addf(&b, "it came from rank %d, and backward at %s:%d gives its gradient, which "
                "nothing reads; that of %s, which came with it, is sent back each time",
                kept->peer, kept->at.file ? kept->at.file : "", kept->at.line,
                *v->name ? v->name : "another tensor");
    dt_diag_put_at(g, DT_FIND_ID_ANSWER_KEPT, &v->sent_at, kept->name, &b);
    return;
  }
}

void dt_diag_answers (DtDiag *g) {
  const struct DtAnswers *a = g->answers;
  for (int i = 0; a && i < a->n; i++) report_kept(g, a, &a->v[i]);
  for (int i = 0; a && i < a->n; i++)
    if (a->v[i].given && a->v[i].grad != 0 &&
        peer_of(a->v[i].back ? &a->sent : &a->came, a->v[i].data) == a->v[i].peer)
      claim_answer(g, &a->v[i]);
  dt_diag_answers_free(g);
}

const DtDiagRule dt_rules_answer[] = {
  { DT_EV_GRAD, on_gradient, NULL, DT_WHEN(nanswers) },
  { DT_EV_BACKWARD, on_backward, NULL, DT_WHEN(nanswers) },
  { DT_EV_OP, on_read, NULL, DT_WHEN(nanswers) },
  { 0, NULL, NULL, 0 }
};
