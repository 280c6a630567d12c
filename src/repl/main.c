/* SPDX-License-Identifier: MIT
** repl/main.c: the program: options, the launcher, one world, its ranks.
**
** It decides which world and starts it; what a rank does is in repl_start.c.
** The guardian and the terminal come first, because both want a process without
** threads; MPI is loaded only in a process that mpirun started. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bind/tool.h"
#include "parity/parity.h"
#include "repl/repl_int.h"

enum { DEFAULT_RANKS = 4, MAX_ARGV = 512, MAX_REPLAYED = 64 };

static int usage_error (DtCtx *cx) {
  fprintf(stderr, "dtrepl: %s\n%s\n", dt_buf_str(&cx->err.message),
          dt_options_usage());
  return DT_EXIT_USAGE;
}

static int count_cores (void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  return CPU_COUNT(&set);
}

/* The path of the running program, for mpirun and for finding its parts. */
static bool program_path (char *out, size_t size) {
  ssize_t n = readlink("/proc/self/exe", out, size - 1);
  if (n <= 0)
    return false;
  out[n] = '\0';
  return true;
}

/* The parent is looked at after prctl: had it died before, no signal would
** come. */
static void exec_mpirun (char *const *av, pid_t parent) {
  const char *mpirun = getenv("MPIRUN");
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == parent)
    execvp(mpirun != NULL && *mpirun != '\0' ? mpirun : av[0], av);
  fprintf(stderr, "dtrepl: cannot start mpirun: %s\n", strerror(errno));
  _exit(DT_EXIT_ERROR);
}

/* Run mpirun and end as it ends.  After Ctrl-C its status is 1, whatever its
** ranks said: that it is 130 is ours to say.  The terminal gives SIGINT to both,
** and so does kill() of a group (timeout -s INT): a second one would cut mpirun
** short, so one from kill() is passed on only when mpirun goes on without.  What
** else arrives is passed on at once. */
static int run_child (char *const *av) {
  static const int heard[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2,
                              SIGCHLD};
  sigset_t set, old;
  static const struct timespec patience = {3, 0};
  int status = 0;
  bool interrupted = false, alone = false;
  sigemptyset(&set);
  for (size_t i = 0; i < sizeof heard / sizeof heard[0]; i++)
    sigaddset(&set, heard[i]);
  sigprocmask(SIG_BLOCK, &set, &old);
  pid_t self = getpid(), child = fork();
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &old, NULL);
    exec_mpirun(av, self);
  }
  if (child < 0) {
    fprintf(stderr, "dtrepl: cannot start mpirun: %s\n", strerror(errno));
    return DT_EXIT_ERROR;
  }
  while (waitpid(child, &status, WNOHANG) == 0) {
    siginfo_t info;
    int sig = alone ? sigtimedwait(&set, &info, &patience)
                    : sigwaitinfo(&set, &info);
    if (sig == SIGINT) {
      interrupted = true;
      alone = info.si_code <= 0;        /* from kill(), not from the terminal */
    } else if (sig > 0 && sig != SIGCHLD) {
      kill(child, sig);
    } else if (sig < 0 && errno == EAGAIN) {
      kill(child, SIGINT);
      alone = false;
    }
  }
  if (interrupted && status != 0)
    return DT_EXIT_INTERRUPTED;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* dtrepl --mpi N ...: run mpirun, which starts us N times without --mpi.
** Only the first --mpi is taken out; what follows may be the script's own
** arguments. */
static int run_mpirun (const DtOptions *o, int argc, char **argv) {
  char self[4096], n[16];
  char *av[MAX_ARGV];
  int k = 0;
  static char run[] = "mpirun", flag_n[] = "-n",
    root[] = "--allow-run-as-root", over[] = "--oversubscribe",
    quiet[] = "--quiet";
  if (!program_path(self, sizeof self) || argc > MAX_ARGV - 16) {
    fprintf(stderr, "dtrepl: the program does not find itself\n");
    return DT_EXIT_ERROR;
  }
  snprintf(n, sizeof n, "%d", o->mpi);
  av[k++] = run;
  av[k++] = quiet;
  if (geteuid() == 0)
    av[k++] = root;
  if (o->mpi > count_cores())
    av[k++] = over;
  av[k++] = flag_n;
  av[k++] = n;
  av[k++] = self;
  bool options = true;
  for (int i = 1; i < argc; i++) {
    if (options && strcmp(argv[i], "--mpi") == 0) {
      i++;
      options = false;
    } else if (options && strncmp(argv[i], "--mpi=", 6) == 0) {
      options = false;
    } else {
      av[k++] = argv[i];
    }
  }
  av[k] = NULL;
  return run_child(av);
}

