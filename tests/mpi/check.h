// Shared by the multi-rank test programs: named cases, checks whose failures all ranks report, and
// Nearcache's calls as weak symbols, so that the same binary also runs without Nearcache.
// The main function of a program is
//
//   return check::run(argc, argv, 2, {{"name", function}, ...});
//
// It prints `ok NAME`, `skipped NAME: why` or `FAILED NAME: detail`.
// Arguments: --only A,B   --except A,B   --sessions (no MPI_Init: check::world belongs to a
// session; for programs that use no other communicator)   --hidden-init (Nearcache does not see
// MPI_Init, as when a tool in front of it makes the call).
#ifndef NEARCACHE_TESTS_CHECK_H
#define NEARCACHE_TESTS_CHECK_H

#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "nearcache/mpi.h"

#pragma weak nearcache_get_stats
#pragma weak nearcache_invalidate
#pragma weak nearcache_get_mode
#pragma weak nearcache_set_mode
#pragma weak nearcache_reset
#pragma weak CLAMPI_Invalidate

// An MPI function by its PMPI name, for calls that Nearcache must not see. It is looked up at run
// time because Nearcache rightly does not cache a program whose symbols show that it calls
// PMPI_Win_... itself.
#define HIDDEN(function) (reinterpret_cast<decltype(&function)>(dlsym(RTLD_DEFAULT, "P" #function)))

namespace check {

struct Case {
  std::string name;
  std::function<void()> run;
};

inline int rank, ranks;
inline MPI_Comm world;           // of all ranks
inline MPI_Comm hidden_comm;     // used by hidden_barrier
inline int failures;             // of the current case on this rank
inline std::string skip_reason;  // set by skip()
inline std::string current;
inline std::vector<std::string> rest;  // arguments left to the program itself

inline bool cached() { return nearcache_get_stats != nullptr; }

inline nearcache_stats stats(MPI_Win win) {
  nearcache_stats result{};
  result.size = sizeof result;
  if (cached() && nearcache_get_stats(win, &result) != MPI_SUCCESS) {
    std::printf("FAILED %s: nearcache_get_stats\n", current.c_str());
    failures++;
  }
  return result;
}

// A barrier that Nearcache does not see, like that of programs that meet through files or sockets:
// no other synchronisation may help the call under test. All calls reach MPI, so progress is made.
// It sleeps between polls because MPICH's own barrier never yields, and there may be more ranks
// than cores.
inline void hidden_barrier() {
  MPI_Request request;
  HIDDEN(MPI_Ibarrier)(hidden_comm, &request);
  for (int done = 0;
       HIDDEN(MPI_Test)(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;) {
    usleep(20);
  }
}

__attribute__((format(printf, 2, 3))) inline bool expect(bool good, const char* format, ...) {
  if (good) {
    return true;
  }
  if (failures++ < 4) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    std::printf("FAILED %s: rank %d: %s\n", current.c_str(), rank, text);
    std::fflush(stdout);
  }
  return false;
}

inline void skip(const std::string& why) { skip_reason = why; }

inline std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    parts.push_back(part);
  }
  return parts;
}

inline bool listed(const std::vector<std::string>& names, const std::string& name) {
  for (const std::string& each : names) {
    if (each == name) {
      return true;
    }
  }
  return false;
}

inline bool run_case(const Case& each) {
  failures = 0;
  skip_reason.clear();
  current = each.name;
  hidden_barrier();
  each.run();
  hidden_barrier();
  int all = 0;
  HIDDEN(MPI_Allreduce)(&failures, &all, 1, MPI_INT, MPI_SUM, hidden_comm);
  if (rank == 0 && all == 0) {
    if (skip_reason.empty()) {
      std::printf("ok %s\n", each.name.c_str());
    } else {
      std::printf("skipped %s: %s\n", each.name.c_str(), skip_reason.c_str());
    }
    std::fflush(stdout);
  }
  return all == 0;
}

#if MPI_VERSION >= 4
inline MPI_Session session = MPI_SESSION_NULL;

