// The lock of memory that processes share, while the system's clock is set back by an hour: a time
// that was read before is an hour ahead.
#include <gtest/gtest.h>

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <future>

namespace {

int read_before(clockid_t clock, timespec* time) {
  const auto rc = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_REALTIME) time->tv_sec += 3600;
  return rc;
}

}  // namespace

// A lock that reads this clock, for this test alone.
#define clock_gettime read_before
#define nearcache nearcache_by_this_clock
#include "cache/shared/robust_lock.h"
#undef nearcache
#undef clock_gettime

namespace {

using nearcache_by_this_clock::RobustLock;

TEST(RobustLock, IsGivenUpAfterAWhileThoughTheClockIsSetBack) {
  RobustLock lock;
  ASSERT_TRUE(lock.make());
  ASSERT_EQ(lock.lock(), RobustLock::Taken::yes);
  auto other = std::async(std::launch::async, [&] { return lock.lock(); });
  const bool over = other.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  EXPECT_TRUE(over);
  lock.unlock();
  EXPECT_EQ(other.get() == RobustLock::Taken::no, over);
}

}  // namespace
