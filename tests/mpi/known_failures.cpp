// Errors of the paper's published prototype, one test each, named for the symptom.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "words.h"

namespace {

// Returns a second target: rank 2, or the origin itself if there are only two ranks.
int other() { return check::ranks > 2 ? 2 : 0; }

// The prototype keeps 64 copies per window until the end of an epoch, then exits.
void many_gets_before_one_flush(int gets, const char* mode) {
  Words words(10000, mode);
  if (!origin()) {
    return;
  }
  std::vector<int64_t> once(gets, -1), again(gets, -1);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < gets; i++) {
      words.get(&once[i], 1, i);
      words.get(&again[i], 1, i);
    }
    words.flush(1);
    for (int i = 0; i < gets; i++) {
      EXPECT(Words::right(&once[i], 1, i) && Words::right(&again[i], 1, i));
    }
    once.assign(gets, -1);
    again.assign(gets, -1);
  }
}

void flush_all_completes() {
  for (const char* mode : {"transparent", "always"}) {
    Words words(100, mode);
    if (origin()) {
      int64_t got[4] = {-1, -1, -1, -1};
      for (int round = 0; round < 2; round++) {
        words.get(&got[0], 1, 7);
        words.get(&got[1], other(), 7);
        words.get(&got[2], 1, 7);
        words.get(&got[3], other(), 7);
        MPI_Win_flush_all(words.win);
        for (int i = 0; i < 4; i++) {
          EXPECT(Words::right(&got[i], i % 2 ? other() : 1, 7));
          got[i] = -1;
        }
      }
    }
  }
}

// A flush of one target makes the prototype complete the gets of all targets: it caches a buffer
// that is still being filled.
void flush_of_one_rank_completes_only_its_gets() {
  for (const char* mode : {"transparent", "always"}) {
    Words words(100, mode);
    if (origin()) {
      int64_t first = -1, second = -1, again = -1;
      words.get(&first, 1, 3);
      words.get(&second, other(), 3);
      words.flush(other());
      EXPECT(Words::right(&second, other(), 3));
      words.get(&again, 1, 3);  // rank 1's get is still in flight
      words.flush(1);
      EXPECT(Words::right(&first, 1, 3) && Words::right(&again, 1, 3));
      EXPECT(words.read(1, 3) && words.read(other(), 3));
    }
  }
}

// A larger get of the same place while the smaller one is unfinished and another rank is flushed.
void longer_get_after_flush_of_other_rank() {
  Words words(100);
  if (origin()) {
    int64_t head[4], all[16], ignored;
    words.get(head, 1, 8, 4);
    words.get(&ignored, other(), 8);
    words.flush(other());
    words.get(all, 1, 8, 16);
    words.flush(1);
    EXPECT(Words::right(head, 1, 8, 4) && Words::right(all, 1, 8, 16) && words.read(1, 8, 16));
  }
}

// Rank 1 exposes slightly more than 4 GiB of memory, of which only two places are ever touched.
void far_displacements(int unit, MPI_Aint far) {
  constexpr size_t bytes = (size_t{1} << 32) + 65536;
  char* memory = nullptr;
  if (check::rank == 1) {
    memory = static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (!EXPECT(memory != MAP_FAILED)) {
      return;
    }
    memory[0] = 'n';
    memory[far * unit] = 'f';
  }
  MPI_Info info = check::info("nearcache_mode", "always");
  MPI_Win win;
  MPI_Win_create(memory, check::rank == 1 ? bytes : 0, unit, info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);
  check::hidden_barrier();
  MPI_Win_lock_all(0, win);
  for (int round = 0; origin() && round < 3; round++) {
    char near_byte = 0, far_byte = 0;
    MPI_Get(&near_byte, 1, MPI_CHAR, 1, 0, 1, MPI_CHAR, win);
    MPI_Get(&far_byte, 1, MPI_CHAR, 1, far, 1, MPI_CHAR, win);
    MPI_Win_flush(1, win);
    EXPECT_EQ(near_byte, 'n');
    EXPECT_EQ(far_byte, 'f');
  }
  check::hidden_barrier();
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  if (memory != nullptr) {
    munmap(memory, bytes);
  }
}

