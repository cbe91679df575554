// The cases of rma_edges.cpp about who waits for whom, and what moves in the meantime.
#include <linux/tcp.h>
#include <mpi.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "rma_words.h"

namespace {

// Freeing a request does not wait: the target makes no progress until this rank tells it to.
void a_request_that_is_freed_is_not_waited_for() {
  Words words(2);
  words.memory[0] = 50 + rank;
  MPI_Barrier(check::world);
  int note = 0;
  int64_t got[2] = {-1, -1};
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, words.win);
    MPI_Barrier(check::world);
    MPI_Recv(&note, 1, MPI_INT, 1, 0, check::world, MPI_STATUS_IGNORE);
    MPI_Win_unlock(0, words.win);
  } else {
    MPI_Barrier(check::world);
  }
  if (rank == 1) {
    MPI_Request request;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, words.win);
    MPI_Rget(&got[0], 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, words.win, &request);
    MPI_Request_free(&request);
    EXPECT(request == MPI_REQUEST_NULL);
    MPI_Send(&note, 1, MPI_INT, 0, 0, check::world);
    MPI_Rget(&got[1], 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, words.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(0, words.win);
    EXPECT(got[0] == 50 && got[1] == 50);
  }
}

// Operations issued to another rank are also sent when the program ends an epoch of another window
// and then computes: the other rank may wait for them.
void the_end_of_an_epoch_sends_what_waits_for_more() {
  if (!check::cached()) return check::skip("hosts need not");
  Words near(4);
  MPI_Win win;
  std::vector<int64_t> own(4);
  MPI_Win_create_dynamic(MPI_INFO_NULL, check::world, &win);
  MPI_Win_attach(win, own.data(), 32);
  MPI_Aint here, there;
  MPI_Get_address(own.data(), &here);
  MPI_Sendrecv(&here, 1, MPI_AINT, rank_before(), 0, &there, 1, MPI_AINT, next_rank(), 0,
               check::world, MPI_STATUS_IGNORE);
  const volatile int64_t *asked = own.data(), *answered = near.memory.data();
  MPI_Win_lock_all(0, win);
  for (int way = 0; way < 4; ++way) {
    const int64_t one = 1, two = 2, nothing = 0;
    MPI_Group everybody, one_of_them;
    MPI_Comm_group(check::world, &everybody);
    MPI_Barrier(check::world);
    if (rank == 0) {
      const auto ask = [&] { MPI_Put(&one, 1, MPI_INT64_T, 1, there, 1, MPI_INT64_T, win); };
      const int to = 1;
      MPI_Group_incl(everybody, 1, &to, &one_of_them);
      if (way == 0) MPI_Win_lock(MPI_LOCK_SHARED, 2 % ranks, 0, near.win);
      if (way == 1) MPI_Win_lock_all(0, near.win);
      if (way == 2) MPI_Win_post(one_of_them, 0, near.win);
      if (way == 2) MPI_Recv(nullptr, 0, MPI_BYTE, 1, 0, check::world, MPI_STATUS_IGNORE);
      ask();
      usleep(20000);  // so that the others wait for this rank alone
      if (way == 0) MPI_Win_unlock(2 % ranks, near.win);
      if (way == 1) MPI_Win_unlock_all(near.win);
      if (way == 2) MPI_Win_wait(near.win);
      if (way == 3) MPI_Win_fence(MPI_MODE_NOSUCCEED, near.win);
      const double end = MPI_Wtime() + 10;
      while (*answered != 2 && MPI_Wtime() < end) {
      }
      check::expect(*answered == 2, "nothing came in way %d", way);
      MPI_Group_free(&one_of_them);
    } else {
      const int to = 0;
      MPI_Group_incl(everybody, 1, &to, &one_of_them);
      if (way == 2 && rank == 1) {
        MPI_Win_start(one_of_them, 0, near.win);
        MPI_Win_complete(near.win);
        MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, check::world);
      }
      if (way == 3) MPI_Win_fence(MPI_MODE_NOSUCCEED, near.win);
      while (rank == 1 && *asked != 1) MPI_Win_sync(win);
      if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, near.win);
        MPI_Put(&two, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, near.win);
        MPI_Win_unlock(0, near.win);
      }
      MPI_Group_free(&one_of_them);
    }
    MPI_Group_free(&everybody);
    MPI_Barrier(check::world);
    near.memory[0] = own[0] = nothing;
    MPI_Win_sync(win);
    MPI_Win_sync(near.win);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_detach(win, own.data());
  MPI_Win_free(&win);
}

// Complete whatever else is in flight to the same target; here, a get that waits for a lock.
void puts_with_a_request_are_complete_at_once() {
  if (!check::cached()) return check::skip("hosts need not");
  Words words(4);
  const int64_t one = 1;
  int64_t got = -1;
  if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, words.win);
  MPI_Barrier(check::world);
  if (rank == 1) {
    MPI_Request requests[3];
    int complete = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, words.win);
    MPI_Rget(&got, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, words.win, &requests[0]);
    MPI_Rput(&one, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, words.win, &requests[1]);
    MPI_Raccumulate(&one, 1, MPI_INT64_T, 0, 2, 1, MPI_INT64_T, MPI_SUM, words.win, &requests[2]);
    for (MPI_Request& each : {std::ref(requests[2]), std::ref(requests[1])}) {
      MPI_Test(&each, &complete, MPI_STATUS_IGNORE);
      EXPECT_EQ(complete, 1);
    }
    MPI_Test(&requests[0], &complete, MPI_STATUS_IGNORE);
    EXPECT_EQ(complete, 0);
    MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, check::world);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Win_unlock(0, words.win);
    EXPECT_EQ(got, 7);
  } else if (rank == 0) {
    words.memory[0] = 7;
    MPI_Recv(nullptr, 0, MPI_BYTE, 1, 0, check::world, MPI_STATUS_IGNORE);
    MPI_Win_unlock(0, words.win);
  }
  MPI_Barrier(check::world);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, words.win);
  EXPECT_EQ(words.memory[1] + words.memory[2], rank == 0 ? 2 : 0);
  MPI_Win_unlock(rank, words.win);
}

