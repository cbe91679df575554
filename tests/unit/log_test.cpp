// Messages: a line arrives whole, as one write.
#include "base/log.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace nearcache {
namespace {

// Standard error, of which each read returns what one write has written.
class Writes {
 public:
  Writes() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    before_ = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    read_ = ends[0];
  }
  ~Writes() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    close(read_);
  }
  std::string next() const {
    char text[4096];
    const ssize_t length = recv(read_, text, sizeof text, 0);
    return length < 0 ? "none" : std::string(text, static_cast<size_t>(length));
  }

 private:
  int before_, read_;
};

TEST(Log, ALineIsOneWrite) {
  const std::string words(600, 'w');
  const Writes writes;
  log(LogLevel::warning, "%s and %d", words.c_str(), 7);
  EXPECT_EQ(writes.next(), "nearcache: " + words + " and 7\n");
  EXPECT_EQ(writes.next(), "none");
}

TEST(Log, ALineThatIsTooLongIsCut) {
  const Writes writes;
  log(LogLevel::warning, "%s", std::string(5000, 'w').c_str());
  const std::string line = writes.next();
  EXPECT_EQ(line.size(), 1023u);
  EXPECT_EQ(line.substr(line.size() - 2), "w\n");
  EXPECT_EQ(writes.next(), "none");
}

TEST(Log, WhatIsLessImportantThanTheLevelIsNotSaid) {
  const Writes writes;
  log(LogLevel::info, "of interest to few");
  set_log_level(0);
  log(LogLevel::warning, "silenced");
  set_log_level(1);
  EXPECT_EQ(writes.next(), "none");
}

}  // namespace
}  // namespace nearcache
