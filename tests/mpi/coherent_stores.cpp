// The owner's memory changes without a call on the window: by stores of any thread or process, by
// the kernel, or by MPI receiving into it.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "coherent.h"

namespace coherent {
namespace {

void kept_over_barriers(Access access) {
  Wanted wanted;
  wanted.access = access;
  with_window(wanted, [](Window& window) {
    settle(window);
    for (int turn = 0; turn < 5; ++turn) {
      MPI_Barrier(check::world);
      const uint64_t before = kept(window);
      read_all(window);
      if (check::rank == reader && must_keep()) EXPECT(kept(window) > before);
      check::hidden_barrier();
    }
  });
}

// Such a fence ends no epoch, and may return before any other rank has entered it.
void nothing_is_kept_over_a_fence_that_nothing_precedes() {
  Wanted wanted;
  wanted.access = Access::fence;
  with_window(wanted, [](Window& window) {
    settle(window);
    for (int turn = 0; turn < 3; ++turn) {
      MPI_Win_fence(MPI_MODE_NOPRECEDE, window.win);
      const uint64_t before = kept(window);
      read_all(window);
      if (check::rank == reader && check::cached()) EXPECT_EQ(kept(window), before);
      check::hidden_barrier();
    }
  });
}

void another_thread_stores(Window& window) {
  const int64_t value = window.next();
  if (check::rank == owner) std::thread([&] { window.store(place, value); }).join();
}

void the_kernel_reads_into_it(Window& window) {
  const int64_t value = window.next();
  if (check::rank != owner) return;
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  EXPECT_EQ(write(ends[1], &value, 8), 8);
  EXPECT_EQ(read(ends[0], window.memory + place * window.stride, 8), 8);
  close(ends[0]);
  close(ends[1]);
}

void owner_receives(Window& window) {
  const int64_t value = window.next();
  if (check::rank == writer) MPI_Send(&value, 1, MPI_INT64_T, owner, 9, check::world);
  if (check::rank == owner)
    MPI_Recv(window.memory + place * window.stride, 1, MPI_INT64_T, writer, 9, check::world,
             MPI_STATUS_IGNORE);
}

void owner_receives_by_request(Window& window) {
  const int64_t value = window.next();
  if (check::rank == writer) MPI_Send(&value, 1, MPI_INT64_T, owner, 9, check::world);
  if (check::rank != owner) return;
  MPI_Request request;
  MPI_Irecv(window.memory + place * window.stride, 1, MPI_INT64_T, writer, 9, check::world,
            &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// The request is older than the first reader, and may be started when there are readers.
void persistent_receive_from_before_anybody_reads() {
  with_window({}, [&](Window& window) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (check::rank == owner)
      MPI_Recv_init(window.memory + place * window.stride, 1, MPI_INT64_T, writer, 9, check::world,
                    &request);
    settle(window);
    if (check::rank == owner) {
      EXPECT(!must_keep() || check::stats(window.win).volatile_regions > 0);
      MPI_Request_free(&request);
    }
    check::hidden_barrier();
  });
}

// More data than fits an eager message, so that it is received directly into the memory; changes
// all words.
void owner_receives_much(Window& window) {
  const int64_t count = words * window.stride;
  for (int64_t word = 0; word < words; ++word) window.next(word);
  if (check::rank == writer) {
    std::vector<int64_t> values(count, -1);
    for (int64_t word = 0; word < words; ++word)
      values[word * window.stride] = window.expected[word];
    MPI_Send(values.data(), static_cast<int>(count), MPI_INT64_T, owner, 9, check::world);
  }
  if (check::rank == owner)
    MPI_Recv(window.memory, static_cast<int>(count), MPI_INT64_T, writer, 9, check::world,
             MPI_STATUS_IGNORE);
}

void broadcast(Window& window) {
  int64_t value = window.next();
  MPI_Bcast(check::rank == owner ? window.memory + place * window.stride : &value, 1, MPI_INT64_T,
            writer, check::world);
}

void reduced(Window& window) {
  const int64_t mine = check::rank == writer ? window.next() : (window.next(), 0);
  int64_t other = 0;
  MPI_Allreduce(&mine, check::rank == owner ? window.memory + place * window.stride : &other, 1,
                MPI_INT64_T, MPI_SUM, check::world);
}

// The window's address is not a multiple of the page size, and other data beside it change before
// each release.
void odd_offset(const Step& change, const Step& tell) {
  constexpr int64_t bytes = 64 * 1024;
  const std::unique_ptr<char, void (*)(void*)> memory(static_cast<char*>(std::malloc(bytes + 8192)),
                                                      std::free);
  Wanted wanted;
  wanted.allocate = false;
  wanted.memory = memory.get() + 4096 - reinterpret_cast<uintptr_t>(memory.get()) % 4096 + 1032;
  wanted.bytes = bytes;
  wanted.stride = bytes / 8 / words;
  auto* beside = static_cast<volatile int64_t*>(wanted.memory) - 1;
  seen_after(
      wanted,
      [&](Window& window) {
        *beside = *beside + 1;
        change(window);
      },
      tell);
}

void huge_pages(const Step& change, int64_t offset) {
  constexpr int64_t huge = 2 << 20, bytes = 2 * huge;
  char* mapped = static_cast<char*>(
      mmap(nullptr, bytes + 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  char* aligned = mapped + huge - reinterpret_cast<uintptr_t>(mapped) % huge;
  madvise(aligned, bytes + huge, MADV_HUGEPAGE);
  std::memset(aligned, 0, bytes + huge);
  Wanted wanted;
  wanted.allocate = false;
  wanted.memory = aligned + offset;
  wanted.bytes = bytes;
  wanted.stride = bytes / 8 / words;
  seen_after(wanted, change, owner_sends);
  munmap(mapped, bytes + 2 * huge);
}

// The kernel takes the memory back and replaces it by zeros, without a store. Alternates with
// stores to all words.
void dropped_by_its_owner(int huge, bool by_a_new_mapping) {
  constexpr int64_t large = 2 << 20, bytes = 4 * large;
  char* mapped = static_cast<char*>(
      mmap(nullptr, bytes + large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  char* aligned = mapped + large - reinterpret_cast<uintptr_t>(mapped) % large;
  madvise(aligned, bytes, huge);
  Wanted wanted;
  wanted.allocate = false;
  wanted.memory = aligned;
  wanted.bytes = bytes;
  wanted.stride = bytes / 8 / words;
  int turns = 0;
  seen_after(
      wanted,
      [&](Window& window) {
        const bool drops = turns++ % 2 == 0;
        for (int64_t word = 0; word < words; ++word) {
          window.next(word);
          if (drops) window.expected[word] = 0;
          if (check::rank == owner && !drops) window.store(word, window.expected[word]);
        }
        if (check::rank != owner || !drops) return;
        if (by_a_new_mapping) {
          EXPECT(mmap(aligned, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == aligned);
        } else {
          EXPECT_EQ(madvise(aligned, bytes, MADV_DONTNEED), 0);
        }
      },
      owner_sends, !by_a_new_mapping);
  munmap(mapped, bytes + large);
}

// The kernel cannot tell an owner about stores by others to memory that they have mapped; nothing
// of such memory is kept.
void a_child_stores() {
  auto* memory = static_cast<int64_t*>(
      mmap(nullptr, words * spread * 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  Wanted wanted;
  wanted.allocate = false;
  wanted.memory = memory;
  seen_after(
      wanted,
      [](Window& window) {
        const int64_t value = window.next();
        if (check::rank == owner) {
          const pid_t child = fork();
          if (child == 0) {
            window.store(place, value);
            _exit(0);
          }
          waitpid(child, nullptr, 0);
        }
      },
      owner_sends, false);
  munmap(memory, words * spread * 8);
}

// A private mapping of a file shows what is written to the file, where it was not stored to.
void a_file_is_written_to() {
  constexpr size_t bytes = words * spread * 8;
  std::FILE* const file = std::tmpfile();
  if (!EXPECT(file != nullptr)) return;
  const auto write = [file](const void* from, size_t length, int64_t at) {
    EXPECT_EQ(pwrite(fileno(file), from, length, at), static_cast<ssize_t>(length));
  };
  const std::vector<char> zeros(bytes);
  write(zeros.data(), bytes, 0);
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
  if (!EXPECT(mapped != MAP_FAILED)) return;
  Wanted wanted;
  wanted.allocate = false;
  wanted.memory = mapped;
  bool of_file = false;
  seen_after(
      wanted,
      [&](Window& window) {
        const int64_t value = window.next();
        if (check::rank != owner) return;
        // What was stored so far is as in the file from now on.
        if (!std::exchange(of_file, true)) {
          write(mapped, bytes, 0);
          madvise(mapped, bytes, MADV_DONTNEED);
        }
        write(&value, sizeof value, place * window.stride * 8);
      },
      owner_sends, false);
  munmap(mapped, bytes);
  std::fclose(file);
}

// Stores through the pointer that a rank of the same host may have.
void stores_by_shared_query(int by) {
  MPI_Aint size = 0;
  int unit = 0;
  int64_t* theirs = nullptr;
  with_window({}, [&](Window& window) {
    MPI_Errhandler handler;
    MPI_Win_get_errhandler(window.win, &handler);
    MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
    const bool can =
        MPI_Win_shared_query(window.win, owner, &size, &unit, &theirs) == MPI_SUCCESS &&
        theirs != nullptr && size > 0;
    MPI_Win_set_errhandler(window.win, handler);
    int all = 0, mine = can;
    HIDDEN(MPI_Allreduce)(&mine, &all, 1, MPI_INT, MPI_MIN, check::hidden_comm);
    if (!all) return check::skip("no pointer to memory of an allocated window");
    for (int round = 0; round < 3; ++round) {
      settle(window, false);
      const int64_t value = window.next();
      if (check::rank == by) {
        reinterpret_cast<volatile int64_t*>(theirs)[place * window.stride] = value;
        MPI_Win_sync(window.win);
      }
      if (by != reader) message(by, reader);
      read_all(window);
      check::hidden_barrier();
    }
  });
}

// The pointer is queried late, when the reader already keeps what it read.
void late_shared_query() {
  with_window({}, [&](Window& window) {
    settle(window);
    MPI_Aint size = 0;
    int unit = 0;
    int64_t* theirs = nullptr;
    MPI_Errhandler handler;
    MPI_Win_get_errhandler(window.win, &handler);
    MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
    int can = 0;
    if (check::rank == writer)
      can = MPI_Win_shared_query(window.win, owner, &size, &unit, &theirs) == MPI_SUCCESS &&
            theirs != nullptr && size > 0;
    MPI_Win_set_errhandler(window.win, handler);
    int all = 0;
    HIDDEN(MPI_Allreduce)(&can, &all, 1, MPI_INT, MPI_MAX, check::hidden_comm);
    if (!all) return check::skip("no pointer to memory of an allocated window");
    const int64_t value = window.next();
    if (check::rank == writer) {
      reinterpret_cast<volatile int64_t*>(theirs)[place * window.stride] = value;
      MPI_Win_sync(window.win);
    }
    message(writer, reader);
    read_all(window);
    check::hidden_barrier();
  });
}

void sync_and_message(Window& window) {
  MPI_Win_sync(window.win);
  message(owner, reader);
}

// All words are stored to all the time, which makes them volatile; later this ends.
void stored_all_the_time() {
  with_window({}, [](Window& window) {
    settle(window);
    for (int turn = 0; turn < 30; ++turn) {
      owner_stores(window);
      MPI_Barrier(check::world);
      read_all(window);
      check::hidden_barrier();
    }
    settle(window);
  });
}

}  // namespace

void add_stores(std::vector<check::Case>& cases) {
  const auto add = [&](const char* name, const Step& change, const Step& tell) {
    cases.push_back({name, [=] { seen_after({}, change, tell); }});
  };
  cases.push_back({"kept_over_barriers", [] { kept_over_barriers(Access::lock_all); }});
  cases.push_back(
      {"kept_over_barriers_without_check", [] { kept_over_barriers(Access::no_check); }});
  cases.push_back({"kept_over_barriers_with_fences", [] { kept_over_barriers(Access::fence); }});
  cases.push_back({"nothing_is_kept_over_a_fence_that_nothing_precedes",
                   nothing_is_kept_over_a_fence_that_nothing_precedes});
  cases.push_back({"kept_over_barriers_with_locks", [] { kept_over_barriers(Access::locks); }});
  add("store_then_barrier", owner_stores, barrier);
  add("store_then_message", owner_stores, owner_sends);
  add("store_then_sync_and_message", owner_stores, sync_and_message);
  for (const Access access : {Access::fence, Access::locks, Access::no_check}) {
    const char* name = access == Access::fence   ? "store_then_fence"
                       : access == Access::locks ? "store_then_barrier_with_locks"
                                                 : "store_then_barrier_without_check";
    cases.push_back({name, [access] {
                       Wanted wanted;
                       wanted.access = access;
                       const auto fence = [](Window& window) { MPI_Win_fence(0, window.win); };
                       seen_after(wanted, owner_stores,
                                  access == Access::fence ? Step(fence) : Step(barrier));
                     }});
  }
  add("store_by_another_thread", another_thread_stores, owner_sends);
  add("the_kernel_reads_into_it", the_kernel_reads_into_it, owner_sends);
  add("received_into_it", owner_receives, owner_sends);
  add("received_into_it_by_a_request", owner_receives_by_request, owner_sends);
  cases.push_back({"persistent_receive_from_before_anybody_reads",
                   persistent_receive_from_before_anybody_reads});
  cases.push_back({"words_side_by_side", [] {
                     Wanted wanted;
                     wanted.stride = 1;
                     seen_after(wanted, owner_stores, owner_sends, false);
                   }});
  cases.push_back({"much_is_received_into_it", [] {
                     Wanted wanted;
                     wanted.bytes = 1 << 20;
                     wanted.stride = wanted.bytes / 8 / words;
                     seen_after(wanted, owner_receives_much, owner_sends);
                   }});
  add("broadcast_into_it", broadcast, owner_sends);
  add("reduced_into_it", reduced, owner_sends);
  cases.push_back({"at_an_odd_offset", [] { odd_offset(owner_stores, barrier); }});
  cases.push_back({"put_at_an_odd_offset", [] { odd_offset(writer_puts, writer_sends); }});
  cases.push_back(
      {"received_at_an_odd_offset", [] { odd_offset(owner_receives_much, owner_sends); }});
  cases.push_back({"in_huge_pages", [] { huge_pages(owner_stores, 0); }});
  cases.push_back({"in_huge_pages_at_an_odd_offset", [] { huge_pages(owner_stores, 4104); }});
  cases.push_back({"received_in_huge_pages", [] { huge_pages(owner_receives_much, 72); }});
  cases.push_back({"dropped_in_huge_pages", [] { dropped_by_its_owner(MADV_HUGEPAGE, false); }});
  cases.push_back({"mapped_anew", [] { dropped_by_its_owner(MADV_NOHUGEPAGE, true); }});
  cases.push_back({"stored_all_the_time", stored_all_the_time});
  cases.push_back({"a_child_stores_to_shared_memory", a_child_stores});
  cases.push_back({"a_file_is_written_to", a_file_is_written_to});
  cases.push_back({"writer_stores_by_shared_query", [] { stores_by_shared_query(writer); }});
  cases.push_back({"reader_stores_by_shared_query", [] { stores_by_shared_query(reader); }});
  cases.push_back({"writer_stores_by_a_late_shared_query", late_shared_query});
}

}  // namespace coherent
