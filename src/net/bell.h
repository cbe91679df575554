// Wakes a process of this machine that sleeps on a descriptor: a pipe, of which others open the
// writing end (process_memory.h). Nothing is said but that it rang, and a pipe that is full is
// readable anyway.
#pragma once

#include <cstdint>
#include <string>

#include "net/process_memory.h"

namespace nearcache::net {

class Bell {
 public:
  // How others find it.
  struct Name : ProcessFile {
    uint64_t inode = 0;
  };

  Bell() = default;
  ~Bell();
  Bell(Bell&& other) noexcept { swap(other); }
  Bell& operator=(Bell&& other) noexcept { return swap(other), *this; }

  // Not usable, and what is wrong, where that is impossible.
  static Bell make(std::string* wrong);
  // Of another process.
  static Bell open(const Name& name, std::string* wrong);

  bool usable() const { return write_ >= 0; }
  const Name& name() const { return name_; }
  // Of its maker: readable while it has rung.
  int descriptor() const { return read_; }

  void ring() const;
  // How often it had rung, some times at most.
  unsigned silence() const;

 private:
  void swap(Bell& other) noexcept;

  Name name_;
  int read_ = -1, write_ = -1;
};

}  // namespace nearcache::net
