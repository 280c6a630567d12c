/* SPDX-License-Identifier: MIT
** repl/stop.c: how Ctrl-C reaches every rank.
**
** SIGINT (a terminal of our own) arrives at the main thread, byte 3 (a
** forwarded one) at the thread that watches the keys.  Both set the flag that
** the engine asks at each operator and in each wait, and send SIGUSR1 to every
** rank thread that runs Lua, whose handler puts a hook into that thread's own
** state: a loop without operators stops too, and nothing is paid before.
** Other processes get SIGUSR1 too: on this host directly, on others by way of
** the launcher, which passes it on to all ranks (and says so, which is why it
** is not asked when all ranks are here).
** A rank inside a long operator of BLAS hears nothing of this.  A prompt waits
** for it; a program without one is ended after a moment, or by the next Ctrl-C,
** and where such a rank was is said on the way out. */
#include "repl/stop.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef struct Runner {
  pthread_t thread;
  struct lua_State *L;          /* while depth > 0 */
  atomic_int depth;
} Runner;

enum {
  MAX_PROC = 1024, GRACE_US = 600000, LATE_US = 2000000,
  TWICE_US = 50000,
  INTERRUPTED = 130,            /* exit status, as of shells */
  MAX_TOLD = 16                 /* ranks said to be left */
};

struct DtStop {
  _Atomic(atomic_int *) flag;
  atomic_int mode;
  DtStopCalls calls;
  void (*_Atomic soft_hook) (struct lua_State *);       /* any rank sets it */
  atomic_int soft, asked;       /* a debugger may stop; how often asked */
  bool outside;                 /* another process is asked by the person */
  bool launched, forward;       /* the launcher must pass SIGUSR1 on */
  pid_t launcher;
  volatile sig_atomic_t terminating, limited;
  struct timespec told;         /* when, if limited */
  struct sigaction old_term;
  int nproc;
  pid_t proc[MAX_PROC];         /* other ranks on this host */
  int n;
  Runner run[];
};

/* What the signal handlers need; the house admits this static. */
static DtStop *volatile the_stop;
static _Thread_local struct lua_State *volatile running;

static bool is_launcher (pid_t pid) {
  char path[64], name[32] = "";
  snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
  FILE *f = fopen(path, "r");
  if (f == NULL)
    return false;
  bool got = fgets(name, sizeof name, f) != NULL;
  fclose(f);
  name[strcspn(name, "\n")] = '\0';
  return got && (strcmp(name, "mpirun") == 0 || strcmp(name, "orterun") == 0 ||
                 strcmp(name, "mpiexec") == 0 || strcmp(name, "prterun") == 0);
}

/* Safe in a signal handler: stores, kill, pthread_kill, lua_sethook. */
static void set_flag (DtStop *s) {
  atomic_int *flag = atomic_load(&s->flag);
  if (flag != NULL)
    atomic_store(flag, 1);
}

static void stop_here (DtStop *s) {
  if (atomic_load(&s->soft) && atomic_load(&s->asked) == 1) {
    void (*soft) (struct lua_State *) = atomic_load(&s->soft_hook);
    if (running != NULL && soft != NULL)
      soft(running);
    return;
  }
  set_flag(s);
  if (running != NULL)
    s->calls.hook(running);
}

/* The person asks: the first time a debugger stops what runs, where there is
** one; then it ends. */
static void ask_to_stop (DtStop *s) {
  if (!atomic_load(&s->soft) || atomic_load(&s->asked) >= 1) {
    atomic_store(&s->asked, 2);
    set_flag(s);
  } else {
    atomic_store(&s->asked, 1);
  }
}

static void on_usr1 (int sig) {
  (void)sig;
  DtStop *s = the_stop;
  if (s != NULL && s->outside)
    ask_to_stop(s);
  if (s != NULL && running != NULL)
    stop_here(s);
}

