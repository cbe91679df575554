/* SPDX-License-Identifier: BSD-3-Clause */
// ptrans: C = A^T + C for matrices in a block-cyclic distribution over a grid of PEs (after
// PARKBENCH's PTRANS).
//
// Each PE computes its own elements of C in storage order and reads A one element at a time,
// wherever it is stored.
#include <shmem.h>
#include <stdlib.h>

#include "common/program.h"

// Rows are distributed in blocks of `row_block` over `grid_rows` PEs, columns likewise: block (I,
// J) is on PE (I % grid_rows, J % grid_columns).
typedef struct {
  long rows, columns, row_block, column_block;
  int grid_rows, grid_columns;
  // the same on every PE, rounded up to whole blocks, so that places can be computed for any PE
  long columns_here;
  double* part;  // symmetric, row-major
} matrix;

static long ceiling(long a, long b) { return (a + b - 1) / b; }

// Returns the number of indices of a dimension for which each of `count` PEs has room.
static long room(long size, long block, int count) {
  return ceiling(ceiling(size, block), count) * block;
}

// Convert between an index and its place on its PE, for the cyclic distribution of one dimension.
static long place_of(long index, long block, int count) {
  return index / block / count * block + index % block;
}
static long index_of(long place, long block, int count, int pe) {
  return (place / block * count + pe) * block + place % block;
}

static matrix matrix_new(long rows, long columns, long row_block, long column_block, int grid_rows,
                         int grid_columns) {
  matrix m = {rows,
              columns,
              row_block,
              column_block,
              grid_rows,
              grid_columns,
              room(columns, column_block, grid_columns),
              NULL};
  m.part =
      shmem_calloc((size_t)(room(rows, row_block, grid_rows) * m.columns_here), sizeof(double));
  return m;
}

static long rows_here(matrix m) { return room(m.rows, m.row_block, m.grid_rows); }

static double at(matrix m, long i, long j) {
  long place = place_of(i, m.row_block, m.grid_rows) * m.columns_here +
               place_of(j, m.column_block, m.grid_columns);
  long pe = i / m.row_block % m.grid_rows * m.grid_columns + j / m.column_block % m.grid_columns;
  return shmem_double_g(&m.part[place], (int)pe);
}

// Loops over the elements (i, j) of m on this PE, in storage order.
#define FOR_OWN_ELEMENTS(m, i, j, place)                                                          \
  for (long place = 0, i, j; place < rows_here(m) * (m).columns_here; place++)                    \
    if (i = index_of(place / (m).columns_here, (m).row_block, (m).grid_rows, my_row(m)),          \
        j = index_of(place % (m).columns_here, (m).column_block, (m).grid_columns, my_column(m)), \
        i < (m).rows && j < (m).columns)

static int my_row(matrix m) { return shmem_my_pe() / m.grid_columns; }
static int my_column(matrix m) { return shmem_my_pe() % m.grid_columns; }

static double a_value(long i, long j) { return (double)(3 * i - j); }
static double c_value(long i, long j) { return (double)(i * j % 1001); }

static void transpose_and_add(matrix c, matrix a) {
  FOR_OWN_ELEMENTS(c, i, j, place) c.part[place] += at(a, j, i);
}

// Returns the number of rows of the most square grid of all PEs.
static int rows_of_grid(int pes) {
  int rows = 1;
  for (int r = 2; r * r <= pes; r++)
    if (pes % r == 0) rows = r;
  return rows;
}

int main(int argc, char** argv) {
  long size = 500, row_block = 3, column_block = 5, repetitions = 3, quick = 0;
  options_read(argc, argv,
               (struct option[]){
                   {"rows", &size, false, "rows and columns"},
                   {"row-block", &row_block, false, "rows of a block"},
                   {"column-block", &column_block, false, "columns of a block"},
                   {"repetitions", &repetitions, false, "times"},
                   {"quick", &quick, true, "60 rows, once"},
                   {0},
               });
  if (quick) size = 60, repetitions = 1;
  shmem_init();
  int grid_rows = rows_of_grid(shmem_n_pes()), grid_columns = shmem_n_pes() / grid_rows;
  matrix a = matrix_new(size, size, row_block, column_block, grid_rows, grid_columns);
  matrix c = matrix_new(size, size, row_block, column_block, grid_rows, grid_columns);
  FOR_OWN_ELEMENTS(a, i, j, place) a.part[place] = a_value(i, j);
  FOR_OWN_ELEMENTS(c, i, j, place) c.part[place] = c_value(i, j);
  shmem_barrier_all();

  double begin = seconds_now();
  for (long r = 0; r < repetitions; r++) {
    transpose_and_add(c, a);
    shmem_barrier_all();
  }
  double seconds = seconds_now() - begin;

  bool right = true;
  double checksum = 0;
  FOR_OWN_ELEMENTS(c, i, j, place) {
    right = right && c.part[place] == c_value(i, j) + (double)repetitions * a_value(j, i);
    checksum += c.part[place];
  }
  bool correct = correct_everywhere(right);
  checksum = sum_of_all(checksum);
  json_begin("ptrans");
  json_long("rows", size);
  json_long("repetitions", repetitions);
  json_double("seconds", seconds / (double)repetitions);
  json_double("checksum", checksum);
  json_end(correct);
  shmem_finalize();
  return !correct;
}
