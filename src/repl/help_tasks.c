/* SPDX-License-Identifier: MIT
** repl/help_tasks.c: what people come for, in their own words, and the commands
** for it: ":help tasks", and ":help hang" or ":help why is x replicated", which no
** page is called.
**
** A word is matched whole; the many that stand in any question ("my", "is") must
** not be among them. */
#include "repl/cmd.h"

#include <ctype.h>
#include <string.h>

typedef struct Task { const char *words, *text; } Task;

static const Task tasks[] = {
  {"run train training script torchrun gpu gpus cluster launch",
   "Run a training script without the cluster\n"
   "  dtrepl -n 8 train.py     as torchrun would, on 8 ranks here; --fake 512\n"
   "                           pretends ranks without data; -i stays afterwards\n"},
  {"bytes traffic communication communicate bandwidth comm network slow moves "
   "moved all-reduce allreduce allgather",
   "See what is communicated, and why\n"
   "  :ledger                  bytes by collective, operator, module and line\n"
   "  :why #7                  what an operator chose, and what else it could have\n"
   "  :break redistribute      stop where something moves\n"
   "  :whatif w = S(0)         the same run with another placement\n"},
  {"replicated replicate sharded shard placement partial layout provenance",
   "Why does a tensor have its placements?\n"
   "  :blame x                 back to the line that set them\n"
   "  :show x                  which rank holds what\n"
   "  :break placement x = R   stop where it comes to be so\n"},
  {"hang hangs hanging hung stuck deadlock timeout freeze freezes frozen waits "
   "nccl watchdog desync",
   "A program hangs\n"
   "  Ctrl-C                   each rank's line, and who waits for whom\n"
   "  :break diverge           stop where ranks turn out to take different paths\n"
   "  :help DT0502             the error that says so\n"},
  {"nan nans overflow exploding loss diverges",
   "NaN, or a loss that is wrong\n"
   "  :break nan               stop at the operator where it is born, on any rank\n"
   "  :findings                silent faults that were noticed; :verify compares\n"
   "                           each operator with one device\n"},
  {"memory oom cuda leak allocated peak",
   "Where memory goes\n"
   "  :mem                     by kind, now and at the peak, and where that was\n"},
  {"gradient gradients grads drift ranks differ different desynchronized",
   "Ranks that should be equal and are not; gradients\n"
   "  :grads                   a leaf's placements and its gradient's, side by side\n"
   "  :same x                  bit by bit on all ranks\n"
   "  :types x                 equal, own or addends on each mesh dimension, and why\n"},
  {"error raise raises fix repair exception",
   "An error of a distributed tensor\n"
   "  :fix, :fix 1             repairs that were tried; use one and go on\n"
   "  :explain DT0101          what it means; :bt where it was raised\n"
   "  :report r.md             a bug report with a repro that was run\n"},
  {"paste pasted traceback colleague elsewhere",
   "An error from somewhere else, without the program\n"
   "  dtrepl diagnose FILE     or :import at the prompt, or paste the traceback\n"},
  {"upgrade release version torch pytorch older newer",
   "What another PyTorch does differently\n"
   "  dtrepl --across 2.13,2.15 train.py      line by line; --torch 2.13 follows one\n"},
  {"step breakpoint debugger pdb variables locals inspect",
   "Stop and look around\n"
   "  dtrepl -d train.py       then :break train.py:20, :break step (a function),\n"
   "                           :c, :info locals, :up, :back\n"},
};
enum { NTASKS = sizeof tasks / sizeof tasks[0] };

/* Is the word among the others? */
static bool has_word (const char *words, const char *s, size_t n) {
  for (; *words != '\0'; words += strspn(words, " ")) {
    size_t k = strcspn(words, " ");
    size_t i = 0;
    while (i < k && k == n && tolower((unsigned char)s[i]) == words[i]) i++;
    if (i == n && k == n) return true;
    words += k;
  }
  return false;
}

bool dt_help_tasks (const char *what, DtBuf *out) {
  bool all = strcmp(what, "tasks") == 0, found = false;
  for (int i = 0; i < NTASKS; i++) {
    bool yes = all;
    for (const char *s = what; *s != '\0' && !yes; s += strspn(s, " ?,")) {
      size_t n = strcspn(s, " ?,");
      yes = has_word(tasks[i].words, s, n);
      s += n;
    }
    if (yes) dt_buf_add(out, tasks[i].text);
    found = found || yes;
  }
  return found;
}
