/* SPDX-License-Identifier: MIT
** bind/bind.h: the Lua binding: states, boxes, values, errors.
**
** Each binding function has four steps in this order: (1) check arguments,
** owning nothing; (2) make the result box, empty and collectable; (3) call the
** engine, which never raises; (4) on failure return dtL_raise(L), else the
** result is already on the stack.  The order is what makes it leak-free.
** All functions here are Local. */
#ifndef DT_BIND_BIND_H
#define DT_BIND_BIND_H

#include <lua.h>
#include <lauxlib.h>
#include "engine/autograd.h"
#include "engine/dist.h"

#define DTL_TENSOR    "dt.tensor"
#define DTL_MESH      "dt.mesh"
#define DTL_PLACEMENT "dt.placement"
#define DTL_DTYPE     "dt.dtype"
#define DTL_ERROR     "dt.error"
#define DTL_SIZE      "dt.size"

typedef struct DtBindOpts {
  bool bare;            /* no presets but dt */
  bool trust;           /* lift the limits on files and processes */
  bool sandbox;         /* no files at all */
  bool alone;           /* one rank stands for all: meshes are cut down to it */
  int64_t mem_limit;    /* bytes of this rank, Lua and tensors; 0 = none */
  const char *argv0;    /* name of the program, for messages */
  const char *program;  /* path of the script that is run; NULL: none */
} DtBindOpts;

struct DtControl;
struct DtStopAt;

enum { DTL_NAMES = 64, DTL_SCOPES = 32, DTL_FRAMES = 8, DTL_SEEN = 12,
       DTL_CALLS = 24, DTL_GLOBALS = 400, DTL_PY_KEYS = 4 };
typedef struct DtScopeName {    /* a function's name in the record */
  const char *source; int line; const char *name, *text;
} DtScopeName;

/* A function under way whose variables were recorded last: where it stood, and
** which tensors (DtVar.id) its locals held.  See bound.c. */
typedef struct DtSeenFrame {
  const void *ci, *func, *pc;
  int64_t record;               /* DtRecord.id */
  bool all;                     /* these are all it held */
  int n; struct { int local; int64_t id; } v[DTL_SEEN];
} DtSeenFrame;

/* Below the call `ci` the stack is a stopped script's: what a typed line does
** has no place there, but at `file`:`line`, or none ("").  NULL: no such call.
*/
typedef struct DtFloor { const void *ci; const char *file; int line; } DtFloor;

/* The calls that were gone through when all functions were asked last,
** innermost first. */
typedef struct DtSeenCall {
  const void *ci, *func;
  const void *pc;               /* NULL: of C */
  int seen;                     /* which DtSeenFrame it is; -1: none */
} DtSeenCall;
typedef struct DtSeenCalls {
  int64_t record;
  const char *scope; int line;  /* of the innermost of the script */
  int n; DtSeenCall v[DTL_CALLS];       /* n 0: not known */
} DtSeenCalls;

