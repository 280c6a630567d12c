/* SPDX-License-Identifier: MIT
** comm/loader.c: find and load the MPI world.
**
** It lies in a shared object of its own, next to the program or in the
** installed library folder, so that the other worlds do not pay for MPI's
** start-up and need no MPI at all.  The object stays loaded until the
** process ends: MPI leaves threads and exit handlers behind. */
#include <dlfcn.h>
#include <stdlib.h>
#include "base/error_comm.h"
#include "comm/board_int.h"

#define OBJECT "dtrepl-mpi.so"

bool dt_mpi_launched (void) {
  static const char *const names[] = {
    "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MPI_LOCALRANKID"
  };
  size_t i;
  for (i = 0; i < sizeof names / sizeof *names; i++) {
    if (getenv(names[i]) != NULL)
      return true;
  }
  return false;
}

#if defined(DT_NO_MPI)

DtStatus dt_comm_mpi (DtCtx *cx, const char *dir, DtComm **out) {
  (void)dir; (void)out;
  return dt_raise(cx, DT_E_COMM, "this dtrepl was built without MPI (MPI=0)");
}

#else

static void *try_open (DtBuf *path, const char *dir) {
  dt_buf_clear(path);
  dt_buf_addf(path, "%s/%s", dir, OBJECT);
  return dlopen(dt_buf_str(path), RTLD_NOW | RTLD_GLOBAL);
}

/* The folder given, then the one it was installed to; the reason of the first
** failure is the one to tell. */
static DtStatus find_open (DtCtx *cx, const char *dir, DtMpiOpen *out) {
  const char *why = "";
  DtBuf path;
  void *lib = NULL;
  DtStatus st = DT_OK;
  dt_buf_init(&path, cx);
  if (dir != NULL) {
    lib = try_open(&path, dir);
    why = lib == NULL ? dlerror() : "";
  }
#if defined(DT_LIBDIR)
  if (lib == NULL)
    lib = try_open(&path, DT_LIBDIR);
  if (lib == NULL && dir == NULL)
    why = dlerror();
#endif
  DT_CHECKG(cx, lib != NULL, DT_E_COMM, "MPI cannot be loaded: %s", why);
  /* ISO C has no cast from object to function pointer; POSIX needs it. */
  *(void **)out = dlsym(lib, "dt_comm_open_mpi");
  DT_CHECKG(cx, *out != NULL, DT_E_COMM, "%s is not a part of dtrepl",
            dt_buf_str(&path));
done:
  dt_buf_fini(&path);
  return st;
}

DtStatus dt_comm_mpi (DtCtx *cx, const char *dir, DtComm **out) {
  DtMpiOpen open_mpi = NULL;
  DtComm *c;
  DtStatus st;
  DT_TRY(cx, find_open(cx, dir, &open_mpi));
  DT_TRY(cx, dt_comm_new(cx, NULL, 0, 1, &c));
  DT_TRYG(cx, open_mpi(cx, c));   /* sets vt, rank, size, board */
  DT_TRYG(cx, dt_comm_setup(cx, c));
  *out = c;
  return DT_OK;
done:
  if (c->vt == NULL)
    dt_free(cx, c);
  else
    dt_comm_free(cx, c);
  return st;
}

#endif
