// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process/device_memory.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <mutex>

#include "base/loaded_objects.h"

// The C library's name. NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" void* __libc_stack_end __attribute__((weak));

namespace nearcache::mpi {
namespace {

// The parts of the drivers' interfaces that are needed, in their binary form. is_device() returns
// true for memory that the processor must not touch.

constexpr int success = 0;

struct Cuda {
  static bool may_have_devices() { return true; }
  static constexpr unsigned attribute_memory_type = 2, type_host = 1;
  int (*pointer_get_attribute)(void*, unsigned, uintptr_t) = nullptr;

  void find(void* library) {
    pointer_get_attribute =
        reinterpret_cast<decltype(pointer_get_attribute)>(dlsym(library, "cuPointerGetAttribute"));
  }
  bool found() const { return pointer_get_attribute != nullptr; }
  // For memory unknown to CUDA the query fails. Managed memory counts as device memory.
  bool is_device(const void* at) const {
    unsigned type = 0;
    return pointer_get_attribute(&type, attribute_memory_type, reinterpret_cast<uintptr_t>(at)) ==
               success &&
           type != type_host;
  }
};

struct Hip {
  // The numbers of memory types differ between ROCm 5 and 6; the pointers do not.
  struct Attributes {
    int type, device;
    void *device_pointer, *host_pointer;
    int is_managed;
    unsigned flags;
    uint64_t more[8];
  };
  // All devices of HIP belong to the kernel's driver of one of these files (Linux; its subsystem in
  // Windows). UCX loads HIP in every program, with a GPU or not (Debian 13), and the first question
  // would initialise it.
  static bool may_have_devices() {
    return access("/dev/kfd", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
  }
  int (*pointer_get_attributes)(Attributes*, const void*) = nullptr;
  int (*get_last_error)() = nullptr;
  int (*peek_at_last_error)() = nullptr;

  void find(void* library) {
    pointer_get_attributes = reinterpret_cast<decltype(pointer_get_attributes)>(
        dlsym(library, "hipPointerGetAttributes"));
    get_last_error = reinterpret_cast<decltype(get_last_error)>(dlsym(library, "hipGetLastError"));
    peek_at_last_error =
        reinterpret_cast<decltype(peek_at_last_error)>(dlsym(library, "hipPeekAtLastError"));
  }
  bool found() const {
    return pointer_get_attributes != nullptr && get_last_error != nullptr &&
           peek_at_last_error != nullptr;
  }
  // The query may set an error, which must not become visible to the program. If the program has an
  // error pending, that would be lost; then nothing is asked, and the memory counts as the
  // device's.
  bool is_device(const void* at) const {
    if (peek_at_last_error() != success) return true;
    Attributes attributes{};
    if (pointer_get_attributes(&attributes, at) != success) return get_last_error(), false;
    return attributes.device_pointer != nullptr &&
           (attributes.host_pointer == nullptr || attributes.is_managed != 0);
  }
};

struct LevelZero {
  struct Context {
    int structure = 0xd;
    const void* next = nullptr;
    uint32_t flags = 0;
  };
  struct Properties {
    int structure = 0x17;
    void* next = nullptr;
    int type = 0;
    uint64_t id = 0, page_size = 0;
  };
  static bool may_have_devices() { return true; }
  static constexpr int type_unknown = 0, type_host = 1;
  static constexpr uint32_t most_drivers = 8;
  int (*driver_get)(uint32_t*, void**) = nullptr;
  int (*context_create)(void*, const Context*, void**) = nullptr;
  int (*get_properties)(void*, const void*, Properties*, void**) = nullptr;
  void* contexts[most_drivers] = {};
  uint32_t count = 0;

