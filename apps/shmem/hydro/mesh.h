// SPDX-License-Identifier: BSD-3-Clause

// An unstructured mesh of hexahedra: elements refer to their nodes by number, and the numbers say
// nothing about positions.
//
// The mesh fills the unit cube with n*n*n equal elements. Mesh generators number elements and nodes
// independently; to imitate that, x varies fastest in element numbers and z in node numbers.
// `natural`: nodes are numbered like elements.
#pragma once

#include <stdbool.h>

typedef struct {
  long n, elements, nodes;
  long* corner;        // [element*8 + c]: the node at corner c
  long* corner_start;  // [node], nodes + 1 entries: where the node's entries begin in corners_of
  long* corners_of;    // element*8 + c, ascending for each node
} mesh;

mesh mesh_new(long n, bool natural);
void mesh_free(mesh* m);

// Computes the initial position of a node.
void mesh_position(const mesh* m, bool natural, long node, double at[3]);