/* What the binding keeps per state; found with dtL_state(). */
typedef struct DtBind {
  DtSession *s;
  lua_State *L;
  lua_State *cur;       /* the coroutine that called the engine last; held */
  lua_State *hooked;    /* is inside one of its hooks, where Lua turns off the
                        ** others of this thread; or NULL */
  DtBindOpts o;
  DtBuf out;            /* what print() wrote since it was last taken */
  void (*on_print) (void *ud);  /* it wrote; may take; NULL: nobody asks */
  void *on_print_ud;
  int64_t pending;      /* bytes of tensors boxed since the last full gc */
  const char *src_key; const char *src_name;   /* where(): last source seen */
  DtFloor floor;
  bool exiting; int exit_code;                 /* os.exit was called */
  int last_ref;         /* registry reference of an error object that is
                        ** passing through the engine */
  /* The shell's part of a stop (debug/control.h), NULL without a shell. */
  DtStatus (*on_stop) (void *ud, struct DtControl *c, struct DtStopAt *at);
  bool (*can_stop) (void *ud);
  void (*on_raised) (lua_State *L);     /* an error (at 1) that nobody caught,
                                        ** where it is raised */
  void *stop_ud;
  struct DtJudged *judged;              /* what a condition is asked about
                                        ** (cond.c), or NULL */
  DtPrintOpts print;    /* dt.set_printoptions; as the person set them */
  bool print_set;
  int handler;          /* registry reference of dt.debug.run's, or NOREF */
  lua_Hook interrupt_hook;      /* what Ctrl-C sets, NULL without a shell */
  void (*on_handled) (void *ud);        /* a handler of Python's goes on */
  int ref_interrupt;    /* registry: the error object of the Ctrl-C that ends
                        ** what runs, see l_error.c; or 0 */
  int ref_raised;       /* registry: the last call that raised, see l_raised.c, */
  int64_t raised;       /* and one more than the operator it came after; or 0 */
  const char *name_key[DTL_NAMES], *name_val[DTL_NAMES];  /* bound.c */
  DtScopeName scope[DTL_SCOPES];
  const char *names_in; int names_line;         /* asked there last */
  lua_State *asked;             /* a stack of what names are asked of: see
                                ** bound.c; held by the registry, or NULL */
  const char *global[DTL_GLOBALS]; int nglobals;        /* globals that sources
                                ** assign to, interned */
  int ref_globals;              /* registry: the set of them; or 0 */
  int ref_py[DTL_PY_KEYS];      /* registry: keys of scopes, pyframe.h; or 0 */
  int ref_py_data;              /* and the function that recognises data */
  bool py_reading;              /* statements are made, not run */
  /* What where() found last, and for which operator; names ask for it again. */
  struct { const void *ci; int64_t seq; const char *source; int line, defined; }
    at;
  bool watched;         /* somebody looks at the operators called, l_op.c */
  unsigned char box_tag, lua_tag;       /* slots.c; 0: not known */
  bool protos, boxes, pcs, links;       /* slots.c: functions, boxes, where a
                                ** function stands, and the call outside, lie
                                ** as thought */
  DtSeenFrame seen[2][DTL_FRAMES];      /* of `L`, of `cur`; innermost first */
  DtSeenCalls calls[2];
  const void *tensor_meta;      /* metatable of tensors, once one was seen */
} DtBind;

/* A state with all libraries, `dt` and the presets open.  Allocates through
** the session's context.  NOMEM, LUA.  Local. */
DtStatus dtL_state_new (DtSession *s, const DtBindOpts *o, lua_State **out);
void dtL_state_free (lua_State *L);
DtBind *dtL_state (lua_State *L);
DtSession *dtL_session (lua_State *L);
/* From here on until it is set back, what is called has no place below the
** running call of `L`.  `file` is static.  Gives what was before.  Local. */
DtFloor dtL_floor (lua_State *L, const char *file, int line);
/* This coroutine runs now (DtBind.cur); Lua's memory may run out.  Local. */
void dtL_set_current (lua_State *L);
/* package.searchers entry for the modules compiled in. */
int dtL_search_embed (lua_State *L);
/* Let require "lpeg" find the one linked in. */
void dtL_preload_lpeg (lua_State *L);
/* print()'s buffer of this rank; whoever writes it out clears it. */
DtBuf *dtL_out (lua_State *L);
/* An error object (at `idx`, absolute) that a library of Lua raises gets the
** calls under way as its trace, unless it has one; other values none. */
void dtL_add_trace (lua_State *L, int idx);
/* Traceback handler for lua_pcall: turns a string into an error object. */
int dtL_traceback (lua_State *L);
/* Text of the error object (or any value) at `idx`, for a person.  Local. */
void dtL_error_text (lua_State *L, int idx, DtBuf *out);
/* Text of any value as the prompt shows it (inspect).  Local. */
void dtL_show_value (lua_State *L, int idx, DtBuf *out);

