// ssca2: betweenness centrality of an R-MAT graph, kernel 4 of SSCA2, level by level.
//
// The graph and all that is kept of its vertices are distributed in blocks of vertices. All PEs search from the same source: who finds
// a vertex first, by an atomic compare-and-swap of its distance, expands it in the next level, and reads its list wherever that is.
// Numbers of shortest paths are added up atomically. So there is an atomic operation for nearly every edge, and little else.
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

// What this PE found, all levels after each other: level l is found[level_start[l]] to found[level_start[l + 1] - 1].
typedef struct {
  long *found, *level_start, levels;
} search;

static long swap_distance(longs a, long v, long from, long to) {
  return shmem_long_atomic_compare_swap(&a.part[v % a.block], from, to, (int)(v / a.block));
}

static void add_paths(longs a, long v, long paths) { shmem_long_atomic_add(&a.part[v % a.block], paths, (int)(v / a.block)); }

static vertices distribute(const graph* g) {
  vertices d = {longs_new(g->vertices + 1), longs_new(g->edges), longs_new(g->vertices), longs_new(g->vertices),
                doubles_new(g->vertices), doubles_new(g->vertices), g->vertices};
  for (long v = first_here(g->vertices + 1); v < end_here(g->vertices + 1); v++) set_long(d.start, v, g->start[v]);
  for (long i = first_here(g->edges); i < end_here(g->edges); i++) set_long(d.neighbour, i, g->neighbour[i]);
  return d;
}

static void begin_search(vertices d, search* s, long source) {
  for (long v = first_here(d.vertices); v < end_here(d.vertices); v++) {
    set_long(d.distance, v, v == source ? 0 : UNSEEN);
    set_long(d.paths, v, v == source);
    set_double(d.dependency, v, 0);
  }
  s->levels = 0;
  s->level_start[0] = 0;
  s->level_start[1] = 0;
  if (source >= first_here(d.vertices) && source < end_here(d.vertices)) s->found[s->level_start[1]++] = source;
  shmem_barrier_all();
}

// The distance of v, which is `unless_seen` if nobody saw v before; then this PE has found it.
static long visit(vertices d, search* s, long v, long unless_seen) {
  long distance = long_at(d.distance, v);
  if (distance != UNSEEN) return distance;
  distance = swap_distance(d.distance, v, UNSEEN, unless_seen);
  if (distance != UNSEEN) return distance;
  s->found[s->level_start[s->levels + 2]++] = v;
  return unless_seen;
}

static void expand_level(vertices d, search* s) {
  s->level_start[s->levels + 2] = s->level_start[s->levels + 1];
  for (long i = s->level_start[s->levels]; i < s->level_start[s->levels + 1]; i++) {
    long u = s->found[i], end = long_at(d.start, u + 1);
    for (long k = long_at(d.start, u); k < end; k++) {
      long v = long_at(d.neighbour, k);
      if (visit(d, s, v, s->levels + 1) == s->levels + 1) add_paths(d.paths, v, long_at(d.paths, u));
    }
  }
  s->levels++;
}

static double dependency_of(vertices d, long u, long level) {
  double sum = 0;
  long end = long_at(d.start, u + 1);
  for (long k = long_at(d.start, u); k < end; k++) {
    long v = long_at(d.neighbour, k);
    if (long_at(d.distance, v) == level + 1)
      sum += (double)long_at(d.paths, u) / (double)long_at(d.paths, v) * (1 + double_at(d.dependency, v));
  }
  return sum;
}

static void fold_level(vertices d, const search* s, long level) {
  for (long i = s->level_start[level]; i < s->level_start[level + 1]; i++) {
    long u = s->found[i];
    double dependency = dependency_of(d, u, level);
    set_double(d.dependency, u, dependency);
    set_double(d.centrality, u, double_at(d.centrality, u) + dependency);
  }
}

static void centrality_from(vertices d, search* s, long source) {
  begin_search(d, s, source);
  while (sum_of_all((double)(s->level_start[s->levels + 1] - s->level_start[s->levels])) > 0) {
    expand_level(d, s);
    shmem_barrier_all();
  }
  for (long level = s->levels - 1; level > 0; level--) {
    fold_level(d, s, level);
    shmem_barrier_all();
  }
}

static bool as_reference(vertices d, const graph* g, long sources) {
  double* centrality = calloc((size_t)g->vertices, sizeof(double));
  for (long source = 0; source < sources; source++) graph_betweenness(g, source, centrality);
  bool right = true;
  for (long v = first_here(g->vertices); v < end_here(g->vertices); v++) right = right && nearly(double_at(d.centrality, v), centrality[v], 1e-9);
  free(centrality);
  return right;
}

static double sum_of_centrality(vertices d) {
  double sum = 0;
  for (long v = first_here(d.vertices); v < end_here(d.vertices); v++) sum += double_at(d.centrality, v);
  return sum_of_all(sum);
}

int main(int argc, char** argv) {
  long scale = 8, edge_factor = 8, sources = 32, quick = 0;
  options_read(argc, argv, (struct option[]){{"scale", &scale, false, "2^N vertices"}, {"edge-factor", &edge_factor, false, "edges drawn for a vertex"},
                                            {"sources", &sources, false, "vertices to search from; 0: all"},
                                            {"quick", &quick, true, "scale 5, from 4 vertices"}, {0}});
  if (quick) scale = 5, sources = 4;
  if (!sources) sources = 1L << scale;
  shmem_init();
  graph g = graph_rmat(scale, edge_factor);
  vertices d = distribute(&g);
  search s = {malloc((size_t)g.vertices * sizeof(long)), malloc((size_t)(g.vertices + 2) * sizeof(long)), 0};
  shmem_barrier_all();

  double begin = seconds_now();
  for (long source = 0; source < sources; source++) centrality_from(d, &s, source);
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
  free(s.found);
  free(s.level_start);
  shmem_finalize();
  return !correct;
}
