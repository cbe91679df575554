// A modelled network delays every one-sided operation, whatever its name and however its completion
// is detected. Only that nothing is faster than the model is checked; how much slower it is depends
// on the machine.
#include <chrono>

#include "words.h"

namespace {

constexpr double latency_ms = 5;  // as set by test_modelled.py

double elapsed_ms(const std::function<void()>& act) {
  const auto before = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before)
      .count();
}

void takes_its_time(const char* what, const std::function<void()>& act) {
  const double took = elapsed_ms(act);
  check::expect(!check::cached() || took >= latency_ms, "%s took %.3f ms", what, took);
}

int64_t value = 1, other = 2, result = 3;

void plain_operations(MPI_Win win) {
  const auto flushed = [&](const char* what, const std::function<void()>& act) {
    takes_its_time(what, [&] {
      act();
      MPI_Win_flush(1, win);
    });
  };
  flushed("Get", [&] { MPI_Get(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win); });
  flushed("Put", [&] { MPI_Put(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win); });
  flushed("Accumulate",
          [&] { MPI_Accumulate(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, MPI_SUM, win); });
  flushed("Get_accumulate", [&] {
    MPI_Get_accumulate(&value, 1, MPI_INT64_T, &result, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T,
                       MPI_SUM, win);
  });
  flushed("Fetch_and_op",
          [&] { MPI_Fetch_and_op(&value, &result, MPI_INT64_T, 1, 0, MPI_SUM, win); });
  flushed("Compare_and_swap",
          [&] { MPI_Compare_and_swap(&value, &other, &result, MPI_INT64_T, 1, 0, win); });
#if MPI_VERSION >= 4
  flushed("Get_c", [&] { MPI_Get_c(&value, 1, MPI_INT64_T, 1, 1, 1, MPI_INT64_T, win); });
  flushed("Put_c", [&] { MPI_Put_c(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win); });
  flushed("Accumulate_c",
          [&] { MPI_Accumulate_c(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, MPI_SUM, win); });
#endif
}

// Returns all ways to detect a request's completion.
std::vector<std::pair<const char*, std::function<void(MPI_Request*)>>> waits() {
  return {
      {"Wait", [](MPI_Request* r) { MPI_Wait(r, MPI_STATUS_IGNORE); }},
      {"Waitall", [](MPI_Request* r) { MPI_Waitall(1, r, MPI_STATUSES_IGNORE); }},
      {"Waitany",
       [](MPI_Request* r) {
         int index;
         MPI_Waitany(1, r, &index, MPI_STATUS_IGNORE);
       }},
      {"Waitsome",
       [](MPI_Request* r) {
         int count, index;
         MPI_Waitsome(1, r, &count, &index, MPI_STATUSES_IGNORE);
       }},
      {"Test",
       [](MPI_Request* r) {
         for (int done = 0; !done;) MPI_Test(r, &done, MPI_STATUS_IGNORE);
       }},
      {"Testall",
       [](MPI_Request* r) {
         for (int done = 0; !done;) MPI_Testall(1, r, &done, MPI_STATUSES_IGNORE);
       }},
      {"Testany",
       [](MPI_Request* r) {
         for (int done = 0, index; !done;) MPI_Testany(1, r, &index, &done, MPI_STATUS_IGNORE);
       }},
      {"Testsome",
       [](MPI_Request* r) {
         for (int done = 0, index; !done;) MPI_Testsome(1, r, &done, &index, MPI_STATUSES_IGNORE);
       }},
      {"Request_get_status",
       [](MPI_Request* r) {
         for (int done = 0; !done;) MPI_Request_get_status(*r, &done, MPI_STATUS_IGNORE);
         MPI_Wait(r, MPI_STATUS_IGNORE);
       }},
  };
}

void requests(MPI_Win win) {
  const std::vector<std::pair<const char*, std::function<void(MPI_Request*)>>> starts = {
      {"Rget",
       [&](MPI_Request* r) { MPI_Rget(&value, 1, MPI_INT64_T, 1, 2, 1, MPI_INT64_T, win, r); }},
      {"Rput",
       [&](MPI_Request* r) { MPI_Rput(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win, r); }},
      {"Raccumulate",
       [&](MPI_Request* r) {
         MPI_Raccumulate(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, MPI_SUM, win, r);
       }},
      {"Rget_accumulate",
       [&](MPI_Request* r) {
         MPI_Rget_accumulate(&value, 1, MPI_INT64_T, &result, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T,
                             MPI_SUM, win, r);
       }},
  };
  MPI_Request request;
  for (const auto& [name, start] : starts) {
    // named anew: before version 16 clang captures no structured binding
    takes_its_time(name, [&, &start = start] {
      start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
  }
  for (const auto& [name, wait] : waits()) {
    takes_its_time(name, [&, &wait = wait] {
      starts[1].second(&request);
      wait(&request);
    });
  }
  // What transfers nothing takes no time; the request of a hit is an example.
  const double took = elapsed_ms([&] {
    for (int i = 0; i < 1000; i++) {
      MPI_Rget(nullptr, 0, MPI_INT64_T, 1, 0, 0, MPI_INT64_T, win, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  });
  check::expect(took < 1000 * latency_ms, "1,000 empty Rgets took %.0f ms", took);
}

}  // namespace

int main(int argc, char** argv) {
  const auto at_origin = [](void (*act)(MPI_Win)) {
    Words words(100, "off");
    if (origin()) {
      act(words.win);
    }
  };
  return check::run(argc, argv, 2,
                    {{"plain_operations", [=] { at_origin(plain_operations); }},
                     {"requests", [=] { at_origin(requests); }}});
}