/* What this process has shown, for the one that begins again. */
#define DT_ENV_SHOWN "DTREPL_SHOWN"

/* The program found that it wants more ranks than the default: become dtrepl
** -n N ... of the same arguments.  Returns only on failure.  The -n goes in
** front of everything, as it may not stand behind the script. */
static int begin_again (int ranks, int argc, char **argv) {
  char self[4096], n[16];
  char *av[MAX_ARGV];
  int k = 0;
  static char flag_n[] = "-n";
  if (!program_path(self, sizeof self) || argc > MAX_ARGV - 4) {
    fprintf(stderr, "dtrepl: the program does not find itself\n");
    return DT_EXIT_ERROR;
  }
  snprintf(n, sizeof n, "%d", ranks);
  av[k++] = argv[0];
  av[k++] = flag_n;
  av[k++] = n;
  for (int i = 1; i < argc; i++)
    av[k++] = argv[i];
  av[k] = NULL;
  execv(self, av);
  fprintf(stderr, "dtrepl: cannot begin again: %s\n", strerror(errno));
  return DT_EXIT_ERROR;
}

/* The head of a script may set ranks, release, device; read before the world
** is made.  A script that cannot be read is reported later, on all ranks.  What
** can be read once only, a pipe as of `dtrepl <(command)`, is left to them. */
static DtStatus look_at_script (DtCtx *cx, DtOptions *o) {
  char head[4096];
  struct stat kind;
  const char *path = o->script != NULL ? o->script : o->check;
  if (path == NULL || strcmp(path, "-") == 0 || stat(path, &kind) != 0 ||
      !S_ISREG(kind.st_mode))
    return DT_OK;
  FILE *f = fopen(path, "rb");
  if (f == NULL)
    return DT_OK;
  size_t n = fread(head, 1, sizeof head, f);
  fclose(f);
  return dt_options_script(cx, head, n, o);
}

/* The release that the environment asks for, where nothing else names one. */
static void look_at_environment (DtOptions *o) {
  const char *torch = getenv("DTREPL_TORCH");
  if (o->torch == NULL && torch != NULL && *torch != '\0')
    o->torch = torch;
}

/* Whether this rank has the person. A launcher forwards output in its own
** time, and a prompt written to the terminal would overtake it: then output
** goes to the terminal, too. */
static void open_terminal (DtApp *a, bool first) {
  bool color[2];
  dt_output_init(&a->out);
  a->tty.fd = a->tty.guard_fd = -1;
  a->interactive = first && dt_tty_interactive(a->launched);
  bool prompt = a->o.interactive || a->o.debug ||
                (a->o.script == NULL && a->o.nprelude == 0 &&
                 a->o.check == NULL);
  bool tty[2] = {dt_tty_is_output(a->launched, 1),
                 dt_tty_is_output(a->launched, 2)};
  for (int i = 0; i < 2; i++)
    color[i] = dt_output_color(a->o.color, tty[i]);
  a->out.watched = tty[0] || a->editor != NULL;
  a->out.seen = getenv(DT_ENV_SHOWN);
  unsetenv(DT_ENV_SHOWN);
  a->out.keeps = a->world == DT_WORLD_THREADS && a->o.ranks == 0;
  a->out.color[0] = color[0];
  a->out.color[1] = color[1];
  if (a->interactive && prompt && dt_tty_open(&a->tty, a->launched)) {
    dt_tty_guard(&a->tty);
    /* The launcher forwards our output in its own time; a prompt written to
    ** the terminal would overtake it. */
    for (int i = 0; i < 2; i++)
      if (a->launched && tty[i])
        a->out.fd[i] = a->tty.fd;
  } else {
    a->interactive = false;
  }
}

static int run_world (DtCtx *cx, DtApp *a) {
  char dir[4096] = "";
  int code = DT_EXIT_ERROR, here = 1;
  DtWorldOpts w;
  memset(&w, 0, sizeof w);
  if (program_path(dir, sizeof dir)) {
    char *slash = strrchr(dir, '/');
    if (slash != NULL)
      *slash = '\0';
  }
  w.kind = a->world;
  w.size = a->o.ranks > 0 ? a->o.ranks : DEFAULT_RANKS;
  if (a->world == DT_WORLD_FAKE) {
    w.size = (int)a->o.fake;
    w.rank = (int)a->o.fake_rank;
  }
  if (a->world == DT_WORLD_THREADS)
    here = w.size;
  w.fast = a->o.fast;
  w.exe_dir = dir;
  w.interrupt = &a->interrupt;
  static const DtStopCalls calls = {dt_repl_hook, dt_repl_doing};
  DtStatus st = dt_stop_new(cx, here, a->launched, &calls, &a->stop);
  if (st == DT_OK)
    st = dt_world_run(cx, &w, dt_repl_main, a, &code);
  if (st != DT_OK) {
    dt_tty_restore(&a->tty);
    fprintf(stderr, "dtrepl: %s %s\n", dt_error_info(st)->id,
            dt_buf_str(&cx->err.message));
    code = DT_EXIT_ERROR;
  }
  dt_stop_free(cx, a->stop);
  return code;
}

