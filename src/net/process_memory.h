// SPDX-License-Identifier: BSD-3-Clause

// Memory of other processes of this machine, which the kernel copies to and from this one
// (process_vm_readv, process_vm_writev) if this process may trace them. That depends on their user,
// on security modules and on containers, so it is tried before it is relied on, and may still be
// refused later. Also what else a pid gives access to: a process's open files, and notice of its
// end.
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
  unmapped,  // some memory is missing; some of the rest may have been copied
  refused,   // by the kernel; nothing was copied
  gone       // the process has ended
};

// Where Yama restricts tracing to descendants: allows any process of this user to access this one's
// memory from now on.
void allow_process_memory();

// Copy all runs of the other process's memory, in order, to or from contiguous memory here.
Reached read_process(pid_t process, std::byte* to, std::span<iovec> from);
Reached write_process(pid_t process, const std::byte* from, std::span<iovec> to);

// Identifies the pid namespace of this process; 0 if unknown. Two processes know each other by the
// same pids if they are in the same namespace.
uint64_t process_namespace();

// An open file of a process, as other processes of this machine find it: through /proc/<pid>/fd,
// for which the kernel checks whether they may inspect that process.
struct ProcessFile {
  int64_t process = 0;
  uint64_t processes = 0;  // the namespace that `process` is a pid of
  int64_t descriptor = -1;

  std::string path() const;
};
ProcessFile own_file(int descriptor);
// Opens the file for reading and writing. Returns -1, and the reason in `wrong`, on failure. The
// descriptor may refer to another file by now, so the caller checks it, and closes it in the end.
int open_file(const ProcessFile& file, std::string* wrong);

// Returns a descriptor that becomes readable when the process ends; -1 if the kernel does not
// support that. The caller closes it.
int process_descriptor(pid_t process);

}  // namespace nearcache::net
