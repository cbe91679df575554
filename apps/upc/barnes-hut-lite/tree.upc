/* SPDX-License-Identifier: BSD-3-Clause */
#include "tree.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { DEEPEST = 48 };  // bodies that are closer than 2^-48 of the cube share a leaf

static const double softening = 1e-3;

static tree node_new(const double middle[3], double half) {
  tree made = upc_alloc(sizeof(node));
  made->mass = 0;
  made->half = half;
  made->bodies = 0;
  for (int d = 0; d < 3; d++) {
    made->centre[d] = 0;
    made->middle[d] = middle[d];
  }
  for (int c = 0; c < 8; c++) made->child[c] = NULL;
  return made;
}

// Returns the child of `at` whose cube contains the position; creates the child if it is missing.
static tree child_for(tree at, const double position[3]) {
  int which = 0;
  double middle[3];
  for (int d = 0; d < 3; d++) {
    bool upper = position[d] >= at->middle[d];
    which |= upper << d;
    middle[d] = at->middle[d] + (upper ? 0.5 : -0.5) * at->half;
  }
  if (at->child[which] == NULL) at->child[which] = node_new(middle, at->half / 2);
  return at->child[which];
}

static void add(tree at, double mass, const double position[3], int depth) {
  if (at->bodies == 1 && depth < DEEPEST) {  // a leaf no longer: move its body down
    double inner[3];
    for (int d = 0; d < 3; d++) inner[d] = at->centre[d] / at->mass;
    add(child_for(at, inner), at->mass, inner, depth + 1);
  }
  if (at->bodies > 0 && depth < DEEPEST) add(child_for(at, position), mass, position, depth + 1);
  at->bodies++;
  at->mass += mass;
  for (int d = 0; d < 3; d++) at->centre[d] += mass * position[d];
}

static void divide_by_mass(tree at) {
  for (int d = 0; d < 3; d++) at->centre[d] /= at->mass;
  for (int c = 0; c < 8; c++)
    if (at->child[c] != NULL) divide_by_mass(at->child[c]);
}

tree tree_new(shared body *bodies, long count) {
  double largest = 0;
  for (long i = 0; i < count; i++)
    for (int d = 0; d < 3; d++) largest = fmax(largest, fabs(bodies[i].at[d]));
  const double middle[3] = {0, 0, 0};
  tree root = node_new(middle, largest * 1.001 + 1e-9);
  for (long i = 0; i < count; i++) {
    body one = bodies[i];
    add(root, one.mass, one.at, 0);
  }
  divide_by_mass(root);
  return root;
}

void tree_free(tree root) {
  for (int c = 0; c < 8; c++)
    if (root->child[c] != NULL) tree_free(root->child[c]);
  upc_free(root);
}

void pull_of(double mass, const double from[3], const double at[3], double pull[3]) {
  double way[3], squared = softening * softening;
  for (int d = 0; d < 3; d++) {
    way[d] = from[d] - at[d];
    squared += way[d] * way[d];
  }
  double strength = mass / (squared * sqrt(squared));
  for (int d = 0; d < 3; d++) pull[d] += strength * way[d];
}

void tree_pull(tree root, const double at[3], double theta, double pull[3]) {
  double squared = 0, centre[3];
  for (int d = 0; d < 3; d++) {
    centre[d] = root->centre[d];
    squared += (centre[d] - at[d]) * (centre[d] - at[d]);
  }
  double edge = 2 * root->half;
  bool is_leaf = true;
  if (root->bodies > 1 && edge * edge >= theta * theta * squared)
    for (int c = 0; c < 8; c++)
      if (root->child[c] != NULL) {
        is_leaf = false;
        tree_pull(root->child[c], at, theta, pull);
      }
  if (is_leaf) pull_of(root->mass, centre, at, pull);
}
