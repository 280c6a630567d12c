/* SPDX-License-Identifier: MIT
** repl/input.h: keys from the person, one at a time, with a wait that wakes
** now and then; and the watch for Ctrl-C while a command runs. */
#ifndef DT_REPL_INPUT_H
#define DT_REPL_INPUT_H

#include <stdbool.h>
#include "base/ctx.h"

typedef struct DtInput DtInput;

enum { DT_KEY_EOF = -1, DT_KEY_IDLE = -2 };

/* `watch`: the keys come through a launcher's pipe, so a thread reads them
** and calls `stop(ud)` (on that thread) when Ctrl-C arrives while a command
** runs.  Freed by dt_input_free().  NOMEM, IO.  Local. */
DtStatus dt_input_new (DtCtx *cx, bool watch, void (*stop) (void *ud),
                       void *ud, DtInput **out);
void dt_input_free (DtInput *in);
/* Next key; DT_KEY_IDLE after `ms` without one, DT_KEY_EOF at the end.
** Local. */
int dt_input_key (DtInput *in, int ms);
/* Is a key waiting?  Local. */
bool dt_input_ready (DtInput *in);
/* Bytes that have come and were not read, as far as is known.  Local. */
size_t dt_input_waiting (DtInput *in);
/* From now on Ctrl-C stops the command (true) or is a key (false).  What it was
** before.  Local. */
bool dt_input_running (DtInput *in, bool running);

#endif