// Returns a communicator of all ranks, made from a session.
inline MPI_Comm session_world(MPI_Session of, const char* name) {
  MPI_Group group;
  MPI_Comm made;
  MPI_Group_from_session_pset(of, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  MPI_Group_free(&group);
  return made;
}
#endif

// Initialises MPI and returns the thread level provided.
inline int start(bool sessions, bool hidden, int* argc, char*** argv, int thread_level) {
  int provided = thread_level;
  if (!sessions) {
    (hidden ? HIDDEN(MPI_Init_thread) : MPI_Init_thread)(argc, argv, thread_level, &provided);
    world = MPI_COMM_WORLD;
  }
#if MPI_VERSION >= 4
  if (sessions) {
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    world = session_world(session, "check");
  }
#endif
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &ranks);
  HIDDEN(MPI_Comm_dup)(world, &hidden_comm);
  return provided;
}

inline void end(bool sessions) {
  HIDDEN(MPI_Comm_free)(&hidden_comm);
  if (!sessions) {
    MPI_Finalize();
  }
#if MPI_VERSION >= 4
  if (sessions) {
    MPI_Comm_free(&world);
    MPI_Session_finalize(&session);
  }
#endif
}

inline int run(int argc, char** argv, int least_ranks, const std::vector<Case>& cases,
               int thread_level = MPI_THREAD_SINGLE) {
  std::vector<std::string> only, except;
  bool sessions = false, hidden_init = false;
  for (int i = 1; i < argc; i++) {
    if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
      only = split(argv[++i]);
    } else if (std::strcmp(argv[i], "--except") == 0 && i + 1 < argc) {
      // exceptions for host defects are added to the test's own
      for (const std::string& name : split(argv[++i])) except.push_back(name);
    } else if (std::strcmp(argv[i], "--threads") == 0) {
      thread_level = MPI_THREAD_MULTIPLE;
    } else if (std::strcmp(argv[i], "--serialized") == 0) {
      thread_level = MPI_THREAD_SERIALIZED;
    } else if (std::strcmp(argv[i], "--sessions") == 0) {
      sessions = MPI_VERSION >= 4;
    } else if (std::strcmp(argv[i], "--hidden-init") == 0) {
      hidden_init = true;
    } else {
      rest.emplace_back(argv[i]);
    }
  }
  const int provided = start(sessions, hidden_init, &argc, &argv, thread_level);
  int failed = 0;
  if (ranks < least_ranks || provided < thread_level) {
    if (rank == 0) {
      std::printf("skipped all: %d ranks of at least %d, thread level %d of %d\n", ranks,
                  least_ranks, provided, thread_level);
    }
  } else {
    for (const Case& each : cases) {
      if ((only.empty() || listed(only, each.name)) && !listed(except, each.name)) {
        failed += run_case(each) ? 0 : 1;
      }
    }
  }
  end(sessions);
  return failed > 0;
}

// Returns an info object with one key; the caller frees it.
inline MPI_Info info(const char* key, const char* value) {
  MPI_Info made;
  MPI_Info_create(&made);
  MPI_Info_set(made, key, value);
  return made;
}

}  // namespace check

#define EXPECT(condition) \
  check::expect((condition), "%s:%d: %s", __FILE_NAME__, __LINE__, #condition)
#define EXPECT_EQ(a, b)                                                                         \
  do {                                                                                          \
    const long long left_ = (long long)(a), right_ = (long long)(b);                            \
    check::expect(left_ == right_, "%s:%d: %s is %lld, not %lld (%s)", __FILE_NAME__, __LINE__, \
                  #a, left_, right_, #b);                                                       \
  } while (0)
// A check of counters; skipped without Nearcache.
#define EXPECT_CACHED(condition) \
  check::expect(!check::cached() || (condition), "%s:%d: %s", __FILE_NAME__, __LINE__, #condition)
// The amount by which `statement` increased `counter` of `win`.
#define ADDED(win, counter, statement)              \
  ([&] {                                            \
    const auto before_ = check::stats(win).counter; \
    statement;                                      \
    return check::stats(win).counter - before_;     \
  }())

#ifndef __FILE_NAME__
#define __FILE_NAME__ __FILE__
#endif

#endif
