/* SPDX-License-Identifier: MIT
** repl/tty.h: the terminal as rank 0 sees it: its settings, saved and given
** back on every way out, and its size.
**
** Under mpirun fd 0 is a pipe; the terminal is reached by /dev/tty, from a
** background process group.  Without mpirun fd 0 itself is the terminal. */
#ifndef DT_REPL_TTY_H
#define DT_REPL_TTY_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

typedef struct DtTty {
  int fd;                       /* -1: none */
  bool forwarded;               /* keys come through a launcher's pipe */
  bool raw;                     /* our settings are in force */
  bool guarded;                 /* the guardian process runs */
  int guard_fd;                 /* our end of its pipe */
  pid_t guard_pid;
  struct termios saved;         /* as we found them */
} DtTty;

/* True when the person's own stdin (not our pipe) is a terminal: fd 0, or
** under mpirun the launcher's fd 0.  Local. */
bool dt_tty_interactive (bool launched);
/* The same for an output descriptor, 1 or 2.  Local. */
bool dt_tty_is_output (bool launched, int fd);

/* Open the terminal and remember its settings; false when there is none.
** From here on fatal signals give the settings back.  Local. */
bool dt_tty_open (DtTty *t, bool launched);
/* Give the settings back and let go.  Local. */
void dt_tty_close (DtTty *t);

/* Key by key, no echo, no signals: for editing.  Local. */
void dt_tty_raw (DtTty *t);
/* The settings we found.  Local. */
void dt_tty_restore (DtTty *t);
/* Columns and rows; 80 x 24 when unknown.  Local. */
void dt_tty_size (const DtTty *t, int *cols, int *rows);
/* The same where no terminal was opened.  Local. */
void dt_tty_size_now (int *cols, int *rows);

/* Start the guardian: a process of a few pages that gives the settings back
** when this process dies without dt_tty_close(), even by SIGKILL.  To be
** called before threads exist.  Failing to start it is no error.  Local. */
void dt_tty_guard (DtTty *t);

#endif