void strided_target_after_contiguous() {
  Words words(100);
  MPI_Datatype strided;
  MPI_Type_vector(4, 1, 3, MPI_INT64_T, &strided);
  MPI_Type_commit(&strided);
  for (int round = 0; origin() && round < 3; round++) {
    int64_t row[4] = {-1, -1, -1, -1}, column[4] = {-1, -1, -1, -1};
    words.get(row, 1, 5, 4);
    MPI_Get(column, 4, MPI_INT64_T, 1, 5, 1, strided, words.win);
    words.flush(1);
    EXPECT(Words::right(row, 1, 5, 4));
    for (int i = 0; i < 4; i++) {
      EXPECT(Words::right(&column[i], 1, 5 + 3 * i));
    }
  }
  MPI_Type_free(&strided);
}

void strided_origin_keeps_its_gaps() {
  Words words(100);
  MPI_Datatype strided;
  MPI_Type_vector(4, 1, 2, MPI_INT64_T, &strided);
  MPI_Type_commit(&strided);
  for (int round = 0; origin() && round < 2; round++) {
    int64_t missed[8], pending[8];
    for (int i = 0; i < 8; i++) {
      missed[i] = pending[i] = -77;
    }
    MPI_Get(missed, 1, strided, 1, 5, 4, MPI_INT64_T, words.win);
    MPI_Get(pending, 1, strided, 1, 5, 4, MPI_INT64_T, words.win);
    words.flush(1);
    for (int i = 0; i < 4; i++) {
      EXPECT(Words::right(&missed[2 * i], 1, 5 + i) && Words::right(&pending[2 * i], 1, 5 + i));
      EXPECT_EQ(missed[2 * i + 1], -77);
      EXPECT_EQ(pending[2 * i + 1], -77);
    }
  }
  MPI_Type_free(&strided);
}

void proc_null_leaves_the_buffer_alone() {
  Words words(100);
  for (int round = 0; origin() && round < 3; round++) {
    int64_t untouched = -77, read = -1;
    EXPECT_EQ(words.get(&untouched, MPI_PROC_NULL, 0), MPI_SUCCESS);
    words.get(&read, 1, 0);
    EXPECT_EQ(words.get(&untouched, MPI_PROC_NULL, 0), MPI_SUCCESS);
    MPI_Win_flush_all(words.win);
    EXPECT_EQ(untouched, -77);
    EXPECT(Words::right(&read, 1, 0));
    MPI_Request request;
    MPI_Rget(&untouched, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, words.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(untouched, -77);
  }
}

// MPI_PROC_NULL is -1 in MPICH; it must not be taken for anything else. Real programs get it from
// MPI_Cart_shift.
void synchronising_proc_null_completes_nothing() {
  for (const char* mode : {"transparent", "always"}) {
    for (int how = 0; how < 3; how++) {
      Words words(100, mode);
      if (!origin()) continue;
      const auto of_nobody = [&] {
        if (how == 0) MPI_Win_flush(MPI_PROC_NULL, words.win);
        if (how == 1) MPI_Win_flush_local(MPI_PROC_NULL, words.win);
        if (how == 2) {
          MPI_Win_flush(MPI_PROC_NULL, words.win);
          MPI_Win_flush_local(MPI_PROC_NULL, words.win);
        }
      };
      int64_t got = -1;
      words.get(&got, 1, 5);
      of_nobody();
      EXPECT_CACHED(ADDED(words.win, syncs_served, words.flush(1)) == 0);
      EXPECT(Words::right(&got, 1, 5) && words.read(1, 5));
      const int64_t value = Words::word(1, 6);
      MPI_Put(&value, 1, MPI_INT64_T, 1, 6, 1, MPI_INT64_T, words.win);
      of_nobody();
      EXPECT_CACHED(ADDED(words.win, syncs_served, words.flush(1)) == 0);
      EXPECT(words.read(1, 6));
    }
  }
}

// Like the previous case, for lock and unlock of MPI_PROC_NULL inside another lock's epoch.
void unlocking_proc_null_completes_nothing() {
  Words words(100);
  MPI_Win_unlock_all(words.win);
  if (origin()) {
    int64_t got = -1;
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, words.win);
    words.get(&got, 1, 5);
    MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, words.win);
    MPI_Win_unlock(MPI_PROC_NULL, words.win);
    EXPECT_CACHED(ADDED(words.win, syncs_served, words.flush(1)) == 0);
    EXPECT(Words::right(&got, 1, 5));
    MPI_Win_unlock(1, words.win);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, words.win);
    EXPECT(words.read(1, 5));
    MPI_Win_unlock(1, words.win);
  }
  check::hidden_barrier();
  MPI_Win_lock_all(0, words.win);
}