static void tell_threads (DtStop *s) {
  for (int i = 0; i < s->n; i++)
    if (atomic_load(&s->run[i].depth) > 0)
      pthread_kill(s->run[i].thread, SIGUSR1);
}

/* Where the ranks are that did not come, on their way out. */
static void tell_left (DtStop *s) {
  char text[256];
  for (int i = 0; i < s->n && i < MAX_TOLD; i++) {
    if (atomic_load(&s->run[i].depth) == 0)
      continue;
    int n = snprintf(text, sizeof text, "dtrepl: interrupted, ");
    s->calls.doing(s->run[i].L, text + n, sizeof text - (size_t)n - 1);
    size_t len = strlen(text);
    text[len++] = '\n';
    if (write(STDERR_FILENO, text, len) < 0)
      return;
  }
}

static void on_late (int sig) {
  DtStop *s = the_stop;
  (void)sig;
  if (s != NULL)
    tell_left(s);
  _exit(INTERRUPTED);
}

/* A key press that came twice, from the terminal and from whoever started the
** program (timeout, a launcher), is one. */
static bool is_again (const DtStop *s) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (t.tv_sec - s->told.tv_sec) * 1000000 +
         (t.tv_nsec - s->told.tv_nsec) / 1000 < TWICE_US;
}

/* The clock of a program that was told to stop; a sandbox has its own. */
static void set_limit (DtStop *s) {
  struct itimerval t = {{0, 0}, {0, 0}};
  struct sigaction sa;
  if (sigaction(SIGALRM, NULL, &sa) != 0 || sa.sa_handler != SIG_DFL)
    return;
  memset(&sa, 0, sizeof sa);
  sigemptyset(&sa.sa_mask);
  sa.sa_handler = on_late;
  sigaction(SIGALRM, &sa, NULL);
  clock_gettime(CLOCK_MONOTONIC, &s->told);
  s->limited = 1;
  t.it_value.tv_sec = LATE_US / 1000000;
  setitimer(ITIMER_REAL, &t, NULL);
}

static void end_limit (DtStop *s) {
  struct itimerval t = {{0, 0}, {0, 0}};
  if (!s->limited)
    return;
  setitimer(ITIMER_REAL, &t, NULL);
  signal(SIGALRM, SIG_DFL);
  s->limited = 0;
}

static void on_int (int sig) {
  DtStop *s = the_stop;
  int mode = s != NULL ? atomic_load(&s->mode) : DT_STOP_DIE;
  if (mode == DT_STOP_DIE) {
    signal(sig, SIG_DFL);
    raise(sig);
  } else if (mode == DT_STOP_RUN || mode == DT_STOP_SCRIPT) {
    if (s->limited && is_again(s))
      return;
    if (s->limited)
      on_late(sig);
    ask_to_stop(s);
    tell_threads(s);
    if (mode == DT_STOP_SCRIPT)
      set_limit(s);
  }
}

/* The launcher ends the job, mostly because a rank died.  What runs is stopped
** and has a moment to find that out, write what was printed and say who it
** was; then the signal takes its course. */
static void on_alarm (int sig) {
  DtStop *s = the_stop;
  if (s != NULL && sig == SIGALRM)
    tell_left(s);
  if (s != NULL)
    sigaction(SIGTERM, &s->old_term, NULL);
  raise(SIGTERM);
}

static void on_term (int sig) {
  DtStop *s = the_stop;
  struct itimerval t = {{0, 0}, {0, GRACE_US}};
  if (s == NULL || s->terminating) {
    on_alarm(sig);
    return;
  }
  s->terminating = 1;
  setitimer(ITIMER_REAL, &t, NULL);
  set_flag(s);
  if (running != NULL)
    s->calls.hook(running);
}

void dt_stop_flag (DtStop *s, atomic_int *flag) {
  atomic_store(&s->flag, flag);
}

void dt_stop_mode (DtStop *s, DtStopMode m) {
  atomic_store(&s->mode, (int)m);
  if (m != DT_STOP_SCRIPT)
    end_limit(s);
}

