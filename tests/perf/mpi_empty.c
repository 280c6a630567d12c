/* SPDX-License-Identifier: MIT
** mpi_empty.c: the shortest MPI program; what mpirun itself costs. */
#include <mpi.h>

int main (int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  return 0;
}
