// SPDX-License-Identifier: BSD-3-Clause

// Wakes a process of this machine that sleeps on a descriptor. The bell is a pipe, whose writing
// end other processes open (process_memory.h). A ring carries no data, so it does not matter if the
// pipe is full: it is readable anyway.
#pragma once

#include <cstdint>
#include <string>

#include "net/process_memory.h"

namespace nearcache::net {

class Bell {
 public:
  // How other processes find it.
  struct Name : ProcessFile {
    uint64_t inode = 0;
  };

  Bell() = default;
  ~Bell();
  Bell(Bell&& other) noexcept { swap(other); }
  Bell& operator=(Bell&& other) noexcept { return swap(other), *this; }

  // Creates a bell. If that is impossible the result is not usable(), and `wrong` has the reason.
  static Bell make(std::string* wrong);
  // Opens the bell of another process. Fails like make().
  static Bell open(const Name& name, std::string* wrong);

  bool usable() const { return write_ >= 0; }
  const Name& name() const { return name_; }
  // For the process that made it: readable once the bell has rung.
  int descriptor() const { return read_; }
  int writing_end() const { return write_; }  // what it is rung by

  void ring() const;
  // Consumes pending rings, at most 64 in one call, and returns how many there were.
  unsigned silence() const;

 private:
  void swap(Bell& other) noexcept;

  Name name_;
  int read_ = -1, write_ = -1;
};

}  // namespace nearcache::net
