// SPDX-License-Identifier: BSD-3-Clause

// An object that is never destroyed: programs may call MPI from destructors of their own statics,
// and libraries from theirs, after our static destructors would have run.
#pragma once

#include <new>
#include <utility>

namespace nearcache {

template <class T>
class Immortal {
 public:
  template <class... Arguments>
  explicit Immortal(Arguments&&... arguments) {
    new (&object) T(std::forward<Arguments>(arguments)...);
  }
  ~Immortal() {}
  Immortal(const Immortal&) = delete;
  Immortal& operator=(const Immortal&) = delete;

  union {
    T object;
  };
};

}  // namespace nearcache
