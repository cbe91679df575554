// Single gets at the edges of what MPI allows: sizes, short-lived datatypes, unusual windows,
// requests.
#include <sys/mman.h>

#include <cstring>
#include <numeric>
#include <utility>

#include "words.h"

void add_request_cases(std::vector<check::Case>& cases);  // edges_requests.cpp
void add_device_cases(std::vector<check::Case>& cases);   // edges_devices.cpp

namespace {

void longer_get_is_a_partial_hit() {
  Words words(200);
  if (!origin()) {
    return;
  }
  EXPECT(words.read(1, 30, 10));
  const auto before = check::stats(words.win);
  EXPECT(words.read(1, 30, 25));
  const auto after = check::stats(words.win);
  EXPECT_CACHED(after.hits_partial - before.hits_partial == 1);
  EXPECT_CACHED(after.bytes_from_network - before.bytes_from_network == 15 * 8);
  EXPECT_CACHED(ADDED(words.win, hits_full, words.read(1, 30, 25)) == 1);
  EXPECT_CACHED(ADDED(words.win, hits_full, words.read(1, 30, 10)) == 1);
  EXPECT(words.read(1, 30, 25) && words.read(1, 30, 3));
}

// Gets that begin within cached data or extend beyond it, both in flight and complete.
void parts_and_overlaps_of_cached_gets() {
  Words words(400);
  if (!origin()) {
    return;
  }
  EXPECT(words.read(1, 100, 50));
  EXPECT_CACHED(
      ADDED(words.win, hits_full,
            EXPECT(words.read(1, 120, 30) && words.read(1, 149) && words.read(1, 101, 2))) == 3);
  EXPECT_CACHED(ADDED(words.win, bytes_from_network, EXPECT(words.read(1, 140, 25))) == 15 * 8);
  EXPECT_CACHED(ADDED(words.win, bytes_from_network, EXPECT(words.read(1, 90, 20))) == 10 * 8);
  EXPECT_CACHED(
      ADDED(words.win, hits_full, EXPECT(words.read(1, 90, 20) && words.read(1, 140, 25))) == 2);
  EXPECT(words.read(1, 200, 30));
  EXPECT_CACHED(ADDED(words.win, bytes_from_network, EXPECT(words.read(1, 145, 70))) ==
                (200 - 165) * 8);
  EXPECT_CACHED(ADDED(words.win, hits_partial,
                      EXPECT(words.read(1, 300, 20) && words.read(1, 290, 40))) == 0);
  int64_t all[50], part[10];
  const uint64_t joined =
      ADDED(words.win, hits_pending, (words.get(all, 1, 340, 50), words.get(part, 1, 355, 10)));
  EXPECT_CACHED(joined == 1);
  words.flush(1);
  EXPECT(Words::right(all, 1, 340, 50) && Words::right(part, 1, 355, 10));
}

// The same into an origin with gaps, and with a target datatype that is contiguous but does not
// begin at the displacement.
void parts_into_gaps_and_beside_the_displacement() {
  Words words(200);
  MPI_Datatype every_second, shifted;
  MPI_Type_vector(4, 1, 2, MPI_INT64_T, &every_second);
  const int length = 4, offset = 3;
  MPI_Type_indexed(1, &length, &offset, MPI_INT64_T, &shifted);
  MPI_Type_commit(&every_second);
  MPI_Type_commit(&shifted);
  if (origin()) {
    EXPECT(words.read(1, 20, 30));
    int64_t gaps[8] = {-1, -1, -1, -1, -1, -1, -1, -1}, four[4];
    const auto into_gaps = [&](int64_t at) {
      MPI_Get(gaps, 1, every_second, 1, at, 4, MPI_INT64_T, words.win), words.flush(1);
    };
    const auto beside = [&](int64_t at) {
      MPI_Get(four, 4, MPI_INT64_T, 1, at, 1, shifted, words.win), words.flush(1);
    };
    const uint64_t gaps_hit = ADDED(words.win, hits_full, into_gaps(33));
    EXPECT_CACHED(gaps_hit == 1);
    for (int i = 0; i < 4; i++) {
      EXPECT(Words::right(&gaps[2 * i], 1, 33 + i) && (i == 3 || gaps[2 * i + 1] == -1));
    }
    const uint64_t beside_hit = ADDED(words.win, hits_full, beside(40));
    EXPECT_CACHED(beside_hit == 1);
    EXPECT(Words::right(four, 1, 43, 4));
    into_gaps(48);
    beside(45);
    for (int i = 0; i < 4; i++) {
      EXPECT(Words::right(&gaps[2 * i], 1, 48 + i) && Words::right(four, 1, 48, 4));
    }
  }
  MPI_Type_free(&every_second);
  MPI_Type_free(&shifted);
}

// Reads word by word, by get and flush or by Rget and wait; misses fetch whole lines once these are
// found to pay. Each word is read into the second of three, and the other two must not change.
void read_word_by_word(const Words& words, int64_t first, int64_t last, bool request) {
  for (int64_t at = first; at < last; at++) {
    int64_t got[3] = {-1, -1, -1};
    if (request) {
      MPI_Request waits;
      MPI_Rget(&got[1], 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, words.win, &waits);
      MPI_Wait(&waits, MPI_STATUS_IGNORE);
    } else {
      words.get(&got[1], 1, at);
      words.flush(1);
    }
    EXPECT(Words::right(&got[1], 1, at) && got[0] == -1 && got[2] == -1);
  }
}

void neighbours_of_small_gets_come_with_lines() {
  for (const bool request : {false, true}) {
    Words words(4003, "always", {{"nearcache_skip_cheap", "false"}});
    if (!origin()) {
      continue;
    }
    read_word_by_word(words, 0, 400, request);
    EXPECT_CACHED(ADDED(words.win, hits_full, read_word_by_word(words, 400, 4003, request)) >
                  3603 - 3603 / 30);
    EXPECT_CACHED(ADDED(words.win, hits_full, read_word_by_word(words, 400, 4003, request)) ==
                  3603);
  }
}

// Lines end where the smallest window does; the last words of larger ones are fetched individually.
void lines_end_with_the_smallest_window() {
  MPI_Info info = check::info("nearcache_mode", "always");
  MPI_Info_set(info, "nearcache_skip_cheap", "false");
  const int64_t count = check::rank == 1 ? 700 : 333;
  std::vector<int64_t> memory(count);
  for (int64_t i = 0; i < count; i++) {
    memory[i] = Words::word(check::rank, i);
  }
  MPI_Win win;
  MPI_Win_create(memory.data(), count * 8, 8, info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);
  check::hidden_barrier();
  MPI_Win_lock_all(0, win);
  for (int64_t at = 0; origin() && at < 700; at++) {
    int64_t got = -1;
    MPI_Get(&got, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, win);
    MPI_Win_flush(1, win);
    EXPECT(Words::right(&got, 1, at));
  }
  if (origin()) {
    const auto stats = check::stats(win);
    EXPECT_CACHED(stats.hits_full > 200 && stats.hits_full < 333);
    EXPECT_CACHED(stats.bytes_from_network < 700 * 8 + 1000);
  }
  check::hidden_barrier();
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

// A window may be declared larger than what can be read: all memory from MPI_BOTTOM on, or
// addresses of which the program uses some. Only what it asks for is fetched, as its neighbours may
// be none.
void lines_end_where_nothing_can_be_read(bool bottom) {
  constexpr int64_t page = 4096, used = 4 * page, reserved = 2 * used;
  void* const mapped =
      mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  mprotect(mapped, used, PROT_READ | PROT_WRITE);
  auto* const memory = static_cast<int64_t*>(mapped);
  for (int64_t i = 0; i < used / 8; i++) memory[i] = Words::word(check::rank, i);
  MPI_Info info = check::info("nearcache_mode", "always");
  MPI_Info_set(info, "nearcache_skip_cheap", "false");
  MPI_Win win = MPI_WIN_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int rc = bottom ? MPI_Win_create(MPI_BOTTOM, PTRDIFF_MAX, 1, info, MPI_COMM_WORLD, &win)
                        : MPI_Win_create(memory, reserved, 1, info, MPI_COMM_WORLD, &win);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Info_free(&info);
  if (rc != MPI_SUCCESS) {
    munmap(mapped, reserved);
    return check::skip("this MPI has no windows of MPI_BOTTOM");
  }
  int64_t starts[2] = {0, 0}, start = 0;
  if (bottom) MPI_Get_address(memory, &start);
  HIDDEN(MPI_Allgather)(&start, 1, MPI_INT64_T, starts, 1, MPI_INT64_T, check::hidden_comm);
  MPI_Win_lock_all(0, win);
  for (const int64_t step : {int64_t{1}, int64_t{128}}) {  // a stream, and a stride
    for (int64_t at = 0; origin() && at < used / 8; at += step) {
      int64_t got = -1;
      MPI_Get(&got, 8, MPI_BYTE, 1, starts[1] + 8 * at, 8, MPI_BYTE, win);
      MPI_Win_flush(1, win);
      EXPECT(Words::right(&got, 1, at));
    }
    if (origin() && check::cached()) nearcache_invalidate(win);
  }
  check::hidden_barrier();
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  munmap(mapped, reserved);
}

// Growing gets of one place, all before one flush, and again when they are cached.
void growing_gets_in_one_epoch() {
  for (const char* mode : {"transparent", "always"}) {
    Words words(200, mode);
    for (int round = 0; origin() && round < 2; round++) {
      std::vector<std::vector<int64_t>> got;
      for (const int count : {4, 9, 2, 30, 9, 60}) {
        got.emplace_back(count, -1);
      }
      for (auto& each : got) {
        words.get(each.data(), 1, 12, (int)each.size());
      }
      words.flush(1);
      for (auto& each : got) {
        Words::right(each.data(), 1, 12, (int)each.size());
      }
    }
  }
}

void several_windows_at_once() {
  Words a(50), b(60, "transparent"), c(70, "user"), d(80, "off");
  for (int round = 0; origin() && round < 4; round++) {
    int64_t got[4];
    const Words* all[] = {&a, &b, &c, &d};
    for (int i = 0; i < 4; i++) {
      all[i]->get(&got[i], 1, 7 + i);
    }
    for (int i = 3; i >= 0; i--) {
      all[i]->flush(1);
      EXPECT(Words::right(&got[i], 1, 7 + i));
    }
  }
  EXPECT_CACHED(check::stats(d.win).hits_full + check::stats(d.win).hits_pending == 0);
}

// The program may free a datatype as soon as the get has been called.
void datatype_freed_before_the_flush() {
  for (const char* mode : {"transparent", "always"}) {
    Words words(200, mode);
    for (int stride = 2; origin() && stride < 6; stride++) {
      int64_t first[4], second[4];
      for (int64_t* to : {first, second}) {
        MPI_Datatype strided;
        MPI_Type_vector(4, 1, stride, MPI_INT64_T, &strided);
        MPI_Type_commit(&strided);
        MPI_Get(to, 4, MPI_INT64_T, 1, 3, 1, strided, words.win);
        MPI_Type_free(&strided);
      }
      words.flush(1);
      for (int i = 0; i < 4; i++) {
        EXPECT(Words::right(&first[i], 1, 3 + i * stride) &&
               Words::right(&second[i], 1, 3 + i * stride));
      }
    }
  }
}

// A freed datatype's handle is reused for another one; layouts remembered by handle must not be.
void datatype_handle_reused() {
  Words words(400);
  for (int turn = 0; origin() && turn < 40; turn++) {
    const int stride = 1 + turn % 7;
    MPI_Datatype strided;
    MPI_Type_vector(5, 1, stride, MPI_INT64_T, &strided);
    MPI_Type_commit(&strided);
    int64_t got[5] = {};
    MPI_Get(got, 5, MPI_INT64_T, 1, 11, 1, strided, words.win);
    words.flush(1);
    for (int i = 0; i < 5; i++) {
      EXPECT(Words::right(&got[i], 1, 11 + i * stride));
    }
    int64_t scattered[5 * 7] = {};
    MPI_Get(scattered, 1, strided, 1, 11, 5, MPI_INT64_T, words.win);
    words.flush(1);
    for (int i = 0; i < 5; i++) {
      EXPECT(Words::right(&scattered[i * stride], 1, 11 + i));
    }
    MPI_Type_free(&strided);
  }
}

// Types with few bytes in very many parts: the first get that uses one must take neither minutes
// nor gigabytes.
void datatypes_of_very_many_parts() {
  Words words(100);
  constexpr int many = 2000000000;
  MPI_Datatype nothing, nothings, pieces, cyclic, late, types[4];
  MPI_Type_contiguous(0, MPI_INT64_T, &nothing);
  MPI_Type_create_hvector(many, 1, 8, nothing, &nothings);
  MPI_Type_create_hvector(many, 1, 1, MPI_BYTE, &pieces);
  const int sizes[3] = {many, 2000, 4},
            by_default[3] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG,
                             MPI_DISTRIBUTE_DFLT_DARG};
  const int cyclicly[1] = {MPI_DISTRIBUTE_CYCLIC}, two[1] = {2},
            blocks[3] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK},
            columns[3] = {1, 1, 8};
  MPI_Type_create_darray(2, 0, 1, sizes, cyclicly, by_default, two, MPI_ORDER_C, MPI_BYTE, &cyclic);
  // the last of eight processes has none of the four columns
  MPI_Type_create_darray(8, 7, 3, sizes, blocks, by_default, columns, MPI_ORDER_C, MPI_BYTE, &late);
  int at = 0;
  for (MPI_Datatype type : {nothings, pieces, cyclic, late}) {
    MPI_Type_create_resized(type, 0, 8, &types[at]);
    MPI_Type_commit(&types[at++]);
  }
  int64_t word = 0;
  for (MPI_Datatype type : types) {
    if (origin()) {
      MPI_Get(&word, 0, type, 1, 0, 0, type, words.win);
      MPI_Put(&word, 0, MPI_INT64_T, 1, 0, 0, type, words.win);
      EXPECT(words.read(1, 7, 5));
    }
    MPI_Type_free(&type);
  }
  for (MPI_Datatype type : {nothing, nothings, pieces, cyclic, late}) {
    MPI_Type_free(&type);
  }
}