#if defined(DT_TESTMODE)
/* Test builds: DTREPL_FAIL_ALLOC=n lets allocation n of a context and all
** later ones fail (DTREPL_FAIL_RANK: of one rank only). */
void dt_repl_fail_alloc (DtCtx *cx, int rank) {
  const char *n = getenv("DTREPL_FAIL_ALLOC");
  const char *only = getenv("DTREPL_FAIL_RANK");
  if (n == NULL || *n == '\0')
    return;
  if (only != NULL && *only != '\0' && strtol(only, NULL, 10) != rank)
    return;
  cx->mem.fail_at = strtoll(n, NULL, 10);
  cx->mem.fail_on = true;
}
#else
void dt_repl_fail_alloc (DtCtx *cx, int rank) {
  (void)cx;
  (void)rank;
}
#endif

static void put_stdout (void *ud, const char *line) {
  (void)ud;
  fputs(line, stdout);
}

static void put_progress (void *ud, const char *text) {
  (void)ud;
  fprintf(stderr, "\r\033[K%s", text);
}

/* --sandbox: a script may run SANDBOX_SECONDS by the clock, a prompt may use
** SANDBOX_CPU seconds of the processor; then the process ends, whatever its
** threads are doing. */
enum { SANDBOX_SECONDS = 30, SANDBOX_CPU = 300 };

/* In a signal handler: write and _exit are allowed there, stdio and exit are
** not. */
static void time_is_up (int sig) {
  static const char text[] = "\ndtrepl: the sandbox's time is up\n";
  ssize_t n = write(2, text, sizeof text - 1);
  (void)n;
  (void)sig;
  _exit(DT_EXIT_ERROR);
}

static void limit_time (const DtApp *a) {
  bool prompt = a->interactive;
  struct itimerval t;
  struct sigaction sa;
  memset(&t, 0, sizeof t);
  memset(&sa, 0, sizeof sa);
  t.it_value.tv_sec = prompt ? SANDBOX_CPU : SANDBOX_SECONDS;
  sa.sa_handler = time_is_up;
  sigaction(prompt ? SIGPROF : SIGALRM, &sa, NULL);
  setitimer(prompt ? ITIMER_PROF : ITIMER_REAL, &t, NULL);
}

static int run_diagnose (DtCtx *cx, int argc, char **argv) {
  int code = DT_EXIT_ERROR;
  signal(SIGPIPE, SIG_IGN);
  dt_repl_fail_alloc(cx, 0);
  if (dtL_tool_run(cx, "torch.diagnose", argc, argv, &code) != DT_OK)
    fprintf(stderr, "dtrepl diagnose: %s\n", dt_buf_str(&cx->err.message));
  return code;
}

/* A text as a Lua string. */
static void add_quoted (DtBuf *b, const char *s) {
  dt_buf_addc(b, '"');
  for (; *s != '\0'; s++)
    if (*s == '"' || *s == '\\')
      dt_buf_addf(b, "\\%c", *s);
    else if ((unsigned char)*s < 32)
      dt_buf_addf(b, "\\%03d", *s);
    else
      dt_buf_addc(b, *s);
  dt_buf_addc(b, '"');
}

/* A chunk of ours in a world of its own; a size below 0 is a pretended one. */
static int run_chunk (DtCtx *cx, DtApp *a, const char *text, int world,
                      bool raw) {
  const char *torch = a->o.torch;
  memset(&a->o, 0, sizeof a->o);
  a->o.torch = torch;
  a->o.ranks = abs(world);
  a->o.fake = abs(world);
  a->o.trust = a->o.no_rc = a->o.no_history = true;
  a->o.raw = a->o.quiet = raw;  /* captured programs: only counts are printed */
  a->o.color = "never";
  a->o.prelude[a->o.nprelude++] = (DtPrelude){ 'e', text };
  a->world = world < 0 ? DT_WORLD_FAKE : DT_WORLD_THREADS;
  fflush(stdout);
  open_terminal(a, false);
  int code = run_world(cx, a);
  dt_output_fini(&a->out);
  return code;
}

