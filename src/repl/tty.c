/* SPDX-License-Identifier: MIT
** repl/tty.c: terminal settings under mpirun and without, and the guardian.
**
** It does not edit lines and reads no keys (input.c, line_readline.c).
**
** A rank under mpirun leads a background process group, so the kernel would
** stop it with SIGTTOU when it changes settings; that signal is ignored first.
** The settings go back on exit, on a fatal signal (handler below, which uses
** only async-signal-safe calls), and after SIGKILL: the guardian waits at the
** other end of a pipe.  A byte through the pipe means a clean end; end of file
** without it means that we died. */
#include "repl/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a signal handler needs; one of the two statics the house admits. */
static DtTty *volatile open_tty;

static const int fatal[] = {SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS, SIGFPE,
                            SIGILL, SIGABRT};
enum { NFATAL = sizeof fatal / sizeof fatal[0] };

/* End bracketed paste and leave the line the editor was on. */
static const char leave_line[] = "\033[?2004l\r\n";

static bool is_terminal (const char *path) {
  int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return false;
  bool yes = isatty(fd) == 1;
  close(fd);
  return yes;
}

/* Descriptor `fd` of the launcher; ours when it cannot be asked. */
static bool launcher_fd (int fd) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getppid(), fd);
  return is_terminal(path);
}

bool dt_tty_interactive (bool launched) {
  return launched ? launcher_fd(0) && is_terminal("/dev/tty")
                  : isatty(0) == 1;
}

bool dt_tty_is_output (bool launched, int fd) {
  return launched ? launcher_fd(fd) : isatty(fd) == 1;
}

/* The editor's line is left first, as the settings decide what a newline
** does. */
static void on_fatal (int sig) {
  DtTty *t = open_tty;
  if (t != NULL && t->raw) {
    ssize_t n = write(t->fd, leave_line, sizeof leave_line - 1);
    (void)n;
    tcsetattr(t->fd, TCSANOW, &t->saved);
    t->raw = false;
  }
  signal(sig, SIG_DFL);
  raise(sig);
}

/* The terminal's settings are saved, and a handler is set for what would end
** the program, so that they come back also then. */
bool dt_tty_open (DtTty *t, bool launched) {
  memset(t, 0, sizeof *t);
  t->fd = t->guard_fd = -1;
  t->forwarded = launched;
  signal(SIGTTOU, SIG_IGN);
  int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (fd < 0 && !launched)
    fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
  if (fd < 0)
    return false;
  if (tcgetattr(fd, &t->saved) != 0) {
    close(fd);
    return false;
  }
  t->fd = fd;
  open_tty = t;
  struct sigaction sa;
  memset(&sa, 0, sizeof sa);
  sa.sa_handler = on_fatal;
  sigemptyset(&sa.sa_mask);
  for (int i = 0; i < NFATAL; i++)
    sigaction(fatal[i], &sa, NULL);
  return true;
}

void dt_tty_close (DtTty *t) {
  if (t->fd < 0)
    return;
  dt_tty_restore(t);
  if (t->guarded) {
    ssize_t n = write(t->guard_fd, "q", 1);
    (void)n;
    close(t->guard_fd);
    int status;
    while (waitpid(t->guard_pid, &status, 0) < 0 && errno == EINTR)
      ;
    t->guarded = false;
  }
  open_tty = NULL;
  for (int i = 0; i < NFATAL; i++)
    signal(fatal[i], SIG_DFL);
  close(t->fd);
  t->fd = -1;
}

/* ISIG goes off as well, so Ctrl-C arrives as a byte: under a launcher the
** signal would end the launcher. */
void dt_tty_raw (DtTty *t) {
  if (t->fd < 0)
    return;
  struct termios s = t->saved;
  s.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
  s.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IXON | IXOFF);
  s.c_oflag |= OPOST | ONLCR;
  s.c_cc[VMIN] = 1;
  s.c_cc[VTIME] = 0;
  t->raw = true;                /* first: a signal in between restores */
  tcsetattr(t->fd, TCSADRAIN, &s);
}

void dt_tty_restore (DtTty *t) {
  if (t->fd < 0 || !t->raw)
    return;
  tcsetattr(t->fd, TCSADRAIN, &t->saved);
  t->raw = false;
}

void dt_tty_size (const DtTty *t, int *cols, int *rows) {
  struct winsize w;
  int fd = t->fd >= 0 ? t->fd : 1;
  if (ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 && w.ws_row > 0) {
    *cols = w.ws_col;
    *rows = w.ws_row;
  } else {
    *cols = 80;
    *rows = 24;
  }
}

void dt_tty_size_now (int *cols, int *rows) {
  DtTty t = {.fd = open("/dev/tty", O_RDWR | O_CLOEXEC)};
  dt_tty_size(&t, cols, rows);
  if (t.fd >= 0)
    close(t.fd);
}

/* The guardian's whole life.  It leaves our session, so that a launcher that
** kills our process group does not take it along, and holds nothing but the
** terminal and the pipe, so that nobody waits for its descriptors. */
static _Noreturn void run_guardian (const DtTty *t, int in) {
  setsid();
  signal(SIGTTOU, SIG_IGN);
  for (int i = 0; i < NFATAL; i++)
    signal(fatal[i], SIG_DFL);
  signal(SIGHUP, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  long top = sysconf(_SC_OPEN_MAX);
  if (top < 0 || top > 4096)
    top = 4096;
  for (int fd = 0; fd < (int)top; fd++)
    if (fd != t->fd && fd != in)
      close(fd);
  char c = 0;
  ssize_t n;
  do
    n = read(in, &c, 1);
  while (n < 0 && errno == EINTR);
  if (n != 1) {
    struct termios now;
    bool changed = tcgetattr(t->fd, &now) == 0 &&
                   (now.c_lflag != t->saved.c_lflag ||
                    now.c_iflag != t->saved.c_iflag);
    tcsetattr(t->fd, TCSANOW, &t->saved);
    static const char said[] =
      "dtrepl: rank 0 died; the terminal is restored\r\n";
    if (changed) {
      n = write(t->fd, leave_line, sizeof leave_line - 1);
      n = write(t->fd, said, sizeof said - 1);
    }
  }
  _exit(0);
}

/* Forked before there are threads: the child of a process with threads may
** only call what is safe in a signal handler. */
void dt_tty_guard (DtTty *t) {
  int p[2];
  if (t->fd < 0 || pipe2(p, O_CLOEXEC) != 0)
    return;
  pid_t pid = fork();
  if (pid == 0) {
    close(p[1]);
    run_guardian(t, p[0]);
  }
  close(p[0]);
  if (pid < 0) {
    close(p[1]);
    return;
  }
  t->guard_pid = pid;
  t->guard_fd = p[1];
  t->guarded = true;
}
