/* SPDX-License-Identifier: MIT
** test_hosts.c: a rank without the board and its deputy: two ranks of one
** process, the second of which asks over a connection.  Agreement, meetings,
** lines, divergence, a death. */
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/ctx.h"
#include "base/error_comm.h"
#include "comm/hosts_int.h"

typedef struct World {
  DtCtx *cx;
  DtHub *hub;
  DtComm *c;                    /* rank 0 */
  DtHosts *hosts;
  DtHostsWhere where;
  pthread_t far;
  DtStatus got[8];              /* of rank 1 */
  char line[64];
  DtStatus others[2];
  void (*play) (struct World *w, DtCtx *cx, DtComm *c, DtGroup *g);
} World;

static const DtCollInfo info = {"test", 1, "what", "here", ""};

static void *far_rank (void *ud) {
  World *w = ud;
  static const DtCommVt vt = {.name = "far"};
  DtCtx *cx = NULL;
  DtComm *c = NULL;
  int both[2] = {0, 1};
  DtGroup g;
  memset(&g, 0, sizeof g);
  if (dt_ctx_new(&cx) != DT_OK) return NULL;
  if (dt_comm_new(cx, &vt, 1, 2, &c) == DT_OK) {
    w->got[0] = dt_far_join(cx, c, &w->where);
    g.comm = c;
    g.size = 2;
    g.me = 1;
    g.ranks = both;
    if (w->got[0] == DT_OK) w->play(w, cx, c, &g);
    dt_far_leave(cx, c);
    dt_free(cx, c);
  }
  dt_ctx_free(cx);
  return NULL;
}

static void begin (World *w, void (*play) (World *, DtCtx *, DtComm *,
                                           DtGroup *)) {
  memset(w, 0, sizeof *w);
  w->play = play;
  assert_int_equal(dt_ctx_new(&w->cx), DT_OK);
  assert_int_equal(dt_hub_new(w->cx, 2, &w->hub), DT_OK);
  assert_int_equal(dt_comm_threads(w->cx, w->hub, 0, &w->c), DT_OK);
  assert_int_equal(dt_hosts_listen(w->cx, w->c, 1, &w->hosts, &w->where),
                   DT_OK);
  assert_true(w->where.naddr > 0);
  assert_int_equal(pthread_create(&w->far, NULL, far_rank, w), 0);
  assert_int_equal(dt_hosts_accept(w->cx, w->hosts), DT_OK);
}

static void end (World *w) {
  (void)pthread_join(w->far, NULL);
  dt_hosts_free(w->cx, w->hosts, false);
  dt_comm_free(w->cx, w->c);
  dt_hub_free(w->cx, w->hub);
  dt_ctx_free(w->cx);
}

static DtStatus agree (World *w, uint64_t hash) {
  DtOffer o = {hash, NULL, NULL, 0};
  return dt_agree_group(w->cx, w->c->world, &info, &o);
}

/* --- agreement, a meeting, a line ---------------------------------------- */

static void play_well (World *w, DtCtx *cx, DtComm *c, DtGroup *g) {
  DtOffer o = {7, NULL, NULL, 0};
  char *text = NULL;
  size_t n = 0;
  w->got[1] = dt_far_agree(cx, g, &info, &o);
  w->got[2] = dt_far_meet(cx, c, DT_OK, NULL, w->others);
  w->got[3] = dt_far_share(cx, c, &text, &n);
  if (text != NULL && n < sizeof w->line) memcpy(w->line, text, n + 1);
  dt_free(cx, text);
  w->got[4] = dt_far_alive(cx, c);
}

static void far_rank_takes_part (void **state) {
  World w;
  char text[] = "print(1)", *line = text;
  size_t n = strlen(line);
  (void)state;
  begin(&w, play_well);
  assert_int_equal(agree(&w, 7), DT_OK);
  assert_int_equal(dt_comm_meet(w.cx, w.c, DT_OK, NULL, NULL), DT_OK);
  assert_int_equal(dt_comm_share(w.cx, w.c, &line, &n), DT_OK);
  end(&w);
  for (int i = 0; i < 5; i++) assert_int_equal(w.got[i], DT_OK);
  assert_string_equal(w.line, "print(1)");
  assert_int_equal(w.others[0], DT_OK);
  assert_int_equal(w.others[1], DT_OK);
}

/* --- divergence ---------------------------------------------------------- */

static void play_apart (World *w, DtCtx *cx, DtComm *c, DtGroup *g) {
  DtOffer o = {8, NULL, NULL, 0};
  w->got[1] = dt_far_agree(cx, g, &info, &o);
  if (strstr(dt_buf_str(&cx->err.message), "different paths") != NULL)
    w->got[2] = DT_E_DIVERGED;
  w->got[3] = dt_far_meet(cx, c, w->got[1], NULL, NULL);
}

static void divergence_is_told (void **state) {
  World w;
  (void)state;
  begin(&w, play_apart);
  assert_int_equal(agree(&w, 7), DT_E_DIVERGED);
  assert_int_equal(dt_comm_meet(w.cx, w.c, DT_E_DIVERGED, NULL, NULL),
                   DT_E_DIVERGED);
  end(&w);
  assert_int_equal(w.got[1], DT_E_DIVERGED);
  assert_int_equal(w.got[2], DT_E_DIVERGED);
  assert_int_equal(w.got[3], DT_E_DIVERGED);
}

/* --- a death ------------------------------------------------------------- */

/* The connection ends without a word. */
static void play_dead (World *w, DtCtx *cx, DtComm *c, DtGroup *g) {
  (void)w; (void)cx; (void)g;
  c->dead = true;
}

static void death_is_told (void **state) {
  World w;
  (void)state;
  begin(&w, play_dead);
  assert_int_equal(agree(&w, 7), DT_E_RANK_LOST);
  assert_non_null(strstr(dt_buf_str(&w.cx->err.message), "rank 1 died"));
  end(&w);
}

/* --- strangers ----------------------------------------------------------- */

static void *stranger (void *ud) {
  World *w = ud;
  struct sockaddr_in a;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  memset(&a, 0, sizeof a);
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  a.sin_port = htons((uint16_t)w->where.port);
  if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
    (void)!write(fd, "GET / HTTP/1.0\r\n\r\n", 18);
  (void)close(fd);
  return far_rank(w);
}

static void strangers_are_sent_away (void **state) {
  World w;
  char text[] = "x", *line = text;
  size_t n = 1;
  (void)state;
  memset(&w, 0, sizeof w);
  w.play = play_well;
  assert_int_equal(dt_ctx_new(&w.cx), DT_OK);
  assert_int_equal(dt_hub_new(w.cx, 2, &w.hub), DT_OK);
  assert_int_equal(dt_comm_threads(w.cx, w.hub, 0, &w.c), DT_OK);
  assert_int_equal(dt_hosts_listen(w.cx, w.c, 1, &w.hosts, &w.where),
                   DT_OK);
  assert_int_equal(pthread_create(&w.far, NULL, stranger, &w), 0);
  assert_int_equal(dt_hosts_accept(w.cx, w.hosts), DT_OK);
  assert_int_equal(agree(&w, 7), DT_OK);
  assert_int_equal(dt_comm_meet(w.cx, w.c, DT_OK, NULL, NULL), DT_OK);
  assert_int_equal(dt_comm_share(w.cx, w.c, &line, &n), DT_OK);
  end(&w);
  assert_string_equal(w.line, "x");
}

int main (void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(far_rank_takes_part),
    cmocka_unit_test(divergence_is_told),
    cmocka_unit_test(death_is_told),
    cmocka_unit_test(strangers_are_sent_away)
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