/* before "file" after */
static int run_text (DtCtx *cx, DtApp *a, const char *before,
                     const char *file, const char *after, int world) {
  DtBuf text;
  dt_buf_init(&text, cx);
  dt_buf_add(&text, before);
  add_quoted(&text, file);
  dt_buf_add(&text, after);
  int code = dt_buf_ok(&text) == DT_OK
    ? run_chunk(cx, a, dt_buf_str(&text), world, false) : DT_EXIT_ERROR;
  dt_buf_fini(&text);
  return code;
}

typedef struct ParityApp { DtCtx *cx; DtApp *a; } ParityApp;

/* A traced program in a world of its own: the Lua library runs it, and tells
** its counts by the exit code. */
static DtStatus parity_program (void *ud, const char *file, int world,
                                const DtParityOpts *o, DtParityCount *count) {
  ParityApp *p = ud;
  DtBuf text;
  dt_buf_init(&text, p->cx);
  dt_buf_add(&text, "require('parity').command(");
  add_quoted(&text, file);
  dt_buf_addf(&text, ", %d, ", o->show);
  add_quoted(&text, o->only != NULL ? o->only : "");
  dt_buf_addc(&text, ')');
  p->a->o.torch = o->torch;
  int code = dt_buf_ok(&text) == DT_OK
    ? run_chunk(p->cx, p->a, dt_buf_str(&text), world, true) : DT_EXIT_ERROR;
  if (code >= 1 << 30) {
    count->skip += code >> 24 & 63;
    count->pass += code >> 10 & 16383;
    count->fail += code & 1023;
  } else {
    count->fail++;
  }
  dt_buf_fini(&text);
  return code == DT_EXIT_INTERRUPTED ? DT_E_INTERRUPTED : DT_OK;
}

static int run_parity (DtCtx *cx, DtApp *a, int argc, char **argv) {
  ParityApp p = { cx, a };
  signal(SIGPIPE, SIG_IGN);
  dt_world_prepare_alone();
  return dt_parity_main(cx, argc, argv, a->o.torch, put_stdout,
                        isatty(2) ? put_progress : NULL, parity_program, &p);
}

/* dtrepl replay FILE: the log of a PyTorch program says in its head of how
** many ranks it is, whether they were pretended, and of which release. */
static int run_replay (DtCtx *cx, DtApp *a, int argc, char **argv) {
  char head[2048] = "";
  FILE *f = argc == 1 ? fopen(argv[0], "rb") : NULL;
  if (f == NULL) {
    fprintf(stderr, argc == 1 ? "dtrepl replay: cannot read %s\n"
            : "usage: dtrepl replay FILE.json\n", argc == 1 ? argv[0] : "");
    return argc == 1 ? DT_EXIT_ERROR : DT_EXIT_USAGE;
  }
  head[fread(head, 1, sizeof head - 1, f)] = '\0';
  fclose(f);
  const char *world = strstr(head, "\"world\":");
  long n = world != NULL ? strtol(world + 8, NULL, 10) : 0;
  if (strstr(head, "\"dtrepl_record\":") == NULL || n < 1 || n > 1 << 20) {
    fprintf(stderr, "dtrepl replay: %s is no log of dtrepl_record.py\n",
            argv[0]);
    return DT_EXIT_ERROR;
  }
  char release[32] = "";
  const char *torch = strstr(head, "\"torch\":\"");
  if (torch != NULL && a->o.torch == NULL &&
      sscanf(torch + 9, "%31[^\"]", release) == 1)
    a->o.torch = release;
  bool fake = strstr(head, "\"fake\":true") != NULL || n > MAX_REPLAYED;
  return run_text(cx, a, "require('parity.replay').command(", argv[0], ")",
                  fake ? -(int)n : (int)n);
}

typedef struct Runner { const char *option, *module; } Runner;

/* --across or --compare, if it is among the options before the program. */
static const Runner *runner_asked (int argc, char **argv) {
  static const Runner runners[] = {{"--across", "dt.across.cli"},
                                   {"--compare", "dt.across.worlds"}};
  for (int i = 1; i < argc && argv[i][0] == '-'; i++) {
    for (size_t k = 0; k < sizeof runners / sizeof runners[0]; k++)
      if (strncmp(argv[i], runners[k].option, strlen(runners[k].option)) == 0)
        return &runners[k];
    if (strcmp(argv[i], "-n") == 0 || strcmp(argv[i], "--fake") == 0 ||
        strcmp(argv[i], "--torch") == 0 || strcmp(argv[i], "--device") == 0)
      i++;
  }
  return NULL;
}

