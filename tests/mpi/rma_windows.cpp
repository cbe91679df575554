// Many windows, of which some come and go (a part of rma.cpp).
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "rma_words.h"

void add_window_cases(std::vector<check::Case>& cases);

namespace {

int64_t shared_kilobytes() {
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  int64_t found = 0;
  for (char line[256]; file != nullptr && std::fgets(line, sizeof line, file) != nullptr;)
    std::sscanf(line, "RssShmem: %" SCNd64, &found);
  if (file != nullptr) std::fclose(file);
  return found;
}

void memory_of_windows_that_are_gone_is_given_back() {
  constexpr int times = 300;
  constexpr MPI_Aint bytes = 100000;
  int64_t before = 0;
  for (int i = 0; i < times; ++i) {
    char* base = nullptr;
    MPI_Win win;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, check::world, &base, &win);
    std::memset(base, 1, bytes);
    MPI_Win_free(&win);
    if (i == 50) before = shared_kilobytes();
  }
  EXPECT(shared_kilobytes() - before < 10 * bytes / 1024);
}

void many_windows_come_and_go() {
  for (int i = 0; i < 100; ++i) {
    Words words(8);
    const int64_t value = i;
    MPI_Win_fence(0, words.win);
    MPI_Put(&value, 1, MPI_INT64_T, next_rank(), 0, 1, MPI_INT64_T, words.win);
    MPI_Win_fence(0, words.win);
    EXPECT_EQ(words.memory[0], i);
  }
}

// A window of which this rank alone changes the next one's memory, so that it knows what is there.
class Mirrored {
 public:
  static constexpr size_t words = 8;

  Mirrored() : window_(std::make_unique<Words>(words)) { MPI_Win_lock_all(0, window_->win); }
  ~Mirrored() { MPI_Win_unlock_all(window_->win); }
  Mirrored(const Mirrored&) = delete;
  Mirrored& operator=(const Mirrored&) = delete;

  // Reads or changes a word, and checks what was there before.
  void use(unsigned how, size_t place, int64_t value) {
    int64_t& known = known_[place];
    const auto at = static_cast<MPI_Aint>(place);
    const int to = next_rank();
    int64_t found = known;
    if (how == 0) {
      MPI_Put(&value, 1, MPI_INT64_T, to, at, 1, MPI_INT64_T, window_->win);
    } else if (how == 1) {
      MPI_Accumulate(&value, 1, MPI_INT64_T, to, at, 1, MPI_INT64_T, MPI_SUM, window_->win);
    } else if (how == 2) {
      MPI_Fetch_and_op(&value, &found, MPI_INT64_T, to, at, MPI_SUM, window_->win);
    } else if (how == 3) {
      MPI_Compare_and_swap(&value, &known, &found, MPI_INT64_T, to, at, window_->win);
    } else {
      found = -1;
      MPI_Get(&found, 1, MPI_INT64_T, to, at, 1, MPI_INT64_T, window_->win);
    }
    MPI_Win_flush(to, window_->win);
    EXPECT_EQ(found, known);
    if (how == 0 || how == 3) known = value;
    if (how == 1 || how == 2) known += value;
  }

 private:
  std::unique_ptr<Words> window_;
  std::array<int64_t, words> known_{};
};

// A new window may have the handle of the one that was freed.
void windows_are_used_in_turn() {
  std::array<std::unique_ptr<Mirrored>, 3> windows;
  for (auto& each : windows) each = std::make_unique<Mirrored>();
  uint32_t drawn = 1;  // the same at all ranks
  const auto draw = [&](uint32_t end) {
    return (drawn = drawn * 1664525 + 1013904223) / 256 % end;
  };
  for (int turn = 0; turn < 3000; ++turn) {
    const size_t third = draw(16) == 0 ? 2 : 0;  // mostly two windows
    const size_t which = third + (third == 0 ? static_cast<size_t>(turn % 2) : 0);
    if (draw(400) == 0) {
      windows[which].reset();
      windows[which] = std::make_unique<Mirrored>();
    }
    for (uint32_t times = 1 + draw(3); times > 0; --times)
      windows[which]->use(draw(10), draw(Mirrored::words), turn);
  }
}

// Locks and unlocks of two windows in turn, each of one target.
void locks_of_two_windows_in_turn() {
  Words first(2), second(2);
  const std::array<MPI_Win, 2> both = {first.win, second.win};
  for (int64_t turn = 0; turn < 600; ++turn) {
    const int type = turn % 5 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
    std::array<int64_t, 2> found = {-1, -1};
    for (const MPI_Win win : both) MPI_Win_lock(type, next_rank(), 0, win);
    for (size_t i = 0; i < both.size(); ++i)
      MPI_Get(&found[i], 1, MPI_INT64_T, next_rank(), 0, 1, MPI_INT64_T, both[i]);
    for (const MPI_Win win : both) MPI_Win_flush(next_rank(), win);
    const int64_t values[] = {turn + 1, 1000 + turn};
    for (size_t i = 0; i < both.size(); ++i) {
      EXPECT_EQ(found[i], turn == 0 ? 0 : values[i] - 1);
      MPI_Put(&values[i], 1, MPI_INT64_T, next_rank(), 0, 1, MPI_INT64_T, both[i]);
    }
    for (const MPI_Win win : both) MPI_Win_unlock(next_rank(), win);
  }
  MPI_Barrier(check::world);
  for (const MPI_Win win : both) {
    int64_t found = -1;
    MPI_Win_lock_all(0, win);
    MPI_Get(&found, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, win);
    MPI_Win_unlock_all(win);
    EXPECT_EQ(found, win == first.win ? 600 : 1599);
  }
  MPI_Barrier(check::world);
}

}  // namespace

void add_window_cases(std::vector<check::Case>& cases) {
  cases.insert(cases.end(), {{"many_windows_come_and_go", many_windows_come_and_go},
                             {"memory_of_windows_that_are_gone_is_given_back",
                              memory_of_windows_that_are_gone_is_given_back},
                             {"windows_are_used_in_turn", windows_are_used_in_turn},
                             {"locks_of_two_windows_in_turn", locks_of_two_windows_in_turn}});
}
