// SPDX-License-Identifier: BSD-3-Clause

// The library below a preloaded object: finds its functions, and tells whether it is loaded yet. A
// program may open the library late (Python does) and privately, so that it is not in the global
// search order that RTLD_NEXT follows.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "base/loaded_objects.h"

namespace nearcache {

class LibraryBelow {
 public:
  enum class State { missing, usable, wrong };

  // `mark`: a function that only this library defines.
  constexpr explicit LibraryBelow(const char* mark) : mark_(mark) {}

  // Returns the library's state. As long as that is `missing`, every call runs `find`, which
  // determines it; any other result is final. Thread-safe.
  template <class Find>
  State look(Find find) {
    if (state() != State::missing) return state();
    const std::lock_guard guard(mutex_);
    if (state() == State::missing) {
      find_private();
      state_.store(find(), std::memory_order_release);
    }
    return state();
  }
  State state() const { return state_.load(std::memory_order_acquire); }

  // Returns the address of the next `name` after our own object, or null.
  void* symbol(const char* name) const;
  // Returns the address of a variable. Unlike functions, variables may have been copied into the
  // executable, which precedes us in the search order, so the first definition is used.
  void* data(const char* name) const;

 private:
  void find_private();

  const char* mark_;
  std::atomic<State> state_{State::missing};
  std::mutex mutex_;
  // handle of a library that was opened privately; kept until the process ends
  void* private_ = nullptr;
};

// Fills the fields of a table with the next function of the given name, so that other tools stack
// with us; if there is none, with the function named `twin`.
class TableFiller {
 public:
  explicit TableFiller(const LibraryBelow& below) : below_(below), objects_(loaded_objects()) {}

  // `certain`: some object is known to define the function. A failed look-up (dlsym) leaves an
  // error message in the program's heap, so names that no object defines are not looked up.
  template <class Function>
  void fill(Function** field, const char* name, const char* twin, bool certain) const {
    *field = reinterpret_cast<Function*>(find(name, twin, certain));
  }

 private:
  void* find(const char* name, const char* twin, bool certain) const;
  bool defined(const char* name) const;

  const LibraryBelow& below_;
  std::vector<LoadedObject> objects_;
};

}  // namespace nearcache