/* dtrepl --across A,B ... PROGRAM, dtrepl --compare WORLD,WORLD ... PROGRAM */
static int run_several (DtCtx *cx, const Runner *r, int argc, char **argv) {
  int code = DT_EXIT_ERROR;
  signal(SIGPIPE, SIG_IGN);
  if (dtL_tool_run(cx, r->module, argc, argv, &code) != DT_OK)
    fprintf(stderr, "dtrepl %s: %s\n", r->option,
            dt_buf_str(&cx->err.message));
  return code;
}

/* dtrepl --dap[=PORT] [options] */
static int run_dap (DtCtx *cx, int argc, char **argv) {
  int code = DT_EXIT_ERROR;
  signal(SIGPIPE, SIG_IGN);
  if (dtL_tool_run(cx, "repl.dap", argc, argv, &code) != DT_OK)
    fprintf(stderr, "dtrepl --dap: %s\n", dt_buf_str(&cx->err.message));
  return code;
}

/* From the command line to the exit code.  Subcommands (diagnose, parity,
** replay, --across, --compare, --dap) come before options are read: they have
** their own.
** --mpi N replaces this process by mpirun, which starts it again; so all that
** opens files or terminals is below that line. */
static int start_program (DtCtx *cx, DtApp *a, int argc, char **argv) {
  DtBuf b;
  const Runner *several = runner_asked(argc, argv);
  if (several)
    return run_several(cx, several, argc - 1, argv + 1);
  if (argc > 3 && strcmp(argv[1], "--torch") == 0 &&
      (strcmp(argv[3], "parity") == 0 || strcmp(argv[3], "replay") == 0)) {
    a->o.torch = argv[2];       /* before the command as well as behind it */
    argc -= 2;
    argv += 2;
  }
  if (argc > 1 && strncmp(argv[1], "--dap", 5) == 0)
    return run_dap(cx, argc - 1, argv + 1);
  if (argc > 1 && strcmp(argv[1], "diagnose") == 0)
    return run_diagnose(cx, argc - 2, argv + 2);
  if (argc > 1 && strcmp(argv[1], "parity") == 0)
    return run_parity(cx, a, argc - 2, argv + 2);
  if (argc > 1 && strcmp(argv[1], "replay") == 0)
    return run_replay(cx, a, argc - 2, argv + 2);
  if (dt_options_parse(cx, argc, argv, &a->o) != DT_OK)
    return usage_error(cx);
  if (a->o.help) {
    dt_buf_init(&b, cx);
    dt_options_help(&b);
    fputs(dt_buf_str(&b), stdout);
    dt_buf_fini(&b);
    return DT_EXIT_OK;
  }
  if (a->o.version) {
    puts("dtrepl " DT_VERSION);
    if (a->o.script == NULL && a->o.nprelude == 0)
      return DT_EXIT_OK;
  }
  a->launched = dt_mpi_launched();
  a->editor = dt_editor_word();
  if (a->o.mpi > 0 && !a->launched)
    return run_mpirun(&a->o, argc, argv);
  if (look_at_script(cx, &a->o) != DT_OK)
    return usage_error(cx);
  look_at_environment(&a->o);
  if (a->o.no_env)
    unsetenv("LUA_PATH"), unsetenv("LUA_PATH_5_4");
  a->world = a->launched ? DT_WORLD_MPI
    : a->o.fake > 0 ? DT_WORLD_FAKE : DT_WORLD_THREADS;
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL)
    rank = getenv("PMI_RANK");
  bool first = !a->launched || rank == NULL || strcmp(rank, "0") == 0;
  signal(SIGPIPE, SIG_IGN);
  open_terminal(a, first);
  if (a->o.sandbox)
    limit_time(a);
  int code = dt_output_code(&a->out, run_world(cx, a));
  dt_output_fini(&a->out);
  dt_tty_close(&a->tty);
  return code;
}

int main (int argc, char **argv) {
  DtCtx *cx;
  DtApp *a;
  if (dt_ctx_new(&cx) != DT_OK)
    return DT_EXIT_ERROR;
  a = DT_NEW(cx, DtApp);
  int code = DT_EXIT_ERROR, ranks = 0;
  if (a != NULL) {
    a->argv0 = argc > 0 ? argv[0] : "dtrepl";
    a->began = dt_repl_seconds();
    code = start_program(cx, a, argc, argv);
    ranks = a->wants_ranks;
    if (ranks > 0 && a->out.keeps)
      setenv(DT_ENV_SHOWN, a->out.shown, 1);
    dt_free(cx, a);
  }
  dt_ctx_free(cx);
  return ranks > 0 ? begin_again(ranks, argc, argv) : code;
}
