// SPDX-License-Identifier: BSD-3-Clause

// The octree of barnes-hut-lite: thread 0 builds it, all threads traverse it.
#pragma once

#include <upc_relaxed.h>

typedef struct {
  double mass;
  double at[3];
  double velocity[3];
} body;

typedef struct node {
  double mass;
  double centre[3];  // of mass; while the tree is being built, the sum of mass times position
  double middle[3];  // of the cube
  double half;       // of its edge
  int bodies;
  shared[] struct node* child[8];
} node;

typedef shared[] node* tree;

// Builds the tree of `count` bodies; all its nodes have affinity to the calling thread.
tree tree_new(shared body* bodies, long count);

void tree_free(tree root);

// Adds to `pull` the acceleration that the bodies of the tree cause at `at`. A cube whose edge is
// less than `theta` times its distance counts as one body.
void tree_pull(tree root, const double at[3], double theta, double pull[3]);

// Adds the acceleration caused by a mass at `from`. The force is softened at short distances, so
// that a body does not accelerate itself.
void pull_of(double mass, const double from[3], const double at[3], double pull[3]);
