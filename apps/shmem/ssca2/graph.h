// SPDX-License-Identifier: BSD-3-Clause

// An undirected R-MAT graph without loops or duplicate edges, as adjacency lists (CSR).
#pragma once

typedef struct {
  long vertices, edges;  // each edge counts twice: once in the list of each end
  long* start;           // [vertex], vertices + 1 entries
  long* neighbour;       // sorted within each list
} graph;

// Generates 2^scale vertices and draws `edge_factor` edges for each. The result is the same on
// every PE.
graph graph_rmat(long scale, long edge_factor);
void graph_free(graph* g);

// Adds to centrality[v] of every vertex v its dependency: over all targets, the fraction of the
// shortest paths from `source` that pass through v (Brandes).
void graph_betweenness(const graph* g, long source, double* centrality);
