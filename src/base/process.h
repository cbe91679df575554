// SPDX-License-Identifier: BSD-3-Clause

// Remembers in which process a part of Nearcache was started.
//
// A program may fork. The child has a copy of all memory but none of the threads, and the
// connections to other ranks belong to its parent. So code that runs at the child's exit must not
// join threads, write the parent's files or communicate. A component that owns such resources
// records its process with settle() and checks here() before it uses them.
#pragma once

#include <unistd.h>

namespace nearcache {

class HomeProcess {
 public:
  // Makes the current process the home process.
  void settle() { id_ = getpid(); }
  // Returns false in a child that was forked after settle(), and before settle().
  bool here() const { return id_ == getpid(); }

 private:
  pid_t id_ = 0;
};

}  // namespace nearcache
