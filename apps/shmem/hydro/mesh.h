// An unstructured mesh of hexahedra: elements know their nodes by number, and nothing else says
// where anything lies.
//
// The mesh fills the unit cube with n*n*n equal elements. As mesh generators number elements and
// nodes independently, elements are numbered with x the fastest, nodes with z the fastest;
// `natural`: nodes as elements.
#pragma once

#include <stdbool.h>

typedef struct {
  long n, elements, nodes;
  long* corner;        // [element*8 + c]: node at corner c
  long* corner_start;  // [node], nodes + 1 of them: where the node's corners begin in...
  long* corners_of;    // ...[...]: element*8 + c, ascending
} mesh;

mesh mesh_new(long n, bool natural);
void mesh_free(mesh* m);

// Where a node is at the start.
void mesh_position(const mesh* m, bool natural, long node, double at[3]);
