// The cases of edges.cpp about MPI_Rget and other requests.
#include <utility>
#include <vector>

#include "words.h"

namespace {

// Gets and messages waited for together, out of order.
void requests_of_several_kinds_together() {
  Words words(100);
  for (int round = 0; round < 4; round++) {
    if (origin()) {
      int64_t got[3] = {-1, -1, -1};
      int message = 0;
      MPI_Request requests[4];
      MPI_Status statuses[4];
      MPI_Irecv(&message, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[1]);
      for (const int i : {0, 2, 3}) {
        MPI_Rget(&got[i ? i - 1 : 0], 1, MPI_INT64_T, 1, 20 + i, 1, MPI_INT64_T, words.win,
                 &requests[i]);
      }
      if (round % 2) {
        MPI_Waitall(4, requests, statuses);
        EXPECT_EQ(statuses[1].MPI_SOURCE, 1);
        EXPECT_EQ(statuses[1].MPI_TAG, 5);
      } else {
        int indices[4], many = 0;
        for (int left = 4; left > 0; left -= many) {
          MPI_Waitsome(4, requests, &many, indices, MPI_STATUSES_IGNORE);
          EXPECT(many > 0);
        }
      }
      EXPECT(
          std::all_of(requests, requests + 4, [](MPI_Request r) { return r == MPI_REQUEST_NULL; }));
      EXPECT_EQ(message, 77);
      EXPECT(Words::right(&got[0], 1, 20) && Words::right(&got[1], 1, 22) &&
             Words::right(&got[2], 1, 23));
    } else if (check::rank == 1) {
      const int message = 77;
      MPI_Send(&message, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
  }
}

// After its wait, an Rget's buffer belongs to the program again; a repeat that was promised its
// data must not read it later.
void rget_buffer_reused_after_its_wait() {
  for (const char* mode : {"transparent", "always"}) {
    Words words(100, mode);
    MPI_Datatype strided;
    MPI_Type_vector(4, 1, 3, MPI_INT64_T, &strided);
    MPI_Type_commit(&strided);
    for (int round = 0; origin() && round < 20; round++) {
      int64_t first[4] = {-1, -1, -1, -1}, repeat[4] = {-1, -1, -1, -1}, plain = -1,
              plain_repeat = -1;
      MPI_Request requests[2];
      MPI_Rget(first, 4, MPI_INT64_T, 1, round, 1, strided, words.win, &requests[0]);
      MPI_Get(repeat, 4, MPI_INT64_T, 1, round, 1, strided, words.win);
      MPI_Rget(&plain, 1, MPI_INT64_T, 1, 50 + round, 1, MPI_INT64_T, words.win, &requests[1]);
      words.get(&plain_repeat, 1, 50 + round);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      for (int i = 0; i < 4; i++) {
        EXPECT(Words::right(&first[i], 1, round + 3 * i));
        first[i] = -55;
      }
      EXPECT(Words::right(&plain, 1, 50 + round));
      plain = -55;
      words.flush(1);
      for (int i = 0; i < 4; i++) {
        EXPECT(Words::right(&repeat[i], 1, round + 3 * i));
      }
      EXPECT(Words::right(&plain_repeat, 1, 50 + round));
    }
    MPI_Type_free(&strided);
  }
}

// The wait for an Rget must also deliver its data if it repeats a get that no flush has completed
// yet.
void rget_that_repeats_a_get() {
  for (const char* mode : {"transparent", "always"}) {
    Words words(100, mode);
    for (int round = 0; origin() && round < 20; round++) {
      int64_t first = -1, repeat = -1;
      MPI_Request request;
      words.get(&first, 1, round);
      MPI_Rget(&repeat, 1, MPI_INT64_T, 1, round, 1, MPI_INT64_T, words.win, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      EXPECT(Words::right(&repeat, 1, round));
      words.flush(1);
      EXPECT(Words::right(&first, 1, round));
    }
  }
}

// A query that finds a request complete returns the buffer to the program; the wait is too late to
// take the data.
void rget_buffer_reused_after_a_query() {
  enum { one, all, any, some };
  for (int how = one; how <= some; how++) {
#if MPI_VERSION < 4 || (MPI_VERSION == 4 && MPI_SUBVERSION < 1)
    if (how != one) continue;
#endif
    for (const char* mode : {"transparent", "always"}) {
      Words words(100, mode);
      if (!origin()) continue;
      int64_t got[2] = {-1, -1}, joined = -1;
      MPI_Request requests[2];
      for (int i = 0; i < 2; i++)
        MPI_Rget(&got[i], 1, MPI_INT64_T, 1, 30 + 7 * i, 1, MPI_INT64_T, words.win, &requests[i]);
      words.get(&joined, 1, 30);
      for (bool found[2] = {false, false}; !found[0] || !found[1];) {
        int done = 0, index = MPI_UNDEFINED, indices[2] = {0, 0};
        if (how == one) {
          for (int i = 0; i < 2; i++) {
            MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
            if (done && !std::exchange(found[i], true)) got[i] = -55;
          }
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
        } else if (how == all) {
          MPI_Request_get_status_all(2, requests, &done, MPI_STATUSES_IGNORE);
          if (done) found[0] = found[1] = true, got[0] = got[1] = -55;
        } else if (how == any) {
          for (int i = 0; i < 2; i++) {
            MPI_Request pair[2] = {MPI_REQUEST_NULL, requests[i]};
            MPI_Request_get_status_any(2, pair, &index, &done, MPI_STATUS_IGNORE);
            if (done && index == 1 && !std::exchange(found[i], true)) got[i] = -55;
          }
        } else {
          for (int i = 0; i < 2; i++) {
            MPI_Request pair[2] = {MPI_REQUEST_NULL, requests[i]};
            MPI_Request_get_status_some(2, pair, &done, indices, MPI_STATUSES_IGNORE);
            if (done == 1 && indices[0] == 1 && !std::exchange(found[i], true)) got[i] = -55;
          }
#endif
        }
        (void)index, (void)indices;
      }
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      words.flush(1);
      EXPECT(Words::right(&joined, 1, 30));
      EXPECT(words.read(1, 30) && words.read(1, 37));
    }
  }
}

// Requests that are complete at once may have the same handle, and the one that is freed is not
// that whose buffer the program may change.
void rget_buffer_reused_after_another_was_freed() {
  for (int way = 0; way < 4; way++) {
    Words words(100, way % 2 == 0 ? "transparent" : "always", {}, way >= 2);
    for (int round = 0; origin() && round < 3; round++) {
      int64_t got[3] = {-1, -1, -1};
      MPI_Request requests[3];
      for (int i = 0; i < 3; i++)
        MPI_Rget(&got[i], 1, MPI_INT64_T, 1, 10 * round + i, 1, MPI_INT64_T, words.win,
                 &requests[i]);
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
      if (MPI_Request_free(&requests[1]) != MPI_SUCCESS)  // Open MPI frees none that is complete
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
      MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
      EXPECT(Words::right(&got[2], 1, 10 * round + 2));
      got[2] = -55;
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      EXPECT(Words::right(&got[0], 1, 10 * round));
      got[0] = -55;
      words.flush(1);
      EXPECT(Words::right(&got[1], 1, 10 * round + 1));
      for (int i = 0; i < 3; i++) EXPECT(words.read(1, 10 * round + i));
    }
  }
}

// A flush also completes a request's get; the program must still wait for the request.
void rget_completed_by_flush() {
  Words words(100);
  for (int round = 0; origin() && round < 3; round++) {
    int64_t first = -1, second = -1;
    MPI_Request requests[2];
    MPI_Rget(&first, 1, MPI_INT64_T, 1, 8, 1, MPI_INT64_T, words.win, &requests[0]);
    MPI_Rget(&second, 1, MPI_INT64_T, 1, 8, 1, MPI_INT64_T, words.win, &requests[1]);
    words.flush(1);
    EXPECT(Words::right(&first, 1, 8) && Words::right(&second, 1, 8));
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
  }
}

// The requests of served Rgets are complete and may all be the same; however and in whatever order
// they are waited for, the result is that of MPI.
void requests_of_served_rgets() {
  constexpr int count = 6;
  Words words(2000);
  if (!origin()) {
    return;
  }
  int64_t got[count], at = 0;
  MPI_Request requests[count];
  const auto rgets = [&](int n) {
    for (int i = 0; i < n; i++) {
      got[i] = -1;
      MPI_Rget(&got[i], 1, MPI_INT64_T, 1, i, 1, MPI_INT64_T, words.win, &requests[i]);
      EXPECT(requests[i] != MPI_REQUEST_NULL);
    }
  };
  const auto done = [&](int n) {
    for (int i = 0; i < n; i++) {
      EXPECT(Words::right(&got[i], 1, i) && requests[i] == MPI_REQUEST_NULL);
    }
  };
  const auto waitall = [&](int n) { MPI_Waitall(n, requests, MPI_STATUSES_IGNORE); };
  rgets(count);
  waitall(count);
  const auto before = check::stats(words.win);
  for (int turn = 0; turn < 100; turn++) {
    rgets(count);
    EXPECT_CACHED(requests[0] == requests[1]);
    for (const int i : {3, 1, 5, 0}) {
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    int flag = 0;
    MPI_Status status;
    MPI_Request_get_status(requests[2], &flag, &status);
    EXPECT(flag && requests[2] != MPI_REQUEST_NULL);
    MPI_Test(&requests[2], &flag, MPI_STATUS_IGNORE);
    EXPECT(flag);
    MPI_Wait(&requests[4], &status);
    done(count);
    rgets(count);
    waitall(count);
    done(count);
    // Together with one that MPI fetches: each is found once.
    rgets(2);
    MPI_Rget(&got[2], 1, MPI_INT64_T, 1, 100 + at, 1, MPI_INT64_T, words.win, &requests[2]);
    int found[3] = {};
    for (int i = 0, index = 0; i < 3; i++) {
      MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
      if (EXPECT(index >= 0 && index < 3)) {
        found[index]++;
      }
    }
    EXPECT(found[0] == 1 && found[1] == 1 && found[2] == 1);
    done(2);
    EXPECT(Words::right(&got[2], 1, 100 + at++));
    // One that is fetched is waited for together with, and after, one that is served.
    MPI_Rget(&got[1], 1, MPI_INT64_T, 1, 500 + at, 1, MPI_INT64_T, words.win, &requests[1]);
    rgets(1);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    done(1);
    EXPECT(Words::right(&got[1], 1, 500 + at));
  }
  EXPECT_CACHED(check::stats(words.win).hits_full - before.hits_full >= 100 * (2 * count + 3));
  // MPI's own requests are unchanged.
  for (int i = 0; i < count; i++) {
    MPI_Rget(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, 0, MPI_BYTE, words.win, &requests[i]);
  }
  waitall(count);
  EXPECT(requests[0] == MPI_REQUEST_NULL && requests[count - 1] == MPI_REQUEST_NULL);
}

// The cost of Rgets is measured, however they are waited for.
void cost_of_rgets_is_known() {
  for (const bool test : {false, true}) {
    for (const char* mode : {"always", "transparent"}) {
      Words words(100, mode);
      for (int i = 0; origin() && i < 10; i++) {
        int64_t got = -1;
        MPI_Request request;
        MPI_Rget(&got, 1, MPI_INT64_T, 1, i, 1, MPI_INT64_T, words.win, &request);
        for (int done = 0; test && !done;) {
          MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT(Words::right(&got, 1, i));
      }
      EXPECT_CACHED(!origin() || check::stats(words.win).remote_ns > 0);
    }
  }
}

}  // namespace

void add_request_cases(std::vector<check::Case>& cases) {
  cases.insert(
      cases.end(),
      {{"requests_of_several_kinds_together", requests_of_several_kinds_together},
       {"rget_buffer_reused_after_its_wait", rget_buffer_reused_after_its_wait},
       {"rget_buffer_reused_after_a_query", rget_buffer_reused_after_a_query},
       {"rget_that_repeats_a_get", rget_that_repeats_a_get},
       {"rget_buffer_reused_after_another_was_freed", rget_buffer_reused_after_another_was_freed},
       {"rget_completed_by_flush", rget_completed_by_flush},
       {"cost_of_rgets_is_known", cost_of_rgets_is_known},
       {"requests_of_served_rgets", requests_of_served_rgets}});
}
