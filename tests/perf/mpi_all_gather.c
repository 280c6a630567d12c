/* SPDX-License-Identifier: MIT
** all_gather of 64 MB on 4 ranks: ours against the raw MPI call, in one run;
** prints "name value unit budget" on rank 0.  Budget: within 10 %. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "comm/comm.h"

enum { RUNS = 7, MB = 64 };

static int cmp (const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

int main (int argc, char **argv) {
  DtCtx *cx = NULL;
  DtComm *c = NULL;
  double raw[RUNS], ours[RUNS];
  size_t part = (size_t)MB << 20;
  char *in, *out, dir[4096];
  int r;
  if (dt_ctx_new(&cx) != DT_OK) return 1;
  snprintf(dir, sizeof dir, "%s", argc > 1 ? argv[1] : "build");
  if (dt_comm_mpi(cx, dir, &c) != DT_OK) {
    printf("error: %s\n", dt_buf_str(&cx->err.message));
    return 1;
  }
  part /= (size_t)c->size;
  in = malloc(part);
  out = malloc(part * (size_t)c->size);
  if (!in || !out) return 1;
  memset(in, c->rank, part);
  memset(out, 0, part * (size_t)c->size);
  for (r = 0; r < RUNS; r++) {
    DtCollInfo info = { "all_gather_into_tensor", 0, "bench", "", "" };
    double t0;
    MPI_Barrier(MPI_COMM_WORLD);
    t0 = MPI_Wtime();
    MPI_Allgather(in, (int)part, MPI_BYTE, out, (int)part, MPI_BYTE,
                  MPI_COMM_WORLD);
    raw[r] = MPI_Wtime() - t0;
    MPI_Barrier(MPI_COMM_WORLD);
    t0 = MPI_Wtime();
    if (dt_comm_all_gather(cx, c->world, &info, in, part, out) != DT_OK)
      return 1;
    ours[r] = MPI_Wtime() - t0;
  }
  qsort(raw, RUNS, sizeof *raw, cmp);
  qsort(ours, RUNS, sizeof *ours, cmp);
  if (c->rank == 0)
    printf("mpi_all_gather_64MB_over_raw %.3f ratio 1.1\n",
           ours[RUNS / 2] / raw[RUNS / 2]);
  free(in);
  free(out);
  dt_comm_free(cx, c);
  dt_ctx_free(cx);
  return 0;
}
