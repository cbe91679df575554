// Names of files, and how they are written.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/path_pattern.h"
#include "base/whole_file.h"

namespace nearcache {
namespace TEST_FILE {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/nearcache_files_XXXXXX";
    folder = mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(folder); }

  static std::string content(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  fs::path folder;
};

TEST(PathPattern, TellsProcessHostRankAndJobApart) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  EXPECT_EQ(expand_path("a.%p.%h.%r.%%.json", 7),
            "a." + std::to_string(getpid()) + "." + host + ".7.%.json");
  EXPECT_EQ(expand_path("plain", 0), "plain");
  EXPECT_TRUE(is_path_pattern("%p%h%r%j%%"));
  for (const char* text : {"%", "a%", "%x", "%%%", "100% sure"})
    EXPECT_FALSE(is_path_pattern(text)) << text;
}

TEST(PathPattern, TheJobIsTheSchedulersThenTheLaunchersThenTheParents) {
  for (const char* name : {"SLURM_JOB_ID", "SLURM_STEP_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID",
                           "COBALT_JOBID", "PMIX_NAMESPACE"})
    unsetenv(name);
  EXPECT_EQ(expand_path("%j", 0), std::to_string(getppid()));
  setenv("PMIX_NAMESPACE", "prterun-host/1@1", 1);
  EXPECT_EQ(expand_path("%j", 0), "prterun-host_1@1");
  setenv("SLURM_JOB_ID", "4711", 1);
  EXPECT_EQ(expand_path("%j", 0), "4711");
  setenv("SLURM_STEP_ID", "2", 1);
  EXPECT_EQ(expand_path("%j", 0), "4711.2");
  for (const char* name : {"SLURM_JOB_ID", "SLURM_STEP_ID", "PMIX_NAMESPACE"}) unsetenv(name);
}

TEST_F(Files, AreWrittenWholeAndReplaceWhatWasThere) {
  const fs::path path = folder / "report.json";
  EXPECT_EQ(write_whole_file(path, "first"), "");
  EXPECT_EQ(write_whole_file(path, "second, longer"), "");
  EXPECT_EQ(write_whole_file(path, "third"), "");
  EXPECT_EQ(content(path), "third");
  EXPECT_EQ(files(), 1u);
}

TEST_F(Files, KeepTheirRightsAndTheLinksToThem) {
  const fs::path path = folder / "file", link = folder / "link";
  ASSERT_EQ(write_whole_file(path, "old"), "");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  fs::create_symlink(path, link);
  EXPECT_EQ(write_whole_file(link, "new"), "");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content(path), "new");
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST_F(Files, AFolderThatIsNotThereIsSaid) {
  EXPECT_EQ(write_whole_file(folder / "missing" / "x.json", "text"), "No such file or directory");
  EXPECT_EQ(write_whole_file(folder, "text"), "Is a directory");
}

TEST_F(Files, AFailedWriteLeavesWhatWasThereAndNothingElse) {
  const fs::path path = folder / "file";
  ASSERT_EQ(write_whole_file(path, "old"), "");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 1000;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string over = write_whole_file(path, std::string(5000, 'x'));
  const std::string fresh = write_whole_file(folder / "fresh", std::string(5000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(over, "File too large");
  EXPECT_EQ(fresh, "File too large");
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(Files, AFifoWithoutAReaderIsNotWaitedFor) {
  const fs::path path = folder / "fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(write_whole_file(path, "text"), "nobody reads it");
}

TEST_F(Files, AFifosReaderGetsAll) {
  const fs::path path = folder / "fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  fcntl(reader, F_SETFL, 0);
  const std::string text(300000, 'y');  // more than a pipe holds
  std::string got;
  std::thread reading([&] {
    char piece[4096];
    while (got.size() < text.size()) {
      const ssize_t n = read(reader, piece, sizeof piece);
      if (n > 0) got.append(piece, static_cast<size_t>(n));
    }
  });
  EXPECT_EQ(write_whole_file(path, text), "");
  reading.join();
  EXPECT_EQ(got, text);
  close(reader);
}

TEST_F(Files, AFifosReaderThatIsNotReadingOrGoesEndsNothing) {
  const fs::path path = folder / "fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  std::thread goes([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    close(reader);  // the writer is in the middle of the text
  });
  EXPECT_EQ(write_whole_file(path, std::string(300000, 'y')), "Broken pipe");
  goes.join();
  const int sleeper = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_EQ(write_whole_file(path, std::string(300000, 'y')), "Connection timed out");
  close(sleeper);
}

}  // namespace TEST_FILE
}  // namespace nearcache
