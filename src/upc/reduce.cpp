// SPDX-License-Identifier: BSD-3-Clause

// The C functions upc_all_reduceT and upc_all_prefix_reduceT of all types.
#include "upc/reduce.h"

using namespace nearcache::upc;

#define NCUPC_DEFINE_REDUCTIONS(suffix, T)                                                        \
  void ncupc_all_reduce##suffix(const char* file, int line, ncupc_ptr dst, ncupc_ptr src,         \
                                upc_op_t op, size_t count, size_t block, T (*function)(T, T),     \
                                upc_flag_t flags) {                                               \
    reduce<T>(begin(file, line, Kind::reduce, "upc_all_reduce" #suffix, flags, dst, src), dst,    \
              src, op, count, block, function);                                                   \
  }                                                                                               \
  void ncupc_all_prefix_reduce##suffix(const char* file, int line, ncupc_ptr dst, ncupc_ptr src,  \
                                       upc_op_t op, size_t count, size_t block,                   \
                                       T (*function)(T, T), upc_flag_t flags) {                   \
    prefix_reduce<T>(                                                                             \
        begin(file, line, Kind::prefix_reduce, "upc_all_prefix_reduce" #suffix, flags, dst, src), \
        dst, src, op, count, block, function);                                                    \
  }

extern "C" {
NCUPC_FOR_REDUCTION_TYPES(NCUPC_DEFINE_REDUCTIONS)
}
