/* SPDX-License-Identifier: BSD-3-Clause */
#include "ssca2/graph.h"

#include <stdlib.h>

#include "common/program.h"

typedef struct {
  long from, to;
} edge;

// Draws an edge with SSCA2's quadrant probabilities, in per cent: 55, 10, 10, 25.
static edge draw(long k, long scale) {
  edge e = {0, 0};
  for (long bit = 0; bit < scale; bit++) {
    unsigned long percent = mixed((unsigned long)(k * 64 + bit)) % 100;
    e.from = 2 * e.from + (percent >= 65);
    e.to = 2 * e.to + ((percent >= 55 && percent < 65) || percent >= 75);
  }
  return e;
}

// Returns new numbers for the vertices, because R-MAT gives most edges to the first ones.
static long* shuffled(long vertices) {
  long* name = malloc((size_t)vertices * sizeof(long));
  for (long v = 0; v < vertices; v++) {
    long other = (long)(mixed((unsigned long)(~v)) % (unsigned long)(v + 1));
    if (other != v) name[v] = name[other];
    name[other] = v;
  }
  return name;
}

static int by_ends(const void* a, const void* b) {
  const edge *x = a, *y = b;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return (x->to > y->to) - (x->to < y->to);
}

graph graph_rmat(long scale, long edge_factor) {
  long vertices = 1L << scale, drawn = vertices * edge_factor, count = 0;
  edge* edges = malloc((size_t)(2 * drawn) * sizeof(edge));
  long* name = shuffled(vertices);
  for (long k = 0; k < drawn; k++) {
    edge e = draw(k, scale);
    if (e.from == e.to) continue;
    e = (edge){name[e.from], name[e.to]};
    edges[count++] = e;
    edges[count++] = (edge){e.to, e.from};
  }
  qsort(edges, (size_t)count, sizeof(edge), by_ends);
  graph g = {vertices, 0, calloc((size_t)vertices + 1, sizeof(long)),
             malloc((size_t)count * sizeof(long))};
  for (long i = 0; i < count; i++) {
    if (i && !by_ends(&edges[i], &edges[i - 1])) continue;
    g.start[edges[i].from + 1]++;
    g.neighbour[g.edges++] = edges[i].to;
  }
  for (long v = 0; v < vertices; v++) g.start[v + 1] += g.start[v];
  free(edges);
  free(name);
  return g;
}

void graph_free(graph* g) {
  free(g->start);
  free(g->neighbour);
}

void graph_betweenness(const graph* g, long source, double* centrality) {
  size_t n = (size_t)g->vertices;
  long *order = malloc(n * sizeof(long)), *distance = malloc(n * sizeof(long)),
       *paths = calloc(n, sizeof(long)), found = 1;
  double* dependency = calloc(n, sizeof(double));
  for (size_t v = 0; v < n; v++) distance[v] = -1;
  order[0] = source;
  distance[source] = 0;
  paths[source] = 1;
  for (long i = 0; i < found; i++)
    for (long k = g->start[order[i]]; k < g->start[order[i] + 1]; k++) {
      long v = g->neighbour[k];
      if (distance[v] < 0) {
        distance[v] = distance[order[i]] + 1;
        order[found++] = v;
      }
      if (distance[v] == distance[order[i]] + 1) paths[v] += paths[order[i]];
    }
  for (long i = found - 1; i > 0; i--) {
    long u = order[i];
    for (long k = g->start[u]; k < g->start[u + 1]; k++) {
      long v = g->neighbour[k];
      if (distance[v] == distance[u] + 1)
        dependency[u] += (double)paths[u] / (double)paths[v] * (1 + dependency[v]);
    }
    centrality[u] += dependency[u];
  }
  free(order);
  free(distance);
  free(paths);
  free(dependency);
}