/* --- boxes --- */
/* Push an empty tensor box; the pointer is filled by the caller. */
DtVar **dtL_box_tensor (lua_State *L);
/* Tell the collector of a tensor that was put into a box by hand. */
void dtL_count_tensor (lua_State *L, const DtVar *v);
/* Push a box with a reference of its own, which is taken when the box is there:
** where Lua has no memory for it, none is lost. */
void dtL_share_tensor (lua_State *L, DtVar *v);
DtVar *dtL_check_tensor (lua_State *L, int idx);
DtVar *dtL_test_tensor (lua_State *L, int idx);
DtMesh **dtL_box_mesh (lua_State *L);
DtMesh *dtL_check_mesh (lua_State *L, int idx);
DtMesh *dtL_test_mesh (lua_State *L, int idx);
void dtL_push_placement (lua_State *L, DtPlacement p);
bool dtL_test_placement (lua_State *L, int idx, DtPlacement *out);
/* Placements from a table of placements or strings, or a string "S(0) R".
** Raises.  Returns how many. */
int dtL_check_placements (lua_State *L, int idx, DtPlacement *out, int max);
void dtL_push_placements (lua_State *L, const DtPlacement *p, int n);
void dtL_push_dtype (lua_State *L, DtDtype t);
/* Is it a complex number, {re =, im =} with `complex_number` in its metatable
** (python/complex.lua)?  Then its parts are in *re and *im.  Pure. */
bool dtL_test_complex (lua_State *L, int idx, double *re, double *im);
/* From a dtype object or its name; DT_DTYPE_NONE when it is neither. */
DtDtype dtL_to_dtype (lua_State *L, int idx);
DtDtype dtL_check_dtype (lua_State *L, int idx);
/* A table of integers (or one integer); raises.  Returns how many. */
int dtL_check_ints (lua_State *L, int idx, int64_t *out, int max);
/* {8, 4} that prints as torch.Size([8, 4]). */
void dtL_push_size (lua_State *L, const int64_t *v, int n);
/* The text of `b` as a string; `b` is finished, also when this raises. */
void dtL_push_buf (lua_State *L, DtBuf *b);
/* The value standing for a hole in a list: dt.None. */
bool dtL_is_none (lua_State *L, int idx);
void dtL_push_none (lua_State *L);

/* --- errors --- */
/* Raise the pending engine error as an error object.  Never returns. */
int dtL_raise (lua_State *L);
/* Raise an error of the binding with PyTorch's class.  Never returns. */
int dtL_errorf (lua_State *L, DtStatus code, const char *fmt, ...);
/* Ctrl-C has been dealt with: the next one raises an object of its own.  Local. */
void dtL_forget_interrupt (lua_State *L);
/* The tensor or mesh that is parameter `param` of function `fn`; anything else
** raises a TypeError that names both.  Local. */
DtVar *dtL_param_tensor (lua_State *L, int idx, const char *fn,
                         const char *param);
DtMesh *dtL_param_mesh (lua_State *L, int idx, const char *fn,
                        const char *param);
/* Turn a Lua error on the top of the stack into the pending engine error (for
** callbacks); pops it. */
DtStatus dtL_catch (lua_State *L, DtStatus code);
/* Run f(ud) where the engine calls back, which no error of Lua may pass: one,
** as of memory, becomes the pending error of the context. */
DtStatus dtL_protected (lua_State *L, lua_CFunction f, void *ud);

/* --- values and operators --- */
/* Positional and keyword values of a call, converted from the stack. */
typedef struct DtLuaArgs {
  int npos, nkw, nin;
  DtValue *pos; const char **kwname; DtValue *kw;
  DtVar **in;                   /* by slot */
  DtArena *arena;
} DtLuaArgs;
/* Convert stack values first..top.  A final table with any string key holds
** keyword arguments.  Memory is the context's scratch arena.  Raises. */
void dtL_to_args (lua_State *L, int first, DtLuaArgs *out);
/* The values of `a` for a schema; borrowed from it. */
static inline DtGiven dtL_given (const DtLuaArgs *a) {
  return (DtGiven){ a->npos, a->pos, a->nkw, a->kwname, a->kw };
}
/* Number the slots of bound arguments in the schema's order, and `a->in` with
** them: keywords come in the order of a Lua table, which is any, while kernels
** and rules count the tensors from the left.  Memory as above. */
DtStatus dtL_order_slots (DtCtx *cx, DtLuaArgs *a, DtArgs *args);
/* Push one engine value; tensors through `in` (by slot). */
void dtL_push_value (lua_State *L, const DtValue *v, DtVar *const *in);
/* Push results of a call: tensors, tuples as several values, lists as tables;
** returns how many values. */
int dtL_push_results (lua_State *L, const DtOpDef *op, DtResults *r);
/* Result `i` of a custom operator's last run when it is no tensor but an
** integer; false otherwise.  Local. */
bool dtL_custom_int (const DtOpDef *op, int i, int64_t *out);
/* A lua_CFunction, see its file: is the value a Python list or a tuple? */
int dtL_sequence (lua_State *L);
/* How a packet is called: torch.<op>(...), x.<op>(...) or
** torch.ops.<ns>.<op>(...); errors are worded for it. */
typedef enum DtLuaStyle {
  DTL_FUNCTION, DTL_METHOD, DTL_PACKET
} DtLuaStyle;

