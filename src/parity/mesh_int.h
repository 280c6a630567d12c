/* SPDX-License-Identifier: MIT
** parity/mesh_int.h: comparing a mesh with its JSON, for mesh.c and
** release.c. */
#ifndef DT_PARITY_MESH_INT_H
#define DT_PARITY_MESH_INT_H

#include "parity/parity_int.h"

bool dt_same_ranks (DtParity *p, const json_t *want, const DtMesh *m);
bool dt_same_names (DtParity *p, const json_t *want, const DtMesh *m);
bool dt_same_coord (DtParity *p, const json_t *want, const DtMesh *m);
bool dt_same_repr (DtParity *p, const char *want, const DtMesh *m);

#endif
