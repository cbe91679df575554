// Which defects follow from a library's own version string.
#include "mpi/process/host_defects.h"

#include <gtest/gtest.h>

namespace nearcache::mpi {
namespace TEST_FILE {

bool has(std::string_view text, HostDefect defect) { return HostDefects(text).has(defect); }

TEST(HostDefects, AreThoseOfTheVersion) {
  EXPECT_TRUE(
      has("MPICH Version:      4.0.2\nMPICH Release date: ...", HostDefect::flush_all_before_data));
  EXPECT_FALSE(has("MPICH Version:      4.0.3", HostDefect::flush_all_before_data));
  EXPECT_FALSE(has("MPICH Version:      4.0.1", HostDefect::flush_all_before_data));
  EXPECT_TRUE(has("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4",
                  HostDefect::window_of_one_rank));
  EXPECT_FALSE(has("Open MPI v4.1.5", HostDefect::window_of_one_rank));
  EXPECT_TRUE(has("Open MPI v5.0.11, package", HostDefect::empty_gets_hang));
  EXPECT_FALSE(has("Open MPI v5.0.1, package", HostDefect::empty_gets_hang));
}

TEST(HostDefects, WithoutAKnownEndAreThoseOfLaterVersionsToo) {
  EXPECT_FALSE(has("MPICH Version: 3.3.2", HostDefect::rget_before_data));
  for (const char* text : {"MPICH Version:\t3.4", "MPICH Version: 3.4.3", "MPICH Version: 5.0.2",
                           "MPICH Version: 5.1.0b1", "MPICH Version: 12.0"})
    EXPECT_TRUE(has(text, HostDefect::rget_before_data)) << text;
}

TEST(HostDefects, OfDerivedLibrariesAreThoseThatNoReleaseIsWithout) {
  for (const char* text : {"MPI VERSION    : CRAY MPICH version 8.1.28.29 (ANL base 3.4a2)",
                           "Intel(R) MPI Library 2021.11 for Linux* OS", "MVAPICH Version: 3.0",
                           "MPICH Version: unknown"}) {
    EXPECT_TRUE(has(text, HostDefect::rget_before_data)) << text;
    EXPECT_FALSE(has(text, HostDefect::flush_all_before_data)) << text;
  }
}

TEST(HostDefects, OfAnUnknownLibraryAreNone) {
  for (const char* text : {"", "SimGrid SMPI 3.32", "Open MPI", "Open MPI v"}) {
    EXPECT_FALSE(has(text, HostDefect::rget_before_data)) << text;
    EXPECT_FALSE(has(text, HostDefect::window_of_one_rank)) << text;
  }
}

}  // namespace TEST_FILE
}  // namespace nearcache::mpi