/* Call a packet (or one overload when `op` is given) with stack values
** first..top.  Raises. */
int dtL_call_op (lua_State *L, const DtPacket *p, const DtOpDef *op,
                 int first, DtLuaStyle style);

/* --- openers: each leaves its table or nothing, see the file --- */
void dtL_open_tensor (lua_State *L);
void dtL_open_mesh (lua_State *L);
void dtL_open_placement (lua_State *L);
void dtL_open_error (lua_State *L);
void dtL_open_op (lua_State *L, int dt);
void dtL_open_dist (lua_State *L, int dt);
void dtL_open_pyframe (lua_State *L, int dt);  /* Python's variables */
void dtL_open_p2p (lua_State *L, int dt);       /* send and recv */
void dtL_open_autograd (lua_State *L, int dt);
/* No function of Lua is asked about kept tensors any longer.  Local. */
void dtL_pack_nothing (DtSession *s);
void dtL_open_node (lua_State *L, int dt);      /* dt._grad_node */
void dtL_open_custom (lua_State *L, int dt);
void dtL_open_misc (lua_State *L, int dt);
void dtL_open_libm (lua_State *L, int dt);      /* dt._libm */
void dtL_open_regex (lua_State *L, int dt);     /* dt._regex */
void dtL_open_json_read (lua_State *L, int dt); /* dt._json_decode */
void dtL_open_record (lua_State *L, int dt);
void dtL_open_named (lua_State *L, int dt);
void dtL_open_handler (lua_State *L, int dt);
void dtL_open_modes (lua_State *L, int dt);
void dtL_open_debug (lua_State *L, int dt);
void dtL_open_control (lua_State *L, int dt);   /* adds to dt.debug */
void dtL_open_past (lua_State *L, int dt);      /* likewise */
void dtL_open_rules (lua_State *L, int dt);
/* The system's folder of temporary files ($TMPDIR or /tmp), and how the names
** of our folders in it begin.  Local. */
#define DTL_TEMP_NAME "dtrepl-tmp-"
const char *dtL_temp_root (void);
/* Is it a relative path without ".."?  Pure. */
bool dtL_path_is_below (const char *p);
/* Raises SANDBOX when a script may not touch this path.  Local. */
void dtL_check_path (lua_State *L, const char *path);
void dtL_open_file (lua_State *L, int dt);
void dtL_open_storage (lua_State *L, int dt);   /* what is under tensors */
void dtL_open_diag (lua_State *L, int dt);      /* findings */
void dtL_open_answers (lua_State *L, int dt);   /* why, plan, show as data */
/* Lua's watch_ops(f): f(name, call, arguments...) stands for each operator that
** is called from Lua, from here on; nil: none does.  Local. */
int dtL_watch_ops (lua_State *L);
/* It sees them from here on, or not, where there is one. */
void dtL_look_at_ops (lua_State *L, bool on);
void dtL_open_spmd (lua_State *L, int dt);      /* SPMD types */
void dtL_open_spmd_call (lua_State *L, int dt);  /* after it */
void dtL_open_program (lua_State *L, int dt);   /* modules, meeting */
void dtL_open_export (lua_State *L, int dt);    /* page, trace */
/* Keep which call of the script's raises the error object on the top.  Local.
*/
void dtL_note_raised (lua_State *L);
/* The same at a stop inside the call, which will raise this when the program
** goes on.  Local. */
void dtL_note_stopped (lua_State *L, DtStatus code, const char *message);
/* The program has gone on: it is not what happened last.  Allocates nothing.
** Local. */
void dtL_forget_raised (lua_State *L);
void dtL_open_raised (lua_State *L, int dt);
void dtL_open_entry (lua_State *L, int dt);     /* these four too */
void dtL_open_who (lua_State *L, int dt);
void dtL_open_when (lua_State *L, int dt);
void dtL_open_verify (lua_State *L, int dt);
void dtL_open_nested (lua_State *L, int dt);
void dtL_open_base (lua_State *L);      /* print, pairs, files, limits */

#endif
