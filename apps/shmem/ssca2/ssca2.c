/* SPDX-License-Identifier: BSD-3-Clause */
// ssca2: betweenness centrality of an R-MAT graph, kernel 4 of SSCA2, level by level.
//
// The adjacency lists and all per-vertex data are distributed in blocks. All PEs search from the
// same source, and each expands its own vertices: it reads their lists wherever these are, marks
// unseen vertices with an atomic compare-and-swap of the distance, and adds to the numbers of
// shortest paths atomically. There is thus an atomic operation for nearly every edge, and little
// else.
#include <shmem.h>
#include <stdlib.h>

#include "common/distributed.h"
#include "common/program.h"
#include "ssca2/graph.h"

enum { UNSEEN = -1 };

typedef struct {
  longs start, neighbour;  // the graph
  longs distance, paths;
  doubles dependency, centrality;
  long vertices;
} vertices;

static long swap_distance(longs a, long v, long from, long to) {
  return shmem_long_atomic_compare_swap(&a.part[v % a.block], from, to, (int)(v / a.block));
}

static void add_paths(longs a, long v, long paths) {
  shmem_long_atomic_add(&a.part[v % a.block], paths, (int)(v / a.block));
}

static vertices distribute(const graph* g) {
  vertices d = {longs_new(g->vertices + 1),
                longs_new(g->edges),
                longs_new(g->vertices),
                longs_new(g->vertices),
                doubles_new(g->vertices),
                doubles_new(g->vertices),
                g->vertices};
  for (long v = first_here(g->vertices + 1); v < end_here(g->vertices + 1); v++)
    set_long(d.start, v, g->start[v]);
  for (long i = first_here(g->edges); i < end_here(g->edges); i++)
    set_long(d.neighbour, i, g->neighbour[i]);
  return d;
}

static void begin_search(vertices d, long source) {
  for (long v = first_here(d.vertices); v < end_here(d.vertices); v++) {
    set_long(d.distance, v, v == source ? 0 : UNSEEN);
    set_long(d.paths, v, v == source);
    set_double(d.dependency, v, 0);
  }
  shmem_barrier_all();
}

// Returns the distance of v. If v was unseen, first sets its distance to `unless_seen` and
// increments *found.
static long visit(vertices d, long v, long unless_seen, long* found) {
  long distance = long_at(d.distance, v);
  if (distance == UNSEEN) distance = swap_distance(d.distance, v, UNSEEN, unless_seen);
  if (distance != UNSEEN) return distance;
  ++*found;
  return unless_seen;
}

static void expand(vertices d, long u, long level, long* found) {
  long end = long_at(d.start, u + 1);
  for (long k = long_at(d.start, u); k < end; k++) {
    long v = long_at(d.neighbour, k);
    if (visit(d, v, level + 1, found) == level + 1) add_paths(d.paths, v, long_at(d.paths, u));
  }
}

static void fold(vertices d, long u, long level) {
  double dependency = 0;
  long end = long_at(d.start, u + 1);
  for (long k = long_at(d.start, u); k < end; k++) {
    long v = long_at(d.neighbour, k);
    if (long_at(d.distance, v) == level + 1)
      dependency += (double)long_at(d.paths, u) / (double)long_at(d.paths, v) *
                    (1 + double_at(d.dependency, v));
  }
  set_double(d.dependency, u, dependency);
  set_double(d.centrality, u, double_at(d.centrality, u) + dependency);
}

static void centrality_from(vertices d, long source) {
  long level = -1, found;
  begin_search(d, source);
  do {
    level++;
    found = 0;
    for (long u = first_here(d.vertices); u < end_here(d.vertices); u++)
      if (long_at(d.distance, u) == level) expand(d, u, level, &found);
    shmem_barrier_all();
  } while (sum_of_all((double)found) > 0);
  for (; level > 0; level--) {
    for (long u = first_here(d.vertices); u < end_here(d.vertices); u++)
      if (long_at(d.distance, u) == level) fold(d, u, level);
    shmem_barrier_all();
  }
}

static bool as_reference(vertices d, const graph* g, long sources) {
  double* centrality = calloc((size_t)g->vertices, sizeof(double));
  for (long source = 0; source < sources; source++) graph_betweenness(g, source, centrality);
  bool right = true;
  for (long v = first_here(g->vertices); v < end_here(g->vertices); v++)
    right = right && nearly(double_at(d.centrality, v), centrality[v], 1e-9);
  free(centrality);
  return right;
}

static double sum_of_centrality(vertices d) {
  double sum = 0;
  for (long v = first_here(d.vertices); v < end_here(d.vertices); v++)
    sum += double_at(d.centrality, v);
  return sum_of_all(sum);
}

int main(int argc, char** argv) {
  long scale = 8, edge_factor = 8, sources = 32, quick = 0;
  options_read(argc, argv,
               (struct option[]){
                   {"scale", &scale, false, "2^N vertices"},
                   {"edge-factor", &edge_factor, false, "edges drawn for a vertex"},
                   {"sources", &sources, false, "vertices to search from; 0: all"},
                   {"quick", &quick, true, "scale 5, from 4 vertices"},
                   {0},
               });
  if (quick) scale = 5, sources = 4;
  if (!sources) sources = 1L << scale;
  shmem_init();
  graph g = graph_rmat(scale, edge_factor);
  vertices d = distribute(&g);
  shmem_barrier_all();

  double begin = seconds_now();
  for (long source = 0; source < sources; source++) centrality_from(d, source);
  shmem_barrier_all();
  double seconds = seconds_now() - begin;

  bool correct = correct_everywhere(as_reference(d, &g, sources));
  double checksum = sum_of_centrality(d);
  json_begin("ssca2");
  json_long("vertices", g.vertices);
  json_long("edges", g.edges / 2);
  json_long("sources", sources);
  json_double("seconds", seconds);
  json_double("checksum", checksum);
  json_end(correct);
  graph_free(&g);
  shmem_finalize();
  return !correct;
}
