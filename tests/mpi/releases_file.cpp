// Calls on files that release: others may learn from the file's contents.
#include "releases.h"

#include <cstdlib>

namespace releases {
namespace {

MPI_File file;

std::string path() {
  const char* folder = std::getenv("TMPDIR");
  return std::string(folder != nullptr ? folder : "/tmp") + "/nearcache_releases." +
         std::to_string(getpid());
}

constexpr int access = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;

void open() {
  HIDDEN(MPI_File_open)(self, path().c_str(), access, MPI_INFO_NULL, &file);
  HIDDEN(MPI_File_write_at)(file, 0, sent, 8, MPI_INT, MPI_STATUS_IGNORE);
}
void close() { HIDDEN(MPI_File_close)(&file); }
void wait_and_close() {
  HIDDEN(MPI_Wait)(&request, MPI_STATUS_IGNORE);
  close();
}

void make_file() {
  HIDDEN(MPI_File_open)
  (self, path().c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  close();
}

#define READ (file, received, 1, MPI_INT, MPI_STATUS_IGNORE)
#define WRITE (file, sent, 1, MPI_INT, MPI_STATUS_IGNORE)
#define AT_READ (file, 0, received, 1, MPI_INT, MPI_STATUS_IGNORE)
#define AT_WRITE (file, 0, sent, 1, MPI_INT, MPI_STATUS_IGNORE)
// A collective call split into begin and end.
#define SPLIT(name, buffer, ...)                                                                  \
  BOTH(MPI_File_##name##_begin, open, (file __VA_OPT__(, ) __VA_ARGS__, buffer, 1, MPI_INT),      \
       FINISH(HIDDEN(MPI_File_##name##_end)(file, buffer, MPI_STATUS_IGNORE); close()))           \
  ROW(MPI_File_##name##_end,                                                                      \
      PREPARE(open(); HIDDEN(MPI_File_##name##_begin)(file __VA_OPT__(, ) __VA_ARGS__, buffer, 1, \
                                                      MPI_INT)),                                  \
      (file, buffer, MPI_STATUS_IGNORE), close)

void add_accesses(Rows& rows) {
  BOTH(MPI_File_read, open, READ, close)
  BOTH(MPI_File_read_all, open, READ, close)
  BOTH(MPI_File_read_at, open, AT_READ, close)
  BOTH(MPI_File_read_at_all, open, AT_READ, close)
  BOTH(MPI_File_read_ordered, open, READ, close)
  BOTH(MPI_File_read_shared, open, READ, close)
  BOTH(MPI_File_write, open, WRITE, close)
  BOTH(MPI_File_write_all, open, WRITE, close)
  BOTH(MPI_File_write_at, open, AT_WRITE, close)
  BOTH(MPI_File_write_at_all, open, AT_WRITE, close)
  BOTH(MPI_File_write_ordered, open, WRITE, close)
  BOTH(MPI_File_write_shared, open, WRITE, close)
  SPLIT(read_all, received)
  SPLIT(read_at_all, received, 0)
  SPLIT(read_ordered, received)
  SPLIT(write_all, sent)
  SPLIT(write_at_all, sent, 0)
  SPLIT(write_ordered, sent)
  BOTH(MPI_File_iwrite, open, (file, sent, 1, MPI_INT, &request), wait_and_close)
  BOTH(MPI_File_iwrite_at, open, (file, 0, sent, 1, MPI_INT, &request), wait_and_close)
  BOTH(MPI_File_iwrite_shared, open, (file, sent, 1, MPI_INT, &request), wait_and_close)
  BOTH(MPI_File_iwrite_all, open, (file, sent, 1, MPI_INT, &request), wait_and_close)
  BOTH(MPI_File_iwrite_at_all, open, (file, 0, sent, 1, MPI_INT, &request), wait_and_close)
  BOTH(MPI_File_iread, open, (file, received, 1, MPI_INT, &request), wait_and_close)
  BOTH(MPI_File_iread_at, open, (file, 0, received, 1, MPI_INT, &request), wait_and_close)
  BOTH(MPI_File_iread_shared, open, (file, received, 1, MPI_INT, &request), wait_and_close)
  BOTH(MPI_File_iread_all, open, (file, received, 1, MPI_INT, &request), wait_and_close)
  BOTH(MPI_File_iread_at_all, open, (file, 0, received, 1, MPI_INT, &request), wait_and_close)
}

}  // namespace

void add_files(Rows& rows) {
  static MPI_Offset offset;
  add_accesses(rows);
  ROW(MPI_File_open, NOTHING, (self, path().c_str(), access, MPI_INFO_NULL, &file), close)
  ROW(MPI_File_close, open, (&file), NOTHING)
  ROW(MPI_File_delete, make_file, (path().c_str(), MPI_INFO_NULL), NOTHING)
  ROW(MPI_File_get_position_shared, open, (file, &offset), close)
  ROW(MPI_File_get_size, open, (file, &offset), close)
  ROW(MPI_File_preallocate, open, (file, 4096), close)
  ROW(MPI_File_seek, open, (file, 0, MPI_SEEK_END), close)
  ROW(MPI_File_seek_shared, open, (file, 0, MPI_SEEK_SET), close)
  ROW(MPI_File_set_atomicity, open, (file, 0), close)
  ROW(MPI_File_set_info, open, (file, MPI_INFO_ENV), close)
  ROW(MPI_File_set_size, open, (file, 64), close)
  ROW(MPI_File_set_view, open, (file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), close)
  ROW(MPI_File_sync, open, (file), close)
}

}  // namespace releases
