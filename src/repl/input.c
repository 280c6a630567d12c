/* SPDX-License-Identifier: MIT
** repl/input.c: keys, directly from fd 0 or by way of a thread.
**
** Under mpirun the terminal's signals are off, and Ctrl-C reaches rank 0 as
** byte 3 in a pipe, also while the main thread is deep in a computation.  So
** a thread drains the pipe into a ring; byte 3 during a command calls stop()
** and throws away what was typed ahead, any other byte waits for the editor.
** Without mpirun no thread is needed: the terminal sends SIGINT by itself. */
#include "repl/input.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { RING = 1 << 16, CTRL_C = 3 };

struct DtInput {
  DtCtx *cx;
  bool watch;
  void (*stop) (void *);
  void *ud;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t more, room;
  int quit[2];                  /* a byte here ends the thread */
  bool running, eof;
  unsigned head, tail;          /* ring[tail..head) is waiting */
  unsigned char ring[RING];
};

static void put_bytes (DtInput *in, const unsigned char *b, size_t n) {
  bool stop = false;
  pthread_mutex_lock(&in->lock);
  for (size_t i = 0; i < n; i++) {
    if (b[i] == CTRL_C && in->running) {
      stop = true;
      in->tail = in->head;
      continue;
    }
    while (in->head - in->tail == RING)
      pthread_cond_wait(&in->room, &in->lock);
    in->ring[in->head++ % RING] = b[i];
  }
  pthread_cond_signal(&in->more);
  pthread_mutex_unlock(&in->lock);
  if (stop)
    in->stop(in->ud);
}

/* A thread of its own reads the terminal while a program runs, so that Ctrl-C
** arrives as a byte where a launcher forwards it, and what is typed ahead is
** not lost. */
static void *watch_input (void *arg) {
  DtInput *in = arg;
  unsigned char b[512];
  for (;;) {
    struct pollfd p[2] = {{0, POLLIN, 0}, {in->quit[0], POLLIN, 0}};
    if (poll(p, 2, -1) < 0) {
      if (errno == EINTR)
        continue;
      break;
    }
    if (p[1].revents != 0)
      return NULL;
    ssize_t n = read(0, b, sizeof b);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (n <= 0)
      break;
    put_bytes(in, b, (size_t)n);
  }
  pthread_mutex_lock(&in->lock);
  in->eof = true;
  pthread_cond_signal(&in->more);
  pthread_mutex_unlock(&in->lock);
  return NULL;
}

/* Signals belong to the main thread. */
static int start_thread (DtInput *in) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int rc = pthread_create(&in->thread, NULL, watch_input, in);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return rc;
}

DtStatus dt_input_new (DtCtx *cx, bool watch, void (*stop) (void *ud),
                       void *ud, DtInput **out) {
  DtInput *in = DT_NEW(cx, DtInput);
  if (in == NULL)
    return DT_E_NOMEM;
  in->cx = cx;
  in->stop = stop;
  in->ud = ud;
  if (watch) {
    pthread_condattr_t at;
    pthread_condattr_init(&at);
    pthread_condattr_setclock(&at, CLOCK_MONOTONIC);
    pthread_mutex_init(&in->lock, NULL);
    pthread_cond_init(&in->more, &at);
    pthread_cond_init(&in->room, NULL);
    pthread_condattr_destroy(&at);
    if (pipe(in->quit) != 0 || start_thread(in) != 0) {
      dt_free(cx, in);
      return dt_raise(cx, DT_E_IO, "cannot watch the keyboard: %s",
                      strerror(errno));
    }
    in->watch = true;
  }
  *out = in;
  return DT_OK;
}

void dt_input_free (DtInput *in) {
  if (in == NULL)
    return;
  if (in->watch) {
    ssize_t n = write(in->quit[1], "q", 1);
    (void)n;
    pthread_mutex_lock(&in->lock);
    in->tail = in->head;
    pthread_cond_signal(&in->room);
    pthread_mutex_unlock(&in->lock);
    pthread_join(in->thread, NULL);
    close(in->quit[0]);
    close(in->quit[1]);
    pthread_cond_destroy(&in->room);
    pthread_cond_destroy(&in->more);
    pthread_mutex_destroy(&in->lock);
  }
  dt_free(in->cx, in);
}

static int key_direct (int ms) {
  struct pollfd p = {0, POLLIN, 0};
  int rc = poll(&p, 1, ms);
  if (rc <= 0)
    return DT_KEY_IDLE;
  unsigned char c;
  ssize_t n = read(0, &c, 1);
  if (n == 1)
    return c;
  return n < 0 && (errno == EINTR || errno == EAGAIN) ? DT_KEY_IDLE
                                                      : DT_KEY_EOF;
}

static int key_watched (DtInput *in, int ms) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += (long)(ms % 1000) * 1000000;
  until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  int key = DT_KEY_IDLE;
  pthread_mutex_lock(&in->lock);
  while (in->head == in->tail && !in->eof)
    if (pthread_cond_timedwait(&in->more, &in->lock, &until) != 0)
      break;
  if (in->head != in->tail) {
    key = in->ring[in->tail++ % RING];
    pthread_cond_signal(&in->room);
  } else if (in->eof) {
    key = DT_KEY_EOF;
  }
  pthread_mutex_unlock(&in->lock);
  return key;
}

int dt_input_key (DtInput *in, int ms) {
  return in->watch ? key_watched(in, ms) : key_direct(ms);
}

bool dt_input_ready (DtInput *in) {
  if (!in->watch) {
    struct pollfd p = {0, POLLIN, 0};
    return poll(&p, 1, 0) > 0;
  }
  pthread_mutex_lock(&in->lock);
  bool yes = in->head != in->tail || in->eof;
  pthread_mutex_unlock(&in->lock);
  return yes;
}

size_t dt_input_waiting (DtInput *in) {
  int n = 0;
  if (!in->watch)
    return ioctl(0, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
  pthread_mutex_lock(&in->lock);
  size_t waiting = in->head - in->tail;
  pthread_mutex_unlock(&in->lock);
  return waiting;
}

bool dt_input_running (DtInput *in, bool running) {
  if (!in->watch)
    return false;
  pthread_mutex_lock(&in->lock);
  bool was = in->running;
  in->running = running;
  pthread_mutex_unlock(&in->lock);
  return was;
}
