#include "base/environment.h"

#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace nearcache {
namespace TEST_FILE {

constexpr const char* variable = "NEARCACHE_MODE";

// Gives a program a user or group that the file may have and the process lacks, so that it runs
// with other rights than the user who started it.
bool give_other_rights(const std::string& program) {
  if (geteuid() == 0)
    return chown(program.c_str(), 65534, static_cast<gid_t>(-1)) == 0 &&
           chmod(program.c_str(), 04755) == 0;
  std::vector<gid_t> groups(256);
  groups.resize(
      static_cast<size_t>(std::max(0, getgroups(static_cast<int>(groups.size()), groups.data()))));
  for (const gid_t group : groups) {
    if (group != getegid())
      return chown(program.c_str(), static_cast<uid_t>(-1), group) == 0 &&
             chmod(program.c_str(), 02755) == 0;
  }
  return false;
}

enum Answer : int { believes = 1, does_not = 2, has_no_more_rights = 3 };

// Runs this very test in a copy of the program, and returns its answer.
int answer_of(const std::string& program) {
  const pid_t child = fork();
  if (child == 0) {
    // The copy runs this test, whatever shard this program is.
    unsetenv("GTEST_TOTAL_SHARDS");
    unsetenv("GTEST_SHARD_INDEX");
    execl(program.c_str(), program.c_str(),
          "--gtest_filter=Environment.IsNotBelievedByAProcessWithMoreRights", nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

TEST(Environment, IsNotBelievedByAProcessWithMoreRights) {
  const char* role = getenv("NEARCACHE_TEST_ROLE");
  if (role != nullptr) {
    if (getauxval(AT_SECURE) == 0) _exit(has_no_more_rights);
    _exit(environment_value(variable) == nullptr && environment_all() == nullptr ? does_not
                                                                                 : believes);
  }
  std::string folder = (std::filesystem::temp_directory_path() / "nearcache-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  chmod(folder.c_str(), 0755);
  const std::string copy = folder + "/unit_tests";
  std::filesystem::copy_file("/proc/self/exe", copy);
  const bool given = give_other_rights(copy);
  setenv("NEARCACHE_TEST_ROLE", "child", 1);
  setenv(variable, "off", 1);
  EXPECT_STREQ(environment_value(variable), "off");
  EXPECT_NE(environment_all(), nullptr);
  const int answer = given ? answer_of(copy) : has_no_more_rights;
  unsetenv("NEARCACHE_TEST_ROLE");
  unsetenv(variable);
  std::filesystem::remove_all(folder);
  if (answer == has_no_more_rights) GTEST_SKIP() << "no program gets other rights here";
  EXPECT_EQ(answer, does_not);
}

}  // namespace TEST_FILE
}  // namespace nearcache
