/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh.h"

#include <stdlib.h>

// Corners of an element, as offsets in x, y and z from its first node.
static const int STEP[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                               {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

static long node_number(long n, bool natural, const long at[3]) {
  long side = n + 1;
  return natural ? (at[2] * side + at[1]) * side + at[0] : (at[0] * side + at[1]) * side + at[2];
}

static void connect(mesh* m, bool natural) {
  for (long element = 0; element < m->elements; element++) {
    long first[3] = {element % m->n, element / m->n % m->n, element / m->n / m->n};
    for (int c = 0; c < 8; c++) {
      long at[3] = {first[0] + STEP[c][0], first[1] + STEP[c][1], first[2] + STEP[c][2]};
      m->corner[element * 8 + c] = node_number(m->n, natural, at);
    }
  }
}

static void invert(mesh* m) {
  for (long i = 0; i < m->elements * 8; i++) m->corner_start[m->corner[i] + 1]++;
  for (long node = 0; node < m->nodes; node++) m->corner_start[node + 1] += m->corner_start[node];
  long* next = calloc((size_t)m->nodes, sizeof(long));
  for (long i = 0; i < m->elements * 8; i++) {
    long node = m->corner[i];
    m->corners_of[m->corner_start[node] + next[node]++] = i;
  }
  free(next);
}

mesh mesh_new(long n, bool natural) {
  mesh m = {n, n * n * n, (n + 1) * (n + 1) * (n + 1), NULL, NULL, NULL};
  m.corner = malloc((size_t)m.elements * 8 * sizeof(long));
  m.corner_start = calloc((size_t)m.nodes + 1, sizeof(long));
  m.corners_of = malloc((size_t)m.elements * 8 * sizeof(long));
  connect(&m, natural);
  invert(&m);
  return m;
}

void mesh_free(mesh* m) {
  free(m->corner);
  free(m->corner_start);
  free(m->corners_of);
}

void mesh_position(const mesh* m, bool natural, long node, double at[3]) {
  long side = m->n + 1, digits[3] = {node % side, node / side % side, node / side / side};
  for (int d = 0; d < 3; d++) at[d] = (double)digits[natural ? d : 2 - d] / (double)m->n;
}
