// SPDX-License-Identifier: BSD-3-Clause

// Berkeley UPC's copies of several runs of bytes: each piece that is contiguous at both ends is a
// non-blocking copy, and the handle of the last one stands for all.
#include <cstdlib>

#include "upc/copies.h"
#include "upc/runs.h"

using namespace nearcache::upc;

namespace {

upc_handle_t start(ncupc_ptr to, ncupc_ptr from, size_t bytes) {
  return upc_memcpy_nb(to, from, bytes);
}
upc_handle_t start(ncupc_ptr to, const void* from, size_t bytes) {
  return upc_memput_nb(to, from, bytes);
}
upc_handle_t start(void* to, ncupc_ptr from, size_t bytes) {
  return upc_memget_nb(to, from, bytes);
}

template <class D, class S>
upc_handle_t copy(const char* call, const D& to, const S& from) {
  const size_t wanted = bytes_of(to), given = bytes_of(from);
  if (wanted != given)
    ncupc_error(nullptr, 0, call, "the destination has %zu bytes, the source %zu", wanted, given);
  upc_handle_t last = UPC_COMPLETE_HANDLE;
  for_pieces(to, from, [&](typename D::Address at, typename S::Address out, size_t bytes) {
    const upc_handle_t handle = start(at, out, bytes);
    if (handle > last) last = handle;
  });
  return last;
}

// Room for one number per dimension, for two arrays.
class Indices {
 public:
  Indices(const char* call, size_t levels)
      : all_(levels <= few ? here_ : static_cast<size_t*>(malloc(2 * levels * sizeof *all_))),
        levels_(levels) {
    if (all_ == nullptr) ncupc_error(nullptr, 0, call, "no memory for %zu dimensions", levels);
  }
  ~Indices() {
    if (all_ != here_) free(all_);
  }
  Indices(const Indices&) = delete;
  Indices& operator=(const Indices&) = delete;
  size_t* first() { return all_; }
  size_t* second() { return all_ + levels_; }

 private:
  static constexpr size_t few = 8;
  size_t here_[2 * few];
  size_t* all_;
  size_t levels_;
};

template <class D, class S>
upc_handle_t copy_strided(const char* call, D to, const size_t* to_strides, S from,
                          const size_t* from_strides, const size_t* count, size_t levels) {
  Indices indices(call, levels);
  return copy(call, StridedRuns<D>(to, count[0], to_strides, count + 1, levels, indices.first()),
              StridedRuns<S>(from, count[0], from_strides, count + 1, levels, indices.second()));
}

template <class D, class S>
upc_handle_t copy_fixed(const char* call, D to, size_t to_bytes, size_t to_stride, size_t to_count,
                        S from, size_t from_bytes, size_t from_stride, size_t from_count) {
  Indices indices(call, 1);
  return copy(call, StridedRuns<D>(to, to_bytes, &to_stride, &to_count, 1, indices.first()),
              StridedRuns<S>(from, from_bytes, &from_stride, &from_count, 1, indices.second()));
}

}  // namespace

// D and S: addresses of the destination and source.
#define NCUPC_DEFINE_COPIES(kind, D, S, DVector, SVector)                                          \
  bupc_handle_t bupc_##kind##_vlist_async(size_t dst_count, DVector const dst[], size_t src_count, \
                                          SVector const src[]) {                                   \
    return copy("bupc_" #kind "_vlist", VectorRuns<DVector, D>(dst, dst_count),                    \
                VectorRuns<SVector, S>(src, src_count));                                           \
  }                                                                                                \
  void bupc_##kind##_vlist(size_t dst_count, DVector const dst[], size_t src_count,                \
                           SVector const src[]) {                                                  \
    upc_sync(bupc_##kind##_vlist_async(dst_count, dst, src_count, src));                           \
  }                                                                                                \
  bupc_handle_t bupc_##kind##_ilist_async(size_t dst_count, D const dst[], size_t dst_bytes,       \
                                          size_t src_count, S const src[], size_t src_bytes) {     \
    return copy("bupc_" #kind "_ilist", ListRuns<D>(dst, dst_count, dst_bytes),                    \
                ListRuns<S>(src, src_count, src_bytes));                                           \
  }                                                                                                \
  void bupc_##kind##_ilist(size_t dst_count, D const dst[], size_t dst_bytes, size_t src_count,    \
                           S const src[], size_t src_bytes) {                                      \
    upc_sync(bupc_##kind##_ilist_async(dst_count, dst, dst_bytes, src_count, src, src_bytes));     \
  }                                                                                                \
  bupc_handle_t bupc_##kind##_fstrided_async(D to, size_t to_bytes, size_t to_stride,              \
                                             size_t to_count, S from, size_t from_bytes,           \
                                             size_t from_stride, size_t from_count) {              \
    return copy_fixed<D, S>("bupc_" #kind "_fstrided", to, to_bytes, to_stride, to_count, from,    \
                            from_bytes, from_stride, from_count);                                  \
  }                                                                                                \
  void bupc_##kind##_fstrided(D to, size_t to_bytes, size_t to_stride, size_t to_count, S from,    \
                              size_t from_bytes, size_t from_stride, size_t from_count) {          \
    upc_sync(bupc_##kind##_fstrided_async(to, to_bytes, to_stride, to_count, from, from_bytes,     \
                                          from_stride, from_count));                               \
  }                                                                                                \
  bupc_handle_t bupc_##kind##_strided_async(D to, const size_t to_strides[], S from,               \
                                            const size_t from_strides[], const size_t count[],     \
                                            size_t levels) {                                       \
    return copy_strided<D, S>("bupc_" #kind "_strided", to, to_strides, from, from_strides, count, \
                              levels);                                                             \
  }                                                                                                \
  void bupc_##kind##_strided(D to, const size_t to_strides[], S from, const size_t from_strides[], \
                             const size_t count[], size_t levels) {                                \
    upc_sync(bupc_##kind##_strided_async(to, to_strides, from, from_strides, count, levels));      \
  }

extern "C" {
NCUPC_DEFINE_COPIES(memcpy, ncupc_ptr, ncupc_ptr, bupc_smemvec_t, bupc_smemvec_t)
NCUPC_DEFINE_COPIES(memput, ncupc_ptr, const void*, bupc_smemvec_t, bupc_pmemvec_t)
NCUPC_DEFINE_COPIES(memget, void*, ncupc_ptr, bupc_pmemvec_t, bupc_smemvec_t)
}