int error_class(int code) {
  int found = MPI_SUCCESS;
  if (code != MPI_SUCCESS) {
    MPI_Error_class(code, &found);
  }
  return found;
}

// Calls the host by its PMPI name to learn what it returns for the same arguments.
void failed_get_is_not_a_hit() {
  Words words(100);
  MPI_Win_set_errhandler(words.win, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int round = 0; origin() && round < 3; round++) {
    int64_t kept = -77;
    const int none = check::ranks + 5;
    EXPECT_EQ(
        error_class(words.get(&kept, none, 0)),
        error_class(HIDDEN(MPI_Get)(&kept, 1, MPI_INT64_T, none, 0, 1, MPI_INT64_T, words.win)));
    EXPECT(words.get(&kept, none, 0) != MPI_SUCCESS);
    EXPECT_EQ(
        error_class(words.get(&kept, 1, 0, -1)),
        error_class(HIDDEN(MPI_Get)(&kept, -1, MPI_INT64_T, 1, 0, -1, MPI_INT64_T, words.win)));
    EXPECT_EQ(
        error_class(MPI_Get(&kept, 1, MPI_DATATYPE_NULL, 1, 0, 1, MPI_INT64_T, words.win)),
        error_class(HIDDEN(MPI_Get)(&kept, 1, MPI_DATATYPE_NULL, 1, 0, 1, MPI_INT64_T, words.win)));
    EXPECT_EQ(kept, -77);
    EXPECT(words.read(1, 0));
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

void put_then_get(const char* mode) {
  Words words(100, mode);
  if (origin()) {
    const int64_t mine[3] = {-1, -2, -3};
    EXPECT(words.read(1, 20, 8) && words.read(1, 24, 8) && words.read(1, 40));
    MPI_Put(mine, 3, MPI_INT64_T, 1, 26, 3, MPI_INT64_T, words.win);  // overlaps both
    words.flush(1);
    for (int round = 0; round < 2; round++) {
      int64_t first[8], second[8];
      words.get(first, 1, 20, 8);
      words.get(second, 1, 24, 8);
      words.flush(1);
      EXPECT(Words::right(first, 1, 20, 6) && first[6] == -1 && first[7] == -2);
      EXPECT(Words::right(second, 1, 24, 2) && second[2] == -1 && second[4] == -3);
      EXPECT(Words::right(second + 5, 1, 29, 3));
    }
  }
}

void success_is_returned_on_hits() {
  Words words(100);
  if (origin()) {
    int64_t got;
    EXPECT_EQ(words.get(&got, 1, 9), MPI_SUCCESS);
    EXPECT_EQ(words.get(&got, 1, 9), MPI_SUCCESS);  // pending
    EXPECT_EQ(MPI_Win_flush(1, words.win), MPI_SUCCESS);
    EXPECT_EQ(words.get(&got, 1, 9), MPI_SUCCESS);  // full
    EXPECT_EQ(MPI_Win_flush(1, words.win), MPI_SUCCESS);
    EXPECT_EQ(MPI_Win_flush_all(words.win), MPI_SUCCESS);
  }
}

// The prototype calls srand() in the user's process.
void rand_sequence_is_untouched() {
  int expected[20];
  srand(4242);
  for (int& each : expected) {
    each = rand();
  }
  srand(4242);
  int drawn = 0;
  for (const char* policy : {"rate", "clampi", "lru"}) {
    Words words(4000, "always",
                {{"nearcache_policy", policy},
                 {"nearcache_storage", "4096"},
                 {"nearcache_adaptive", "false"}});
    for (int i = 0; origin() && i < 1000; i++) {
      EXPECT(words.read(1, (i * 37) % 3900, 1 + i % 50));
    }
    EXPECT_EQ(rand(), expected[drawn++]);
  }
  EXPECT_EQ(rand(), expected[drawn]);
}

// With a weak hash, 3 of 400 stay.
void equal_gets_stay_resident(int stride, const char* adaptive) {
  constexpr int gets = 400, bytes = 64;
  std::vector<char> memory(gets * 512 + bytes), got(bytes);
  for (size_t i = 0; i < memory.size(); i++) {
    memory[i] = (char)(i * 7 + i / 251);
  }
  MPI_Info info = check::info("nearcache_mode", "always");
  MPI_Info_set(info, "nearcache_adaptive", adaptive);
  MPI_Win win;
  MPI_Win_create(memory.data(), memory.size(), 1, info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);
  MPI_Win_lock_all(0, win);
  check::hidden_barrier();
  for (int round = 0; origin() && round < 2; round++) {
    const auto before = check::stats(win);
    for (int i = 0; i < gets; i++) {
      MPI_Get(got.data(), bytes, MPI_CHAR, 1, i * stride, bytes, MPI_CHAR, win);
      MPI_Win_flush(1, win);
      EXPECT(std::memcmp(got.data(), &memory[i * stride], bytes) == 0);
    }
    const auto after = check::stats(win);
    if (check::cached()) {
      EXPECT(after.entries >= gets);  // some are read ahead
      EXPECT(round == 0 || after.hits_full - before.hits_full == gets);
    }
  }
  check::hidden_barrier();
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

void tiny_and_odd_sizes(const char* key) {
  for (const char* value : {"1", "2", "3", "7", "13", "64", "65", "100", "1000", "4099"}) {
    for (const char* adaptive : {"true", "false"}) {
      Words words(2000, "always", {{key, value}, {"nearcache_adaptive", adaptive}});
      for (int i = 0; origin() && i < 600; i++) {
        EXPECT(words.read(i % 2 ? other() : 1, (i * 7919) % 300 * 5, 1 + i % 9));
      }
      if (origin() && strcmp(adaptive, "false") == 0 && strcmp(key, "nearcache_index") == 0) {
        EXPECT_CACHED(check::stats(words.win).entries <= 4099 + 64);
      }
    }
  }
}

void empty_gets_take_no_entry() {
  Words words(4000);
  MPI_Datatype empty;
  MPI_Type_contiguous(0, MPI_INT64_T, &empty);
  MPI_Type_commit(&empty);
  if (origin()) {
    int64_t untouched = -77;
    for (int i = 0; i < 3000; i++) {
      words.get(&untouched, 1, i, 0);
      MPI_Get(&untouched, 1, empty, 1, i, 1, empty, words.win);
    }
    words.flush(1);
    EXPECT_EQ(untouched, -77);
    EXPECT_CACHED(check::stats(words.win).entries == 0);
    EXPECT(words.read(1, 5) && words.read(1, 5));
    EXPECT_CACHED(check::stats(words.win).entries == 1);
  }
  MPI_Type_free(&empty);
}

long resident_kib() {
  long pages = 0, ignored = 0;
  std::ifstream("/proc/self/statm") >> ignored >> pages;
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

// Leaks of windows show as growth between two late cycles; an early cycle warms up the allocator.
void window_cycles_leak_nothing() {
  int cycles = 10000;
  for (size_t i = 0; i + 1 < check::rest.size(); i++) {
    if (check::rest[i] == "--cycles") {
      cycles = std::stoi(check::rest[i + 1]);
    }
  }
  long warm = 0;
  int64_t memory[16], got = -1;
  for (int64_t i = 0; i < 16; i++) {
    memory[i] = i * i;
  }
  MPI_Win win;
  MPI_Info info;
  MPI_Info_create(&info);
  for (int cycle = 0; cycle < cycles; cycle++) {
    if (cycle == cycles / 5) {
      warm = resident_kib();
    }
    MPI_Info_set(info, "nearcache_mode", cycle % 2 ? "always" : "transparent");
    MPI_Win_create(memory, sizeof memory, 8, info, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    MPI_Get(&got, 1, MPI_INT64_T, 1 - check::rank % 2, cycle % 16, 1, MPI_INT64_T, win);
    MPI_Win_unlock_all(win);
    EXPECT(got == memory[cycle % 16]);
    MPI_Win_free(&win);
  }
  MPI_Info_free(&info);
  const long grown = resident_kib() - warm;
  if (origin()) {
    std::printf("window_cycles: %d cycles, %ld KiB grown\n", cycles, grown);
  }
  // 8,000 leaked records of at least 64 B would be 500 KiB; a leaked 4,096-entry index is much
  // larger.
  EXPECT(grown < 8000);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<check::Case> cases;
  for (const char* mode : {"transparent", "always", "user"}) {
    const std::string end = std::string("_") + mode;
    cases.push_back(
        {"65_gets_before_one_flush" + end, [mode] { many_gets_before_one_flush(65, mode); }});
    cases.push_back(
        {"2000_gets_before_one_flush" + end, [mode] { many_gets_before_one_flush(2000, mode); }});
    cases.push_back({"put_then_get" + end, [mode] { put_then_get(mode); }});
  }
  cases.insert(
      cases.end(),
      {
          {"flush_all_completes", flush_all_completes},
          {"flush_of_one_rank_completes_only_its_gets", flush_of_one_rank_completes_only_its_gets},
          {"longer_get_after_flush_of_other_rank", longer_get_after_flush_of_other_rank},
          {"displacement_2_32_is_not_0", [] { far_displacements(1, MPI_Aint{1} << 32); }},
          {"displacement_2_32_is_not_0_by_unit", [] { far_displacements(8, MPI_Aint{1} << 29); }},
          {"strided_target_after_contiguous", strided_target_after_contiguous},
          {"strided_origin_keeps_its_gaps", strided_origin_keeps_its_gaps},
          {"proc_null_leaves_the_buffer_alone", proc_null_leaves_the_buffer_alone},
          {"synchronising_proc_null_completes_nothing", synchronising_proc_null_completes_nothing},
          {"unlocking_proc_null_completes_nothing", unlocking_proc_null_completes_nothing},
          {"failed_get_is_not_a_hit", failed_get_is_not_a_hit},
          {"success_is_returned_on_hits", success_is_returned_on_hits},
          {"rand_sequence_is_untouched", rand_sequence_is_untouched},
          {"stride_500_stays_resident", [] { equal_gets_stay_resident(500, "false"); }},
          {"stride_501_stays_resident", [] { equal_gets_stay_resident(501, "false"); }},
          {"stride_512_stays_resident", [] { equal_gets_stay_resident(512, "false"); }},
          {"stride_512_stays_resident_adaptive", [] { equal_gets_stay_resident(512, "true"); }},
          {"tiny_and_odd_index", [] { tiny_and_odd_sizes("nearcache_index"); }},
          {"tiny_and_odd_storage", [] { tiny_and_odd_sizes("nearcache_storage"); }},
          {"empty_gets_take_no_entry", empty_gets_take_no_entry},
          {"window_cycles_leak_nothing", window_cycles_leak_nothing},
      });
  return check::run(argc, argv, 2, cases);
}
