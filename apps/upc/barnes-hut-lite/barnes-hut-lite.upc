/* SPDX-License-Identifier: BSD-3-Clause */
// barnes-hut-lite: gravitating bodies with the Barnes-Hut method, in its simplest parallel form.
//
// Thread 0 builds the tree in its own memory, and the other threads traverse it there through
// pointers to shared, one number at a time. Each step's tree is read over and over, so this is
// where a cache pays off. For a full-sized program, see apps/barnes_hut.
#include <math.h>
#include <stdlib.h>

#include "../common/program.h"
#include "tree.h"

static shared body *bodies;  // body i has affinity to thread i % THREADS
static shared tree root;     // a shared pointer to shared, on thread 0
static long count;

static void random_body(body *made, long i, long seed) {
  double radius = 1;
  made->mass = 1 / (double)count;
  for (int d = 0; d < 3; d++) {
    uint64_t key = (uint64_t)seed * 0x100000001b3u + (uint64_t)(8 * i + d);
    made->at[d] = radius * (2 * mixed_unit(key) - 1);
    made->at[d] *= fabs(made->at[d]);  // denser in the middle
    made->velocity[d] = 0.1 * (2 * mixed_unit(~key) - 1);
  }
}

// Computes the accelerations of this thread's bodies.
static void walk(double (*pulls)[3], double theta) {
  tree top = root;
  long i;
  upc_forall(i = 0; i < count; i++; &bodies[i]) {
    double at[3] = {bodies[i].at[0], bodies[i].at[1], bodies[i].at[2]};
    double *pull = pulls[i / THREADS];
    pull[0] = pull[1] = pull[2] = 0;
    tree_pull(top, at, theta, pull);
  }
}

static void move(double (*pulls)[3], double dt) {
  long i;
  upc_forall(i = 0; i < count; i++; &bodies[i]) {
    for (int d = 0; d < 3; d++) {
      bodies[i].velocity[d] += dt * pulls[i / THREADS][d];
      bodies[i].at[d] += dt * bodies[i].velocity[d];
    }
  }
}

// Returns the sum over this thread's bodies of the squared relative error of their acceleration,
// compared with direct summation over all bodies. Call before the bodies move.
static double error_here(double (*pulls)[3]) {
  body *all = malloc((size_t)count * sizeof(body));
  for (long i = 0; i < count; i++) all[i] = bodies[i];
  double error = 0;
  long i;
  upc_forall(i = 0; i < count; i++; &bodies[i]) {
    double exact[3] = {0, 0, 0}, difference = 0, length = 0;
    for (long j = 0; j < count; j++) pull_of(all[j].mass, all[j].at, all[i].at, exact);
    for (int d = 0; d < 3; d++) {
      difference += pow(pulls[i / THREADS][d] - exact[d], 2);
      length += pow(exact[d], 2);
    }
    error += length > 0 ? difference / length : difference;
  }
  free(all);
  return error;
}

int main(int argc, char **argv) {
  long steps = 2, theta_percent = 50, seed = 1;
  count = 1000;
  options_read(argc, argv, (struct choice[]){
    {"bodies", &count, false, "how many"},
    {"steps", &steps, false, "of time"},
    {"theta", &theta_percent, false, "angle under which a cube counts as one body, in hundredths; 0: the exact sum"},
    {"seed", &seed, false, "of the random bodies"},
    {0},
  });
  if (count < 1) count = 1;
  if (steps < 1) steps = 1;
  double theta = 0.01 * (double)theta_percent;
  bodies = upc_all_alloc((size_t)count, sizeof(body));
  long i;
  upc_forall(i = 0; i < count; i++; &bodies[i]) {
    body one;
    random_body(&one, i, seed);
    bodies[i] = one;
  }
  double (*pulls)[3] = calloc((size_t)(count / THREADS + 1), sizeof *pulls);
  bool correct = true;
  double built = 0, walked = 0, error = 0, mass = 0;
  for (long step = 0; step < steps; step++) {
    upc_barrier;  // all threads have moved their bodies
    double begin = seconds_now();
    if (MYTHREAD == 0) root = tree_new(bodies, count);
    upc_barrier;
    double middle = seconds_now();
    walk(pulls, theta);
    upc_barrier;
    built += middle - begin;
    walked += seconds_now() - middle;

    error = sqrt(sum_of_all(error_here(pulls)) / (double)count);
    mass = root->mass;
    correct = correct && root->bodies == count && fabs(mass - 1) < 1e-9 && error <= fmax(1e-7, 0.1 * theta * theta);
    upc_barrier;
    move(pulls, 0.01);
    if (MYTHREAD == 0) tree_free(root);
  }
  correct = correct_everywhere(correct);
  json_begin("barnes-hut-lite");
  json_long("bodies", count);
  json_long("steps", steps);
  json_double("theta", theta);
  json_double("relative_error", error);
  json_double("mass", mass);
  json_double("build_seconds", built);
  json_double("force_seconds", walked);
  json_double("seconds", built + walked);
  json_end(correct);
  free(pulls);
  upc_all_free(bodies);
  return !correct;
}