void bottom_with_absolute_addresses() {
  Words words(100);
  static int64_t to[2];
  for (int round = 0; origin() && round < 3; round++) {
    to[0] = to[1] = -1;
    MPI_Aint at[2];
    MPI_Get_address(&to[0], &at[0]);
    MPI_Get_address(&to[1], &at[1]);
    std::swap(at[0], at[1]);
    const int ones[2] = {1, 1};
    MPI_Datatype absolute;
    MPI_Type_create_hindexed(2, ones, at, MPI_INT64_T, &absolute);
    MPI_Type_commit(&absolute);
    MPI_Get(MPI_BOTTOM, 1, absolute, 1, 9, 2, MPI_INT64_T, words.win);
    words.flush(1);
    EXPECT(Words::right(&to[1], 1, 9) && Words::right(&to[0], 1, 10));
    MPI_Type_free(&absolute);
  }
}

void get_accumulate_as_a_get() {
  Words words(100);
  for (int round = 0; origin() && round < 3; round++) {
    int64_t none = 0, got = -1;
    EXPECT(words.read(1, 5));
    MPI_Get_accumulate(&none, 0, MPI_INT64_T, &got, 1, MPI_INT64_T, 1, 5, 1, MPI_INT64_T, MPI_NO_OP,
                       words.win);
    words.flush(1);
    EXPECT(Words::right(&got, 1, 5));
    MPI_Fetch_and_op(&none, &got, MPI_INT64_T, 1, 6, MPI_NO_OP, words.win);
    words.flush(1);
    EXPECT(Words::right(&got, 1, 6));
  }
}

