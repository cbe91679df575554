// A window of 64-bit words that encode their own position; most tests read one of these.
#ifndef NEARCACHE_TESTS_WORDS_H
#define NEARCACHE_TESTS_WORDS_H

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "check.h"

// Created collectively; word i of rank r holds word(r, i).
class Words {
 public:
  using Keys = std::initializer_list<std::pair<const char*, std::string>>;

  // `allocated`: by MPI, so that gets are mostly complete at once; `memory` is then but a copy.
  explicit Words(int64_t words, const char* mode = "always", Keys keys = {}, bool allocated = false)
      : memory(words), count(words) {
    MPI_Info info = check::info("nearcache_mode", mode);
    for (const auto& [key, value] : keys) {
      MPI_Info_set(info, key, value.c_str());
    }
    for (int64_t i = 0; i < words; i++) {
      memory[i] = word(check::rank, i);
    }
    if (allocated) {
      int64_t* base = nullptr;
      MPI_Win_allocate(words * 8, 8, info, MPI_COMM_WORLD, &base, &win);
      std::copy(memory.begin(), memory.end(), base);
    } else {
      MPI_Win_create(memory.data(), words * 8, 8, info, MPI_COMM_WORLD, &win);
    }
    MPI_Info_free(&info);
    check::hidden_barrier();
    MPI_Win_lock_all(0, win);
  }

  ~Words() {
    check::hidden_barrier();
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
  }

  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  static int64_t word(int rank, int64_t i) { return (rank + 1) * 1000000000LL + i * 3 + 1; }

  int get(int64_t* to, int target, int64_t at, int words = 1) const {
    return MPI_Get(to, words, MPI_INT64_T, target, at, words, MPI_INT64_T, win);
  }

  void flush(int target) const { MPI_Win_flush(target, win); }

  // Gets words and flushes; returns false and prints a message if a word is wrong.
  bool read(int target, int64_t at, int words = 1) const {
    std::vector<int64_t> got(words, -1);
    get(got.data(), target, at, words);
    flush(target);
    return right(got.data(), target, at, words);
  }

  static bool right(const int64_t* got, int target, int64_t at, int words = 1) {
    for (int i = 0; i < words; i++) {
      if (got[i] != word(target, at + i)) {
        return check::expect(false, "word %lld of rank %d, asked %d from %lld: %lld, not %lld",
                             (long long)(at + i), target, words, (long long)at, (long long)got[i],
                             (long long)word(target, at + i));
      }
    }
    return true;
  }

  MPI_Win win;
  std::vector<int64_t> memory;
  int64_t count;
};

inline bool origin() { return check::rank == 0; }

#endif