void dt_stop_handled (DtStop *s) {
  struct itimerval t = {{0, 0}, {0, 0}};
  s->told.tv_sec = 0;
  if (s->limited)               /* the next Ctrl-C ends it at once */
    setitimer(ITIMER_REAL, &t, NULL);
}

void dt_stop_process (DtStop *s, long pid) {
  if (pid > 0 && s->nproc < MAX_PROC)
    s->proc[s->nproc++] = (pid_t)pid;
  else
    s->forward = s->launched && is_launcher(s->launcher);
}

void dt_stop_soft (DtStop *s, bool on,
                   void (*hook) (struct lua_State *L)) {
  atomic_store(&s->soft_hook, hook);
  atomic_store(&s->asked, 0);
  atomic_store(&s->soft, on ? 1 : 0);
}

void dt_stop_outside (DtStop *s) { s->outside = true; }

void dt_stop_now (DtStop *s) {
  ask_to_stop(s);
  for (int i = 0; i < s->nproc; i++)
    kill(s->proc[i], SIGUSR1);
  if (s->forward)
    kill(s->launcher, SIGUSR1);
  tell_threads(s);
}

/* Only SIGUSR1 and what a fault raises in its own thread: Ctrl-C and timers
** go to the main thread, whose handlers they are. */
void dt_stop_thread_init (void) {
  sigset_t set;
  sigfillset(&set);
  sigdelset(&set, SIGUSR1);
  sigdelset(&set, SIGSEGV);
  sigdelset(&set, SIGBUS);
  sigdelset(&set, SIGFPE);
  sigdelset(&set, SIGILL);
  sigdelset(&set, SIGABRT);
  pthread_sigmask(SIG_SETMASK, &set, NULL);
}

DtStatus dt_stop_new (DtCtx *cx, int n, bool launched,
                      const DtStopCalls *calls, DtStop **out) {
  DtStop *s = dt_calloc(cx, 1, sizeof *s + (size_t)n * sizeof s->run[0]);
  if (s == NULL)
    return DT_E_NOMEM;
  s->calls = *calls;
  s->n = n;
  s->launcher = getppid();
  s->launched = launched;
  the_stop = s;
  struct sigaction sa;
  memset(&sa, 0, sizeof sa);
  sigemptyset(&sa.sa_mask);
  sa.sa_handler = on_usr1;
  sa.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &sa, NULL);
  sa.sa_handler = on_int;
  sa.sa_flags = 0;              /* reading a line must end */
  sigaction(SIGINT, &sa, NULL);
  if (launched) {
    sa.sa_handler = on_alarm;
    sigaction(SIGALRM, &sa, NULL);
    sa.sa_handler = on_term;
    sigaction(SIGTERM, &sa, &s->old_term);
  }
  *out = s;
  return DT_OK;
}

/* SIGUSR1 is ignored and not put back: one that is late would end the
** process. */
void dt_stop_free (DtCtx *cx, DtStop *s) {
  if (s == NULL)
    return;
  signal(SIGINT, SIG_DFL);
  if (s->launched)
    sigaction(SIGTERM, &s->old_term, NULL);
  signal(SIGUSR1, SIG_IGN);
  the_stop = NULL;
  dt_free(cx, s);
}

/* Thread and state are set before the depth is counted up: who sees the
** depth (tell_threads) uses both. */
void dt_stop_enter (DtStop *s, int i, struct lua_State *L) {
  s->run[i].thread = pthread_self();
  s->run[i].L = running = L;
  atomic_fetch_add(&s->run[i].depth, 1);
  /* Asked before this rank could be told. */
  if (atomic_load(&s->soft) && atomic_load(&s->asked) > 0)
    stop_here(s);
}

struct lua_State *dt_stop_running (struct lua_State *L) {
  struct lua_State *was = running;
  running = L;
  return was;
}

void dt_stop_leave (DtStop *s, int i) {
  if (atomic_fetch_sub(&s->run[i].depth, 1) == 1)
    running = NULL;
}
