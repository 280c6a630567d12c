/* SPDX-License-Identifier: MIT
** repl/stop.h: Ctrl-C while a command runs: the interrupt flag for the engine
** and a hook for Lua, on every rank of this process. */
#ifndef DT_REPL_STOP_H
#define DT_REPL_STOP_H

#include "base/ctx.h"

struct lua_State;
typedef struct DtStop DtStop;

/* What Ctrl-C means now. */
typedef enum DtStopMode {
  DT_STOP_DIE,                  /* end the program */
  DT_STOP_KEY,                  /* a key of the prompt */
  DT_STOP_RUN,                  /* stop what runs, on every rank */
  DT_STOP_SCRIPT                /* likewise, of a program without a prompt: what
                                ** does not stop soon is left, and said */
} DtStopMode;

/* What stops a state of Lua.  Both are called in signal handlers: they store,
** format and do nothing else. */
typedef struct DtStopCalls {
  void (*hook) (struct lua_State *L);   /* stop at the next instruction */
  /* "rank 2 in aten.mm.default at t.py:6", of the rank that runs L. */
  void (*doing) (struct lua_State *L, char *text, size_t n);
} DtStopCalls;

/* For a process that holds `n` ranks.  With `launched` the launcher passes the
** stop on to the other processes.  Local. */
DtStatus dt_stop_new (DtCtx *cx, int n, bool launched,
                      const DtStopCalls *calls, DtStop **out);
/* The flag to be set: the one the world's waits look at.  Local. */
void dt_stop_flag (DtStop *s, atomic_int *flag);
/* Rank 0 says what Ctrl-C means from now on.  Local. */
void dt_stop_mode (DtStop *s, DtStopMode m);
/* The program deals with Ctrl-C itself: it is given time.  Any thread.  Local. */
void dt_stop_handled (DtStop *s);
void dt_stop_free (DtCtx *cx, DtStop *s);
/* The calling thread, rank `i` of this process, runs `L` from now on / does
** not any more.  Nests.  Local. */
void dt_stop_enter (DtStop *s, int i, struct lua_State *L);
void dt_stop_leave (DtStop *s, int i);
/* The calling thread runs this state of Lua for a while; gives the one it ran,
** to be set again.  Local. */
struct lua_State *dt_stop_running (struct lua_State *L);
/* Another process of the world, to be stopped along with this one; -1: one on
** another host, which only the launcher reaches.  Local. */
void dt_stop_process (DtStop *s, long pid);
/* With a debugger (on), the first Ctrl-C of a text calls hook(L), which must be
** safe in a signal handler, and only the next one ends what runs.  Counts from
** 0 again.  Local. */
void dt_stop_soft (DtStop *s, bool on, void (*hook) (struct lua_State *L));
/* The person is at another process, which signals this one.  Local. */
void dt_stop_outside (DtStop *s);
/* Stop what runs, here and on the other processes; any thread.  Local. */
void dt_stop_now (DtStop *s);
/* Signals of the calling thread, when it is not the first: none but ours.
** Local. */
void dt_stop_thread_init (void);

#endif
