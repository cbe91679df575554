// Memory of other processes of this machine, which the kernel copies to and from this one
// (process_vm_readv, process_vm_writev) if this process may trace them. That depends on their user,
// on security modules and on containers. So it is tried before it is relied on, and may still be
// refused later. And what else others of this machine know of a process by its number: its files,
// and its end.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace nearcache::net {

enum class Reached : uint8_t {
  all,
  unmapped,  // not all of it is there; some of what is may have been copied
  refused,   // by the kernel: nothing was copied
  gone       // the process has ended
};

// Where Yama allows it for descendants only: any process of this user may reach this one's memory
// from now on.
void allow_process_memory();

// All runs of the other's memory, in their order, from or to one run here.
Reached read_process(pid_t process, std::byte* to, std::span<iovec> from);
Reached write_process(pid_t process, const std::byte* from, std::span<iovec> to);

// In which this process has its number: the same for all who know each other by theirs; 0: unknown.
uint64_t process_namespace();

// An open file of a process of this machine, as others find it: by /proc/<process>/fd, where the
// kernel checks whether they may inspect that process anyway.
struct ProcessFile {
  int64_t process = 0;
  uint64_t processes = 0;  // the namespace in which that is its number
  int64_t descriptor = -1;

  std::string path() const;
};
ProcessFile own_file(int descriptor);
// A descriptor for reading and writing; -1, and what is wrong. It may be another file by now: the
// caller looks, and closes it.
int open_file(const ProcessFile& file, std::string* wrong);

// Readable once the process has ended; -1 where the kernel has none. The caller closes it.
int process_descriptor(pid_t process);

}  // namespace nearcache::net
