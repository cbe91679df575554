// The cases of edges.cpp about memory of devices, with stand-ins for their drivers.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "words.h"

// There is an AMD GPU, also where there is none: Nearcache calls this function instead of the
// system's.
extern "C" [[gnu::visibility("default")]] int access(const char* path, int mode) noexcept {
  return std::strcmp(path, "/dev/kfd") == 0 ? 0 : faccessat(AT_FDCWD, path, mode, 0);
}

namespace {

// A stand-in for a GPU driver, which stays loaded.
class Driver {
 public:
  explicit Driver(const char* name) {
    char program[4096] = {};
    EXPECT(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    const std::string folder = std::string(program).substr(0, std::string(program).rfind('/'));
    library_ = dlopen((folder + "/../fake_driver/" + name).c_str(), RTLD_NOW);
    EXPECT(library_ != nullptr);
  }
  explicit operator bool() const { return library_ != nullptr; }

  int64_t* allocate(size_t bytes, void* at = nullptr) const {
    return (int64_t*)call<void*>("fake_driver_allocate", at, bytes);
  }
  void free() const { call<void>("fake_driver_free"); }
  long questions() const { return call<long>("fake_driver_questions"); }
  template <class Result, class... Arguments>
  Result call(const char* name, Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(dlsym(library_, name))(arguments...);
  }

 private:
  void* library_;
};

constexpr size_t device_bytes = 1 << 18;

// Gets into memory of a device, which must bypass the cache, or into other memory, which must hit.
void get_into(const Words& words, int64_t* to, bool device, const char* what) {
  const auto before = check::stats(words.win);
  std::fill_n(to, 8, -1);
  words.get(to, 1, 50, 8);
  words.flush(1);
  EXPECT(Words::right(to, 1, 50, 8));
  const auto after = check::stats(words.win);
  check::expect(!check::cached() || (after.bypassed - before.bypassed == device &&
                                     after.hits_full - before.hits_full == !device),
                "%s: %d bypassed, %d hits", what, (int)(after.bypassed - before.bypassed),
                (int)(after.hits_full - before.hits_full));
}

// The processor must not access a GPU's memory: only MPI performs gets into it, including repeated
// gets and gets of cached bytes.
void leave_device_memory_alone(const Driver& driver) {
  auto* device = driver.allocate(device_bytes);
  for (const char* mode : {"transparent", "always"}) {
    Words words(200, mode);
    if (!origin()) continue;
    for (int round = 0; round < 3; round++) {
      words.get(&device[round], 1, 50, 8);
      words.get(&device[100], 1, 50, 8);
      words.flush(1);
      EXPECT(Words::right(&device[round], 1, 50, 8) && Words::right(&device[100], 1, 50, 8));
    }
    EXPECT_CACHED(check::stats(words.win).bypassed == 6 && check::stats(words.win).entries == 0);
    EXPECT(words.read(1, 50, 8) && words.read(1, 50, 8));
    words.get(device, 1, 50, 8);
    words.flush(1);
    EXPECT(Words::right(device, 1, 50, 8));
    EXPECT_CACHED(check::stats(words.win).bypassed == 7);
    MPI_Request request;
    MPI_Rget(&device[7], 1, MPI_INT64_T, 1, 90, 1, MPI_INT64_T, words.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(Words::right(&device[7], 1, 90));
    EXPECT_CACHED(check::stats(words.win).bypassed == 8);
    EXPECT_CACHED(strcmp(mode, "always") != 0 || check::stats(words.win).hits_full == 1);
  }
  EXPECT_CACHED(!origin() || driver.questions() > 0);
  driver.free();
}

// Memory that the driver frees may at once be reused by the program, and vice versa.
void follow_memory_that_changes_hands(const Driver& driver) {
  Words words(200);
  auto* memory = driver.allocate(device_bytes);
  if (!origin()) return driver.free();
  EXPECT(words.read(1, 50, 8));
  get_into(words, memory, true, "a device's");
  driver.free();
  EXPECT(mmap(memory, device_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
              -1, 0) == memory);
  get_into(words, memory, false, "the program's again");
  get_into(words, memory, false, "the program's still");
  munmap(memory, device_bytes);
  driver.allocate(device_bytes, memory);
  get_into(words, memory, true, "a device's again");
  driver.free();
}

// The stack of a thread or fiber may be anywhere, with device memory between it and the first
// stack.
void tell_stacks_apart(const Driver& driver) {
  Words words(200);
  auto* stack = (char*)mmap(nullptr, 2 * device_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  static int64_t* device;
  device = driver.allocate(device_bytes, stack + device_bytes);
  if (origin()) {
    EXPECT(words.read(1, 50, 8));
    static const Words* there;
    static ucontext_t here, fiber;
    there = &words;
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = device_bytes;
    fiber.uc_link = &here;
    makecontext(
        &fiber, [] { get_into(*there, device, true, "a device's, from a fiber"); }, 0);
    swapcontext(&here, &fiber);
  }
  driver.free();
  munmap(stack, device_bytes);
}

// HIP reports an error for the program's own memory. The program must not see that error, and an
// error of its own that it has not queried yet must not be lost.
void keep_errors_for_the_program(const Driver& driver, const Words& words) {
  auto* memory = (int64_t*)mmap(nullptr, device_bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  get_into(words, memory, false, "the program's");
  EXPECT_EQ(driver.call<int>("hipPeekAtLastError"), 0);
  driver.call<void>("fake_driver_fail", 7);
  get_into(words, memory, true, "nothing can be asked");
  EXPECT_EQ(driver.call<int>("hipGetLastError"), 7);
  munmap(memory, device_bytes);
}

// The last case, as drivers stay loaded. Each driver is found although others were loaded before,
// and by windows that already existed.
void device_memory_is_left_to_mpi() {
  Words older(200);
  if (origin()) EXPECT(older.read(1, 50, 8));
  for (const char* name : {"libcuda.so.1", "libamdhip64.so.6", "libze_loader.so.1"}) {
    // The MPI may have loaded the real one, which is asked then (Debian 13: UCX loads HIP, hwloc
    // Level Zero).
    const char* older_name = strcmp(name, "libamdhip64.so.6") == 0 ? "libamdhip64.so.5" : name;
    if (dlopen(name, RTLD_LAZY | RTLD_NOLOAD) || dlopen(older_name, RTLD_LAZY | RTLD_NOLOAD))
      continue;
    const Driver driver(name);
    if (!driver) return;
    leave_device_memory_alone(driver);
    follow_memory_that_changes_hands(driver);
    tell_stacks_apart(driver);
    auto* device = driver.allocate(device_bytes);
    if (origin()) get_into(older, device, true, name);
    if (origin() && strcmp(name, "libamdhip64.so.6") == 0)
      keep_errors_for_the_program(driver, older);
    driver.free();
  }
}

}  // namespace

void add_device_cases(std::vector<check::Case>& cases) {
  cases.insert(cases.end(), {{"device_memory_is_left_to_mpi", device_memory_is_left_to_mpi}});
}