  void find(void* library) {
    driver_get = reinterpret_cast<decltype(driver_get)>(dlsym(library, "zeDriverGet"));
    context_create = reinterpret_cast<decltype(context_create)>(dlsym(library, "zeContextCreate"));
    get_properties =
        reinterpret_cast<decltype(get_properties)>(dlsym(library, "zeMemGetAllocProperties"));
    if (driver_get == nullptr || context_create == nullptr || get_properties == nullptr) return;
    // Before the program has called zeInit there is no driver, and no device memory. Any context of
    // a driver knows all of the driver's memory.
    void* drivers[most_drivers];
    uint32_t drivers_found = most_drivers;
    if (driver_get(&drivers_found, drivers) != success) return;
    const Context description;
    for (uint32_t i = 0; i < drivers_found && i < most_drivers; ++i) {
      if (context_create(drivers[i], &description, &contexts[count]) == success) ++count;
    }
  }
  bool found() const { return count > 0; }
  bool is_device(const void* at) const {
    for (uint32_t i = 0; i < count; ++i) {
      Properties properties;
      void* device = nullptr;
      if (get_properties(contexts[i], at, &properties, &device) != success) continue;
      if (properties.type != type_unknown && properties.type != type_host) return true;
    }
    return false;
  }
};

// A driver, looked up by one thread at a time and then queried by any.
template <class Driver>
class Loaded {
 public:
  // Sets `*waits` if the library is loaded but not usable yet.
  bool look(const char* name, bool* waits) {
    if (ready_.load(std::memory_order_relaxed)) return true;
    if (!Driver::may_have_devices()) return false;
    void* library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);  // keeps the library loaded
    if (library == nullptr) return false;
    driver_.find(library);
    if (driver_.found()) ready_.store(true, std::memory_order_release);
    *waits = *waits || !driver_.found();
    return driver_.found();
  }
  bool is_device(const void* at) const {
    return ready_.load(std::memory_order_acquire) && driver_.is_device(at);
  }

 private:
  Driver driver_;
  std::atomic<bool> ready_{false};
};

constinit Loaded<Cuda> cuda;
constinit Loaded<Hip> hip;
constinit Loaded<LevelZero> level_zero;

uintptr_t executable_begin() {
  uintptr_t begin = UINTPTR_MAX;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* found) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
          const uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
          if (at < *static_cast<uintptr_t*>(found)) *static_cast<uintptr_t*>(found) = at;
        }
        return 1;  // the executable comes first
      },
      &begin);
  return begin;
}

// The heap follows the executable, unless the loader was run as the program: then it may be
// anywhere.
constexpr int terabyte = 40;

// Kernels reserve this much below the start of the stack, whatever the stack's limit (Linux: at
// least 128 MiB). A stack that begins farther away is not the initial one but a thread's or a
// fiber's, and anything may lie in between.
constexpr uintptr_t stack_of_its_own = uintptr_t{8} << 20;

// The program's own data, memory that malloc gets from brk, and the initial stack cannot belong to
// a driver. Anything else may be unmapped and then mapped by a driver, or vice versa, so that
// earlier answers say nothing and are not kept.
bool certainly_host(uintptr_t at) {
  static const uintptr_t begin = executable_begin();
  const auto brk_end = reinterpret_cast<uintptr_t>(sbrk(0));
  if (at >= begin && at < brk_end && begin >> terabyte == brk_end >> terabyte) return true;
  if (&__libc_stack_end == nullptr) return false;
  const int here = 0;
  const auto low = reinterpret_cast<uintptr_t>(&here),
             high = reinterpret_cast<uintptr_t>(__libc_stack_end);
  return low < high && high - low < stack_of_its_own && at >= low && at < high;
}

}  // namespace

// A library that is not loaded is searched for in all library directories, which takes 100 us. So
// the search is made only if something has been loaded or unloaded since the last time.
void DeviceMemory::look() {
  static constinit std::mutex mutex;
  static constinit unsigned long long loads_last_time = 0;
  const std::lock_guard lock(mutex);
  const unsigned long long loads = count_of_loads();
  if (loads == loads_last_time) return;
  bool waits = false;
  const bool with_cuda = cuda.look("libcuda.so.1", &waits);
  bool with_hip = false;
  for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                           "libamdhip64.so.4", "libamdhip64.so"})
    with_hip = with_hip || hip.look(name, &waits);
  const bool with_level_zero = level_zero.look("libze_loader.so.1", &waits);
  loads_last_time = waits ? 0 : loads;
  if (with_cuda || with_hip || with_level_zero) present_.store(true, std::memory_order_release);
}

bool DeviceMemory::is_host(const void* first, uint64_t bytes) const {
  const auto begin = reinterpret_cast<uintptr_t>(first);
  const auto last = begin + (bytes == 0 ? 0 : bytes - 1);
  for (const uintptr_t address : {begin, last}) {
    const auto* at = reinterpret_cast<const void*>(address);
    if (!certainly_host(address) &&
        (cuda.is_device(at) || hip.is_device(at) || level_zero.is_device(at)))
      return false;
  }
  return true;
}

}  // namespace nearcache::mpi
