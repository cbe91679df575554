// Which process a part of Nearcache was started in.
//
// A program may fork. The child has a copy of all memory but none of the threads, and the
// connections to other ranks are its parent's. So code that runs at the child's exit must join no
// thread, write none of the parent's files and talk to nobody. Whoever keeps such things remembers
// its process and asks `here()`.
#pragma once

#include <unistd.h>

namespace nearcache {

class HomeProcess {
 public:
  // This process is the one from now on.
  void settle() { id_ = getpid(); }
  // False in a child that was forked since, and before `settle`.
  bool here() const { return id_ == getpid(); }

 private:
  pid_t id_ = 0;
};

}  // namespace nearcache
