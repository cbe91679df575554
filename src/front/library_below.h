// The library below a preloaded object: where its functions are found, and whether it is loaded
// yet. A program may open it late (Python) and privately, so that it is not in the global order
// that RTLD_NEXT follows.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "base/loaded_objects.h"

namespace nearcache {

class LibraryBelow {
 public:
  enum class State { missing, usable, wrong };

  // `mark`: a function that this library alone defines.
  constexpr explicit LibraryBelow(const char* mark) : mark_(mark) {}

  // Once the library is there, says for good what `find` made of it; before, `find` is asked again
  // each time. Any thread.
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

  // The address of the next `name` behind us, or null.
  void* symbol(const char* name) const;
  // Data, unlike functions, may have been copied into the executable, which comes before us: the
  // first one counts.
  void* data(const char* name) const;

 private:
  void find_private();

  const char* mark_;
  std::atomic<State> state_{State::missing};
  std::mutex mutex_;
  // the library, where it was opened privately; held for the life of the process
  void* private_ = nullptr;
};

// Fills the fields of a table: the next function of that name, so that other tools stack with us,
// or its twin where there is none.
class TableFiller {
 public:
  explicit TableFiller(const LibraryBelow& below) : below_(below), objects_(loaded_objects()) {}

  // `certain`: some object defines it. A look-up that fails leaves its message in the program's
  // heap, so what none defines is not looked up.
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