void displacement_unit_of_each_rank() {
  std::vector<int64_t> memory(64);
  std::iota(memory.begin(), memory.end(), check::rank * 1000);
  MPI_Info info = check::info("nearcache_mode", "always");
  const int units[] = {1, 8, 4};
  MPI_Win win;
  MPI_Win_create(memory.data(), 512, units[check::rank % 3], info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);
  MPI_Datatype every_other;
  MPI_Type_vector(2, 1, 2, MPI_INT64_T, &every_other);
  MPI_Type_commit(&every_other);
  MPI_Win_lock_all(0, win);
  check::hidden_barrier();
  for (int round = 0; round < 3; round++) {
    for (int target = 0; target < check::ranks; target++) {
      int64_t got = -1;
      MPI_Get(&got, 1, MPI_INT64_T, target, 40 / units[target % 3], 1, MPI_INT64_T, win);
      MPI_Win_flush(target, win);
      EXPECT_EQ(got, target * 1000 + 5);
      int64_t two[2] = {-1, -1};
      MPI_Get(two, 2, MPI_INT64_T, target, 40 / units[target % 3], 1, every_other, win);
      MPI_Win_flush(target, win);
      EXPECT(two[0] == target * 1000 + 5 && two[1] == target * 1000 + 7);
    }
  }
  check::hidden_barrier();
  MPI_Type_free(&every_other);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

void communicator_freed_and_reordered() {
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -check::rank, &reversed);
  alignas(64) int64_t mine = check::rank + 100;  // MPICH 4.0.2 alone reads others wrongly
  MPI_Info info = check::info("nearcache_mode", "always");
  MPI_Win win;
  MPI_Win_create(&mine, 8, 8, info, reversed, &win);
  MPI_Info_free(&info);
  MPI_Comm_free(&reversed);
  MPI_Win_lock_all(0, win);
  for (int round = 0; round < 3; round++) {
    for (int target = 0; target < check::ranks; target++) {
      int64_t got = -1;
      MPI_Get(&got, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win);
      MPI_Win_flush_all(win);
      EXPECT_EQ(got, check::ranks - 1 - target + 100);
    }
  }
  check::hidden_barrier();
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

// Displacements of a dynamic window are addresses. Every rank attaches memory of its own, at the
// same addresses each time.
class Attached {
 public:
  explicit Attached(const char* mode) : memory(16) {
    MPI_Info info = check::info("nearcache_mode", mode);
    MPI_Info_set(info, "nearcache_skip_cheap", "false");
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
    MPI_Info_free(&info);
    MPI_Aint mine;
    MPI_Get_address(memory.data(), &mine);
    addresses.resize(check::ranks);
    MPI_Allgather(&mine, 1, MPI_AINT, addresses.data(), 1, MPI_AINT, MPI_COMM_WORLD);
    fill(1);
    attach();
    check::hidden_barrier();
    MPI_Win_lock_all(0, win);
  }

  ~Attached() {
    MPI_Win_unlock_all(win);
    check::hidden_barrier();
    MPI_Win_detach(win, memory.data());
    MPI_Win_free(&win);
  }

  void attach() { MPI_Win_attach(win, memory.data(), memory.size() * 8); }

  void fill(int64_t turn) {
    for (int i = 0; i < 16; i++) {
      memory[i] = turn * 100 + check::rank * 20 + i;
    }
  }

  // Checks that rank 1's word 3 is that of `turn`, by an Rget, and by a get and a repeat of it.
  void read(int64_t turn) const {
    int64_t got[3] = {-1, -1, -1};
    MPI_Request request;
    const MPI_Aint at = addresses[1] + 24;
    MPI_Rget(&got[0], 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Get(&got[1], 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, win);
    MPI_Get(&got[2], 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, win);
    MPI_Win_flush(1, win);
    for (const int64_t each : got) {
      EXPECT_EQ(each, turn * 100 + 20 + 3);
    }
  }

  MPI_Win win;
  std::vector<int64_t> memory;
  std::vector<MPI_Aint> addresses;
};

void memory_of_a_dynamic_window_is_cached() {
  Attached window("always");
  if (origin()) {
    EXPECT_CACHED(ADDED(window.win, hits_full, window.read(1)) == 2);
    EXPECT_CACHED(ADDED(window.win, hits_full, window.read(1)) == 3);
  }
}

// Attaches other memory at the same addresses. Ranks coordinate this; what the reader detaches or
// attaches tells it of the change.
void memory_is_attached_anew() {
  Attached window("always");
  std::vector<int64_t> more(16);
  for (int64_t turn = 1; turn < 3; turn++) {
    if (origin()) window.read(turn);
    check::hidden_barrier();
    if (!origin()) {
      MPI_Win_detach(window.win, window.memory.data());
      window.fill(turn + 1);
      window.attach();
    } else if (turn == 1) {
      MPI_Win_attach(window.win, more.data(), more.size() * 8);
    } else {
      MPI_Win_detach(window.win, more.data());
    }
    check::hidden_barrier();
  }
  if (origin()) window.read(3);
}

// In mode transparent it suffices that a rank learns of the change.
void memory_is_attached_anew_elsewhere() {
  Attached window("transparent");
  for (int64_t turn = 2; turn < 6; turn++) {
    if (origin()) {
      const nearcache_stats before = check::stats(window.win);
      window.read(turn - 1);
      const nearcache_stats after = check::stats(window.win);
      EXPECT_CACHED(after.hits_pending + after.hits_full > before.hits_pending + before.hits_full);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!origin()) {
      MPI_Win_detach(window.win, window.memory.data());
      window.fill(turn);
      window.attach();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (origin()) window.read(5);
}

void shared_window_is_right() {
  int64_t* memory;
  MPI_Info info = check::info("nearcache_mode", "always");
  MPI_Win win;
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int reachable;
  MPI_Comm_size(node, &reachable);
  if (reachable < check::ranks) {  // the MPI was told to take ranks of one machine for strangers
    MPI_Comm_free(&node);
    MPI_Info_free(&info);
    return check::skip("ranks share no memory here");
  }
  MPI_Win_allocate_shared(64, 8, info, node, &memory, &win);
  MPI_Info_free(&info);
  MPI_Win_lock_all(0, win);
  for (int64_t turn = 0; turn < 4; turn++) {
    memory[3] = turn * 10 + check::rank;
    MPI_Win_sync(win);
    check::hidden_barrier();
    if (origin()) {
      int64_t got = -1;
      MPI_Get(&got, 1, MPI_INT64_T, 1, 3, 1, MPI_INT64_T, win);
      MPI_Win_flush(1, win);
      EXPECT_EQ(got, turn * 10 + 1);
    }
    check::hidden_barrier();
  }
  EXPECT_CACHED(check::stats(win).hits_full == 0);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Comm_free(&node);
}

void sizes_about_the_limit() {
  constexpr int limit = 4096 / 8;
  Words words(2 * limit, "always", {{"nearcache_max_get", "4096"}});
  for (int round = 0; origin() && round < 2; round++) {
    for (const int count : {limit - 1, limit, limit + 1, 2 * limit}) {
      EXPECT(words.read(1, 0, count) && words.read(1, 0, count));
    }
  }
}

void every_policy_evicts_rightly() {
  for (const char* policy :
       {"rate", "clampi", "clampi-temporal", "clampi-positional", "lru", "sieve", "tinylfu"}) {
    for (const char* adaptive : {"false", "true"}) {
      Words words(20000, "always",
                  {{"nearcache_policy", policy},
                   {"nearcache_storage", "8192"},
                   {"nearcache_index", "64"},
                   {"nearcache_adaptive", adaptive}});
      for (int i = 0; origin() && i < 600; i++) {
        EXPECT(words.read(1, (int64_t)i * i % 97 * 200, 1 + i % 41 * 4));
      }
      if (origin()) {
        EXPECT_CACHED(check::stats(words.win).hits_full > 0);
      }
    }
  }
}

void gets_of_own_rank_are_counted_apart() {
  Words words(50);
  EXPECT(words.read(check::rank, 3) && words.read(check::rank, 3));
  if (origin()) {
    EXPECT(words.read(1, 3) && words.read(1, 3));
  }
  const auto found = check::stats(words.win);
  EXPECT_CACHED(found.own_gets == 2 && found.gets == (origin() ? 4u : 2u));
}

void get_of_own_rank_sees_own_stores() {
  for (const char* mode : {"transparent", "always", "off"}) {
    Words words(100, mode);
    for (int64_t turn = 0; turn < 3; turn++) {
      words.memory[4] = turn;
      MPI_Win_sync(words.win);
      int64_t got = -1, requested = -1;
      MPI_Request request;
      words.get(&got, check::rank, 4);
      words.flush(check::rank);
      EXPECT_EQ(got, turn);
      MPI_Rget(&requested, 1, MPI_INT64_T, check::rank, 4, 1, MPI_INT64_T, words.win, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      EXPECT_EQ(requested, turn);
      EXPECT_CACHED(check::stats(words.win).bypassed ==
                    (strcmp(mode, "off") == 0 ? 0 : 2 * (uint64_t)turn + 2));
    }
  }
}

// A window without repeated gets, or one that is not cached, pauses for a while, whatever is
// called.
class Pausing {
 public:
  explicit Pausing(const char* mode) : words(16384, mode, {{"nearcache_skip_cheap", "true"}}) {
    const int gets = strcmp(mode, "off") == 0 ? 200 : 2000;
    for (; origin() && place < gets; place++) {
      EXPECT(words.read(1, place));
    }
    if (origin()) MPI_Win_flush_all(words.win);  // of which is noted what it completes
  }

  Words words;
  int64_t place = 0;
};

void switch_on(const Words& words) {
  if (check::cached()) nearcache_set_mode(words.win, NEARCACHE_MODE_ALWAYS);
}

// Calls made during the pause were not noted, so their operations may be outstanding.
void window_wakes_from_its_pause() {
  for (const char* mode : {"off", "transparent"}) {
    Pausing pausing(mode);
    const Words& words = pausing.words;
    if (!origin()) continue;
    int64_t got = -1;
    words.get(&got, 1, pausing.place);
    switch_on(words);
    words.flush(1);
    EXPECT(Words::right(&got, 1, pausing.place));
    EXPECT(words.read(1, 3));
    EXPECT_CACHED(ADDED(words.win, hits_full, words.read(1, 3)) == 1);
  }
}

void put_of_a_window_that_pauses() {
  for (const char* mode : {"off", "transparent"}) {
    for (const bool in_a_row : {false, true}) {
      Pausing pausing(mode);
      const Words& words = pausing.words;
      if (!origin()) continue;
      int64_t put = 0, got = -1;
      for (int i = 0; i < (in_a_row ? 200 : 1); i++) {
        put++;
        MPI_Put(&put, 1, MPI_INT64_T, 1, 9, 1, MPI_INT64_T, words.win);
      }
      switch_on(words);
      for (int round = 0; round < 3; round++) {
        words.flush(1);
        words.get(&got, 1, 9);
        words.flush(1);
        EXPECT_EQ(got, put);
      }
    }
  }
}

// Epochs that begin and end during a pause complete what is put in them, and are known afterwards.
void locks_of_a_window_that_pauses() {
  const auto flush = [](MPI_Win win, int64_t turn) {
    switch (turn % 4) {
      case 0:
        return MPI_Win_flush(1, win);
      case 1:
        return MPI_Win_flush_local(1, win);
      case 2:
        return MPI_Win_flush_all(win);
      default:
        return MPI_Win_flush_local_all(win);
    }
  };
  for (const char* mode : {"off", "transparent"}) {
    Pausing pausing(mode);
    const Words& words = pausing.words;
    MPI_Win_unlock_all(words.win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t turn = 0; origin() && turn < 12; turn++) {
      const int64_t put = 1000 + turn;
      int64_t got = -1, got_again = -1;
      MPI_Win_lock(turn % 3 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 1, 0, words.win);
      MPI_Put(&put, 1, MPI_INT64_T, 1, 9, 1, MPI_INT64_T, words.win);
      MPI_Win_unlock(1, words.win);
      MPI_Win_lock_all(0, words.win);
      words.get(&got, 1, 9);
      EXPECT_EQ(flush(words.win, turn), MPI_SUCCESS);
      EXPECT_EQ(got, put);
      MPI_Win_unlock_all(words.win);
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, words.win);
      words.get(&got_again, 1, 9);
      MPI_Win_unlock(1, words.win);
      EXPECT_EQ(got_again, put);
    }
    if (origin()) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, words.win);
      switch_on(words);
      EXPECT(words.read(1, 3));  // by its flush, what was put before is known to be complete
      EXPECT(words.read(1, 3));
      EXPECT_CACHED(ADDED(words.win, hits_full, words.read(1, 3)) == 1);
      MPI_Win_unlock(1, words.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, words.win);
  }
}

// Calls on a paused window are acquires for others: what was asked for before them serves nobody.
void calls_on_a_window_that_pauses_acquire() {
  Pausing pausing("off");
  const Words words(100, "transparent");
  const MPI_Win paused = pausing.words.win;
  const std::function<void()> calls[] = {
      [] {}, [&] { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, paused), MPI_Win_unlock(1, paused); },
      [&] { MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, paused), MPI_Win_unlock(1, paused); },
      [&] { MPI_Win_lock_all(0, paused), MPI_Win_unlock_all(paused); },
      [&] { MPI_Win_sync(paused); }};
  MPI_Win_unlock_all(paused);
  MPI_Barrier(MPI_COMM_WORLD);
  for (size_t i = 0; origin() && i < std::size(calls); i++) {
    int64_t got = -1, got_again = -1;
    const bool needs_epoch = i == std::size(calls) - 1;
    if (needs_epoch) MPI_Win_lock_all(0, paused);
    const auto before = check::stats(words.win);
    words.get(&got, 1, 3 + i);
    calls[i]();
    words.get(&got_again, 1, 3 + i);
    words.flush(1);
    EXPECT(Words::right(&got, 1, 3 + i) && Words::right(&got_again, 1, 3 + i));
    const auto after = check::stats(words.win);
    EXPECT_CACHED(after.hits_pending - before.hits_pending == (i == 0 ? 1u : 0u));
    EXPECT_CACHED(after.hits_full == before.hits_full);
    if (needs_epoch) MPI_Win_unlock_all(paused);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, paused);
}

// More gets than a pause lasts, of two types, and no synchronisation before the last one.
void gets_of_a_window_that_pauses() {
  Pausing pausing("transparent");
  const Words& words = pausing.words;
  constexpr int count = 10000;
  std::vector<int64_t> got(count, -1);
  if (!origin()) return;
  const auto before = check::stats(words.win);
  for (int i = 0; i < count; i++) {
    const MPI_Datatype type = i % 100 == 99 ? MPI_DOUBLE : MPI_INT64_T;
    MPI_Get(&got[i], 1, type, 1, pausing.place + i, 1, type, words.win);
  }
  words.flush(1);
  for (int i = 0; i < count; i++) {
    EXPECT(Words::right(&got[i], 1, pausing.place + i));
  }
  const auto after = check::stats(words.win);
  EXPECT_CACHED(after.gets - before.gets == count &&
                after.bytes_requested - before.bytes_requested == count * 8);
  // Where gets take a microsecond, those that are looked at may fetch lines, which serve others.
  const uint64_t fetched = after.bytes_from_network - before.bytes_from_network;
  const uint64_t served = after.bytes_from_cache - before.bytes_from_cache;
  EXPECT_CACHED(served == 0 ? fetched == count * 8 : fetched + served >= count * 8);
}

#if MPI_VERSION >= 4
void large_count_gets() {
  Words words(100);
  for (int round = 0; origin() && round < 3; round++) {
    int64_t got[5] = {}, again[5] = {};
    MPI_Get_c(got, 5, MPI_INT64_T, 1, 30, 5, MPI_INT64_T, words.win);
    words.get(again, 1, 30, 5);
    words.flush(1);
    EXPECT(Words::right(got, 1, 30, 5) && Words::right(again, 1, 30, 5));
    MPI_Request request;
    MPI_Rget_c(got, 5, MPI_INT64_T, 1, 50, 5, MPI_INT64_T, words.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(Words::right(got, 1, 50, 5));
    const int64_t mine = Words::word(1, 30);
    MPI_Put_c(&mine, 1, MPI_INT64_T, 1, 30, 1, MPI_INT64_T, words.win);
    words.flush(1);
    EXPECT(words.read(1, 30, 5));
  }
  if (origin()) {
    EXPECT_CACHED(check::stats(words.win).hits_full > 0);
  }
}
#endif

// Rank 1 writes, so that rank 0, which earlier cases have made a reader, keeps nothing until the
// next phase.
void end_quiet_phase(const Words& words) {
  if (check::rank == 1) {
    const int64_t same = Words::word(0, 9);
    MPI_Put(&same, 1, MPI_INT64_T, 0, 9, 1, MPI_INT64_T, words.win);
    words.flush(0);
  }
  check::hidden_barrier();
}

// A program without repeats and without neighbours is bypassed after a while; the bytes that it
// requests are still counted.
void bytes_are_counted_while_the_cache_sleeps() {
  constexpr int64_t gets = 3000, apart = 16;
  Words words(gets * apart, "transparent", {{"nearcache_skip_cheap", "true"}});
  end_quiet_phase(words);
  if (!origin()) return;
  int64_t got[2];
  for (int64_t i = 0; i < gets; i++) {
    words.get(got, 1, i * apart, 2);
    words.flush(1);
    EXPECT(Words::right(got, 1, i * apart, 2));
  }
  const nearcache_stats stats = check::stats(words.win);
  EXPECT_CACHED(stats.gets == gets && stats.bypassed > 1000);
  EXPECT_CACHED(stats.bytes_requested == gets * 16 && stats.bytes_from_network == gets * 16);
}

// An erroneous get, which fetches nothing.
void gets_outside_an_epoch_count_no_bytes() {
  Words words(64);
  MPI_Win_unlock_all(words.win);
  MPI_Win_set_errhandler(words.win, MPI_ERRORS_RETURN);
  if (origin()) {
    int64_t got = 0;
    words.get(&got, 1, 5);
    const nearcache_stats stats = check::stats(words.win);
    EXPECT_CACHED(stats.gets == stats.bypassed && stats.bytes_requested == 0 &&
                  stats.bytes_from_network == 0);
  }
  check::hidden_barrier();
  MPI_Win_lock_all(0, words.win);
}

// The bytes that a put touches are unknown if ranks have different displacement units; the put
// drops everything cached of its target.
void put_where_units_differ() {
  std::vector<int64_t> memory(8, 5);
  MPI_Info info = check::info("nearcache_mode", "always");
  MPI_Win win;
  MPI_Win_create(memory.data(), 64, check::rank == 1 ? 8 : 1, info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);
  check::hidden_barrier();
  MPI_Win_lock_all(0, win);
  if (origin()) {
    int64_t got = 0;
    const int64_t put = 7;
    const auto read = [&] {
      MPI_Get(&got, 1, MPI_INT64_T, 1, 3, 1, MPI_INT64_T, win);
      MPI_Win_flush(1, win);
      return got;
    };
    EXPECT(read() == 5);
    EXPECT_CACHED(ADDED(win, hits_full, read()) == 1);
    MPI_Put(&put, 1, MPI_INT64_T, 1, 3, 1, MPI_INT64_T, win);
    MPI_Win_flush(1, win);
    EXPECT(read() == 7);
  }
  check::hidden_barrier();
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

// If some rank writes, even a flush with nothing to complete is an acquire: in mode transparent no
// get may join one from before it.
void flush_of_nothing_is_an_acquire() {
  Words words(20, "transparent", {{"nearcache_skip_cheap", "false"}});
  end_quiet_phase(words);
  if (!origin()) {
    return;
  }
  int64_t first = 0, second = 0, third = 0;
  const auto before = check::stats(words.win);
  words.get(&first, 1, 3);
  words.get(&second, 1, 3);
  EXPECT_CACHED(check::stats(words.win).hits_pending - before.hits_pending == 1);
  words.flush(0);
  words.get(&third, 1, 3);
  EXPECT_CACHED(check::stats(words.win).hits_pending - before.hits_pending == 1);
  words.flush(1);
  EXPECT(Words::right(&first, 1, 3) && Words::right(&second, 1, 3) && Words::right(&third, 1, 3));
}

// Gets that would be served, and waits for their requests, with arguments that MPI reports as
// errors.
void wrong_arguments_are_errors() {
  Words words(20);
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(library, &length);
  MPI_Win_set_errhandler(words.win, MPI_ERRORS_RETURN);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (origin()) {
    int64_t got = -1;
    MPI_Datatype eight;
    MPI_Type_contiguous(8, MPI_BYTE, &eight);
    MPI_Type_commit(&eight);
    for (int turn = 0; turn < 3; ++turn) {
      MPI_Get(&got, 1, eight, 1, 5, 1, eight, words.win);
      words.flush(1);
    }
    MPI_Type_free(&eight);
    EXPECT(Words::right(&got, 1, 5));
    const MPI_Datatype none = MPI_DATATYPE_NULL;
    EXPECT(MPI_Get(&got, 1, none, 1, 5, 1, none, words.win) != MPI_SUCCESS);
    EXPECT(words.read(1, 5));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Rget(&got, 1, MPI_INT64_T, 1, 15, 1, MPI_INT64_T, words.win, &request);
    EXPECT(MPI_Waitall(1, nullptr, MPI_STATUSES_IGNORE) != MPI_SUCCESS);
    EXPECT(MPI_Wait(nullptr, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(Words::right(&got, 1, 15));
    if (std::strstr(library, "MPICH") != nullptr) {
      EXPECT(words.get(nullptr, 1, 5) != MPI_SUCCESS);
      for (int turn = 0; turn < 2;
           ++turn) {  // the first one finds out what request served ones get
        EXPECT(MPI_Rget(&got, 1, MPI_INT64_T, 1, 5, 1, MPI_INT64_T, words.win, nullptr) !=
               MPI_SUCCESS);
        MPI_Rget(&got, 1, MPI_INT64_T, 1, 5, 1, MPI_INT64_T, words.win, &request);
        EXPECT(MPI_Test(&request, nullptr, MPI_STATUS_IGNORE) != MPI_SUCCESS);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
    }
  }
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

int errors_handled = 0;
void handle_error(MPI_Comm*, int*, ...) { ++errors_handled; }

// With such a handler MPICH 5 says that the call has succeeded.
void window_that_is_refused_is_left_alone() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(handle_error, &handler);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(comm, handler);
  errors_handled = 0;
  int64_t memory = 0;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(&memory, -1, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  EXPECT(errors_handled == 1);
  EXPECT(win == MPI_WIN_NULL);
  MPI_Win_create(&memory, 8, 8, MPI_INFO_NULL, MPI_COMM_NULL, &win);
  EXPECT(errors_handled == 2);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
  Words words(20, "coherent");
  if (origin()) {
    for (int turn = 0; turn < 2; ++turn) EXPECT(words.read(1, 5));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<check::Case> cases = {
      {"longer_get_is_a_partial_hit", longer_get_is_a_partial_hit},
      {"parts_and_overlaps_of_cached_gets", parts_and_overlaps_of_cached_gets},
      {"parts_into_gaps_and_beside_the_displacement", parts_into_gaps_and_beside_the_displacement},
      {"neighbours_of_small_gets_come_with_lines", neighbours_of_small_gets_come_with_lines},
      {"lines_end_with_the_smallest_window", lines_end_with_the_smallest_window},
      {"lines_end_where_addresses_are_reserved",
       [] { lines_end_where_nothing_can_be_read(false); }},
      {"lines_of_a_window_of_all_memory", [] { lines_end_where_nothing_can_be_read(true); }},
      {"growing_gets_in_one_epoch", growing_gets_in_one_epoch},
      {"several_windows_at_once", several_windows_at_once},
      {"datatype_freed_before_the_flush", datatype_freed_before_the_flush},
      {"datatype_handle_reused", datatype_handle_reused},
      {"datatypes_of_very_many_parts", datatypes_of_very_many_parts},
      {"bottom_with_absolute_addresses", bottom_with_absolute_addresses},
      {"get_accumulate_as_a_get", get_accumulate_as_a_get},
      {"displacement_unit_of_each_rank", displacement_unit_of_each_rank},
      {"communicator_freed_and_reordered", communicator_freed_and_reordered},
      {"memory_of_a_dynamic_window_is_cached", memory_of_a_dynamic_window_is_cached},
      {"memory_is_attached_anew", memory_is_attached_anew},
      {"memory_is_attached_anew_elsewhere", memory_is_attached_anew_elsewhere},
      {"shared_window_is_right", shared_window_is_right},
      {"sizes_about_the_limit", sizes_about_the_limit},
      {"every_policy_evicts_rightly", every_policy_evicts_rightly}};
#if MPI_VERSION >= 4
  cases.insert(cases.end(), {{"large_count_gets", large_count_gets}});
#endif
  cases.insert(
      cases.end(),
      {{"bytes_are_counted_while_the_cache_sleeps", bytes_are_counted_while_the_cache_sleeps},
       {"gets_outside_an_epoch_count_no_bytes", gets_outside_an_epoch_count_no_bytes},
       {"gets_of_own_rank_are_counted_apart", gets_of_own_rank_are_counted_apart},
       {"get_of_own_rank_sees_own_stores", get_of_own_rank_sees_own_stores},
       {"window_wakes_from_its_pause", window_wakes_from_its_pause},
       {"put_of_a_window_that_pauses", put_of_a_window_that_pauses},
       {"locks_of_a_window_that_pauses", locks_of_a_window_that_pauses},
       {"calls_on_a_window_that_pauses_acquire", calls_on_a_window_that_pauses_acquire},
       {"gets_of_a_window_that_pauses", gets_of_a_window_that_pauses},
       {"put_where_units_differ", put_where_units_differ},
       {"flush_of_nothing_is_an_acquire", flush_of_nothing_is_an_acquire},
       {"window_that_is_refused_is_left_alone", window_that_is_refused_is_left_alone},
       {"wrong_arguments_are_errors", wrong_arguments_are_errors}});
  add_request_cases(cases);
  add_device_cases(cases);
  return check::run(argc, argv, 2, cases);
}
