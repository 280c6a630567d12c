/* SPDX-License-Identifier: MIT
** comm/wire.c: frames over a connection between two processes of one job:
** numbers of eight bytes, texts with their length.  Both ends are the same
** program on the same kind of machine, so bytes keep their order. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "comm/hosts_int.h"

enum { MOST = 1 << 30 };                /* bytes of a frame */

void dt_wire_init (DtWire *w, DtCtx *cx, int fd) {
  memset(w, 0, sizeof *w);
  w->cx = cx;
  w->fd = fd;
  dt_buf_init(&w->out, cx);
}

void dt_wire_fini (DtWire *w) {
  dt_buf_fini(&w->out);
  dt_free(w->cx, w->in);
  if (w->fd >= 0) (void)close(w->fd);
  w->fd = -1;
}

void dt_wire_num (DtWire *w, uint64_t v) {
  char b[sizeof v];
  memcpy(b, &v, sizeof v);
  dt_buf_addn(&w->out, b, sizeof b);
}

void dt_wire_text (DtWire *w, const char *s, size_t n) {
  dt_wire_num(w, n);
  dt_buf_addn(&w->out, s, n);
  dt_buf_addc(&w->out, '\0');
}

static void text_of (DtWire *w, const char *s) {
  if (s == NULL) s = "";
  dt_wire_text(w, s, strlen(s));
}

void dt_wire_info (DtWire *w, const DtCollInfo *i) {
  dt_wire_num(w, i != NULL);
  if (i == NULL) return;
  text_of(w, i->op);
  dt_wire_num(w, i->hash);
  text_of(w, i->what);
  text_of(w, i->where);
  text_of(w, i->size);
}

static bool put_all (DtWire *w, const char *p, size_t n) {
  while (n > 0) {
    ssize_t k = send(w->fd, p, n, MSG_NOSIGNAL);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    p += k;
    n -= (size_t)k;
  }
  return true;
}

static bool get_all (DtWire *w, char *p, size_t n) {
  while (n > 0) {
    ssize_t k = recv(w->fd, p, n, 0);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    p += k;
    n -= (size_t)k;
  }
  return true;
}

bool dt_wire_send (DtWire *w) {
  uint64_t n = w->out.len;
  bool ok = !w->broken && !w->out.oom &&
            put_all(w, (const char *)&n, sizeof n) &&
            put_all(w, dt_buf_str(&w->out), n);
  dt_buf_clear(&w->out);
  w->broken = w->broken || !ok;
  return ok;
}

/* One message: its length, then its bytes, ended by a NUL that is not
** counted. A length beyond MOST is a damaged stream; once broken, a wire
** stays broken. */
bool dt_wire_recv (DtWire *w) {
  uint64_t n = 0;
  w->n = w->at = 0;
  if (w->broken || !get_all(w, (char *)&n, sizeof n) || n > MOST) {
    w->broken = true;
    return false;
  }
  if (n + 1 > w->cap) {
    char *p = dt_realloc(w->cx, w->in, n + 1);
    if (p == NULL) {
      w->broken = true;
      return false;
    }
    w->in = p;
    w->cap = n + 1;
  }
  w->broken = !get_all(w, w->in, n);
  if (w->broken) return false;
  w->in[n] = '\0';
  w->n = n;
  return true;
}

uint64_t dt_wire_get (DtWire *w) {
  uint64_t v;
  if (w->n - w->at < sizeof v) {
    w->broken = true;
    return 0;
  }
  memcpy(&v, w->in + w->at, sizeof v);
  w->at += sizeof v;
  return v;
}

const char *dt_wire_get_text (DtWire *w, size_t *n) {
  uint64_t len = dt_wire_get(w);
  const char *s;
  if (n != NULL) *n = 0;
  if (w->broken || len >= w->n - w->at || w->in[w->at + len] != '\0') {
    w->broken = true;
    return "";
  }
  s = w->in + w->at;
  w->at += len + 1;
  if (n != NULL) *n = len;
  return s;
}

const DtCollInfo *dt_wire_get_info (DtWire *w, DtCollInfo *room) {
  memset(room, 0, sizeof *room);
  if (dt_wire_get(w) == 0) return NULL;
  room->op = dt_wire_get_text(w, NULL);
  room->hash = dt_wire_get(w);
  room->what = dt_wire_get_text(w, NULL);
  room->where = dt_wire_get_text(w, NULL);
  room->size = dt_wire_get_text(w, NULL);
  return room;
}
