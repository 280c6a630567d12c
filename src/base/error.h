/* SPDX-License-Identifier: MIT
** base/error.h: status codes and the macros that raise and pass them on.
** Here are the codes that any module may return; error_shard.h, error_comm.h
** and error_tool.h have the others, for those that name them.
**
** Every engine function that can fail returns a DtStatus and leaves its
** outputs untouched on failure.  The words live in the context (ctx.h).
** The engine never prints, jumps or exits. */
#ifndef DT_BASE_ERROR_H
#define DT_BASE_ERROR_H

typedef struct DtCtx DtCtx;

/* A code of one of the four tables; there are gaps between them. */
typedef int DtStatus;

enum {
  DT_OK = 0,
#define X(name, id, pyclass, text, hint) DT_E_##name,
#include "base/errors.def"
#undef X
  DT_E_ANY_END
};

/* The largest code there may be: agreement sends a code in eight bits. */
enum { DT_STATUS_MAX = 255 };

/* One row of the tables. */
typedef struct DtErrorInfo {
  DtStatus code;
  const char *name;     /* "MIXED" */
  const char *id;       /* "DT0101" */
  const char *pyclass;  /* class PyTorch raises by default */
  const char *text;     /* one-line summary */
  const char *hint;     /* next step */
} DtErrorInfo;

/* The row of a status; the row of INTERNAL for an unknown one.  Pure. */
const DtErrorInfo *dt_error_info (DtStatus st);

/* The status called `name_or_id` ("MIXED" or "DT0101"), DT_OK when there is
** none.  Pure. */
DtStatus dt_error_find (const char *name_or_id);

/* The code after `st` in the order of ids, the first after DT_OK, DT_OK after
** the last or a code that is none.  Pure. */
DtStatus dt_error_next (DtStatus st);

/* Raise: put code and message into the context, return the code.  Local.
** A second raise without dt_error_clear() keeps the first as its cause. */
DtStatus dt_raise (DtCtx *cx, DtStatus code, const char *fmt, ...)
#if defined(__GNUC__)
  __attribute__((format(printf, 3, 4)))
#endif
;

/* The same with another Python class than the row's ("ValueError").
** `pyclass` must be a literal.  Local. */
DtStatus dt_raise_as (DtCtx *cx, DtStatus code, const char *pyclass,
                      const char *fmt, ...)
#if defined(__GNUC__)
  __attribute__((format(printf, 4, 5)))
#endif
;

/* Name why the pending error was raised, for code that decides by it: texts
** change from release to release.  `reason` must be a literal; Lua sees it as
** the error's field `reason`.  Another raise forgets it.  Returns st.  Local. */
DtStatus dt_error_reason (DtCtx *cx, DtStatus st, const char *reason);

/* Add a C frame to the pending error (used by DT_TRY).  Local. */
DtStatus dt_error_frame (DtCtx *cx, DtStatus st, const char *func,
                         const char *file, int line);

/* Return from the function with an error when `cond` is false. */
#define DT_CHECK(cx, cond, code, ...) \
  do { if (!(cond)) return dt_raise((cx), (code), __VA_ARGS__); } while (0)

/* Return from the function when the call fails, adding a frame. */
#define DT_TRY(cx, call) \
  do { DtStatus dt_st_ = (call); \
       if (dt_st_ != DT_OK) \
         return dt_error_frame((cx), dt_st_, __func__, __FILE__, __LINE__); \
  } while (0)

/* The same for functions with a single exit label `done:` and a local
** variable `DtStatus st`. */
#define DT_TRYG(cx, call) \
  do { st = (call); \
       if (st != DT_OK) { \
         (void)dt_error_frame((cx), st, __func__, __FILE__, __LINE__); \
         goto done; } } while (0)

#define DT_CHECKG(cx, cond, code, ...) \
  do { if (!(cond)) { st = dt_raise((cx), (code), __VA_ARGS__); \
                      goto done; } } while (0)

/* Our own bug: becomes status INTERNAL, never an abort. */
#define DT_ASSERT(cx, cond) \
  DT_CHECK(cx, cond, DT_E_INTERNAL, "%s:%d: %s", __FILE__, __LINE__, #cond)

#endif