// Rank 0 waits by calls that the engine answers until rank 1 tells that a message of rank 0's has
// come: `looks` makes one such call, or several, and says whether that is so.
template <class Looks, class Tells>
void wait_for_a_message_to_come(Looks looks, Tells tells) {
  constexpr int many = 1 << 20;  // more than a host sends before the other end asks for it
  std::vector<int> message(many);
  if (rank == 0) {
    MPI_Request request;
    MPI_Isend(message.data(), many, MPI_INT, 1, 0, check::world, &request);
    bool told = false;
    for (const double began = MPI_Wtime(); !told && MPI_Wtime() - began < 10;) told = looks();
    EXPECT(told);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    usleep(2000);
    MPI_Recv(message.data(), many, MPI_INT, 0, 0, check::world, MPI_STATUS_IGNORE);
    tells();
  }
}

// Many hosts move them only while they are called.
void messages_move_while_calls_in_a_passive_epoch_wait() {
  int64_t got = 0;
  const int64_t one = 1;
  Words words(1);
  const auto get = [&] { MPI_Get(&got, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, words.win); };
  const std::function<void()> ways[] = {
      [&] { get(), MPI_Win_flush(1, words.win); },
      [&] { get(), MPI_Win_flush_all(words.win); },
      [&] { get(), MPI_Win_flush_local(1, words.win); },
      [&] {
        MPI_Fetch_and_op(nullptr, &got, MPI_INT64_T, 1, 0, MPI_NO_OP, words.win);
        MPI_Win_flush(1, words.win);
      },
      [&] {
        MPI_Win_sync(words.win);
        got = *static_cast<volatile int64_t*>(words.memory.data());
      },
      [&] {
        MPI_Win_unlock_all(words.win);
        MPI_Win_lock_all(0, words.win);
        get();
        MPI_Win_flush(1, words.win);
      }};
  for (const auto& way : ways) {
    words.memory[0] = got = 0;
    MPI_Barrier(check::world);
    MPI_Win_lock_all(0, words.win);
    wait_for_a_message_to_come([&] { return way(), got != 0; },
                               [&] {
                                 for (int to = 0; to < 2; ++to)
                                   MPI_Accumulate(&one, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T,
                                                  MPI_REPLACE, words.win);
                                 MPI_Win_flush_all(words.win);
                               });
    MPI_Win_unlock_all(words.win);
    MPI_Barrier(check::world);
  }
}

void messages_move_while_locks_and_tests_wait() {
  int64_t got = 0;
  const int64_t one = 1;
  Words words(1);
  wait_for_a_message_to_come(
      [&] {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, words.win);
        MPI_Get(&got, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, words.win);
        MPI_Win_unlock(1, words.win);
        return got != 0;
      },
      [&] {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, words.win);
        MPI_Put(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, words.win);
        MPI_Win_unlock(1, words.win);
      });
  MPI_Group all, other;
  MPI_Comm_group(check::world, &all);
  const int peer = 1 - rank;
  MPI_Group_incl(all, rank < 2, &peer, &other);
  if (rank == 0) MPI_Win_post(other, 0, words.win);
  int done = 0;
  wait_for_a_message_to_come([&] { return MPI_Win_test(words.win, &done), done != 0; },
                             [&] {
                               MPI_Win_start(other, 0, words.win);
                               MPI_Win_complete(words.win);
                             });
  MPI_Group_free(&all);
  MPI_Group_free(&other);
}

// How many segments with data this process has sent over TCP.
int64_t segments_sent() {
  int64_t sent = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(each.path().filename().string());
    tcp_info info{};
    socklen_t bytes = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0)
      sent += info.tcpi_data_segs_out;
  }
  return sent;
}

// The engine enters the host in a flush when it has not done so for 100 us.
void what_is_held_goes_with_the_flush_that_enters_the_host() {
  if (!check::cached()) return check::skip("about the engine");
  Words words(2);
  constexpr int64_t times = 100;
  MPI_Win_lock_all(0, words.win);
  if (rank == 0) {
    int64_t before = 0;
    for (int64_t i = 0; i <= times; ++i) {
      for (const double began = MPI_Wtime(); MPI_Wtime() - began < 150e-6;) {
      }
      MPI_Put(&i, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, words.win);
      MPI_Win_flush(1, words.win);
      if (i == 0) before = segments_sent();
    }
    EXPECT(segments_sent() - before < times + times / 2);
  }
  MPI_Win_unlock_all(words.win);
  MPI_Barrier(check::world);
}

}  // namespace

void add_progress_cases(std::vector<check::Case>& cases) {
  cases.insert(
      cases.end(),
      {{"a_request_that_is_freed_is_not_waited_for", a_request_that_is_freed_is_not_waited_for},
       {"the_end_of_an_epoch_sends_what_waits_for_more",
        the_end_of_an_epoch_sends_what_waits_for_more},
       {"puts_with_a_request_are_complete_at_once", puts_with_a_request_are_complete_at_once},
       {"messages_move_while_calls_in_a_passive_epoch_wait",
        messages_move_while_calls_in_a_passive_epoch_wait},
       {"messages_move_while_locks_and_tests_wait", messages_move_while_locks_and_tests_wait},
       {"what_is_held_goes_with_the_flush_that_enters_the_host",
        what_is_held_goes_with_the_flush_that_enters_the_host}});
}
