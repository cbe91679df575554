// An R-MAT graph, undirected, without loops and double edges, as adjacency lists (CSR).
#pragma once

typedef struct {
  long vertices, edges;  // each edge counts twice, once in the list of either end
  long* start;           // [vertex], vertices + 1 of them
  long* neighbour;       // sorted within each list
} graph;

// 2^scale vertices; `edge_factor` edges are drawn for each. The same on every PE.
graph graph_rmat(long scale, long edge_factor);
void graph_free(graph* g);

// Adds to centrality[v] of every vertex the shortest paths from `source` that lead through it
// (Brandes).
void graph_betweenness(const graph* g, long source, double* centrality);
