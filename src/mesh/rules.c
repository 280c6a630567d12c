/* SPDX-License-Identifier: MIT
** mesh/rules.c: what a release of PyTorch changes in the algebra of meshes, read
** off the switches of its profile. */
#include "compat/profile.h"
#include "mesh/mesh.h"

static DtMeshStyle style_of (const DtProfile *p) {
  return dt_switch(p, DT_SW_MESH_REPR_24) ? DT_MESH_RANKS
    : dt_switch(p, DT_SW_MESH_REPR_25) ? DT_MESH_DEVICE
    : dt_switch(p, DT_SW_MESH_REPR_29) ? DT_MESH_COLONS
    : dt_switch(p, DT_SW_MESH_REPR_210) ? DT_MESH_NUMBER : DT_MESH_TUPLE;
}

DtMeshRules dt_mesh_rules (const DtProfile *p) {
  return (DtMeshRules){
    .submesh_refused = dt_switch(p, DT_SW_SUBMESH_REFUSED) != 0,
    .submesh_warns = dt_switch(p, DT_SW_SUBMESH_WARNS) != 0,
    .style = style_of(p),
  };
}
