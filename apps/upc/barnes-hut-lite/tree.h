// The octree of barnes-hut-lite: thread 0 builds it, all threads walk it.
#pragma once

#include <upc_relaxed.h>

typedef struct {
  double mass;
  double at[3];
  double velocity[3];
} body;

typedef struct node {
  double mass;
  double centre[3];  // of mass; of the sum of positions times masses while the tree is built
  double middle[3];  // of the cube
  double half;       // of its edge
  int bodies;
  shared[] struct node* child[8];
} node;

typedef shared[] node* tree;

// The tree of `count` bodies; all its nodes lie on the calling thread.
tree tree_new(shared body* bodies, long count);

void tree_free(tree root);

// Adds to `pull` how the bodies of the tree accelerate one at `at`; a cube that is seen under less
// than `theta` counts as one body.
void tree_pull(tree root, const double at[3], double theta, double pull[3]);

// Adds the acceleration by a mass at `from`. Near bodies are softened, so that a body does not
// accelerate itself.
void pull_of(double mass, const double from[3], const double at[3], double pull[3]);
