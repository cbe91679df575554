// SPDX-License-Identifier: BSD-3-Clause
#include "base/private_heap.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/round.h"

namespace nearcache::private_heap {
namespace {

constexpr size_t most_reserved = size_t{1} << 30;
constexpr size_t grown_at_once = size_t{1} << 20;
constexpr size_t given_back = size_t{256} << 10;  // freed blocks this large give memory back
constexpr size_t largest = most_reserved / 4;
constexpr size_t page = 4096;

struct Header {  // directly before every block
  uint32_t size_class;
  uint32_t distance;  // the block's offset in its allocation, in bytes
  uint64_t unused;
};
static_assert(sizeof(Header) == alignment);

struct Free {
  Free* next;
};

// 16, 32, ..., 128, then four classes per power of two.
constexpr unsigned small_classes = 8;
constexpr unsigned class_of(size_t bytes) {
  if (bytes <= 128) return static_cast<unsigned>((bytes + 15) / 16) - 1;
  const auto width = static_cast<unsigned>(std::bit_width(bytes - 1));
  const size_t below = size_t{1} << (width - 1), step = below / 4;
  return small_classes + (width - 8) * 4 +
         static_cast<unsigned>((bytes - below + step - 1) / step) - 1;
}
constexpr size_t bytes_of(unsigned size_class) {
  if (size_class < small_classes) return (size_class + 1) * size_t{16};
  const size_t below = size_t{128} << (size_class - small_classes) / 4;
  return below + below / 4 * ((size_class - small_classes) % 4 + 1);
}
static_assert(class_of(129) == small_classes && bytes_of(class_of(129)) == 160 &&
              bytes_of(class_of(256)) == 256 && bytes_of(class_of(257)) == 320);
constexpr unsigned classes = class_of(largest) + 1;

// Constant-initialised: the first allocations come before any constructor.
constinit pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
constinit std::atomic<uintptr_t> begin{0};  // start of the reserved addresses; 0: none yet
constinit std::atomic<size_t> reserved{0};  // bytes
constinit bool refused = false;
constinit size_t used = 0, accessible = 0;
constinit Free* freed[classes] = {};

class Lock {
 public:
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
};

// Reserved but inaccessible addresses count against no memory limit, only against the limit on
// address space (ulimit -v), most of which must be left to the program.
size_t bytes_to_reserve() {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return most_reserved;
  return std::min<size_t>(most_reserved, limit.rlim_cur / 64 / grown_at_once * grown_at_once);
}

bool reserve() {
  if (begin.load(std::memory_order_relaxed) != 0) return true;
  if (refused) return false;
  const size_t bytes = bytes_to_reserve();  // 0: mmap refuses
  void* found = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  refused = found == MAP_FAILED;
  if (refused) return false;
  // Ensures that a child forked while another thread allocates finds the heap consistent.
  pthread_atfork([] { pthread_mutex_lock(&mutex); }, [] { pthread_mutex_unlock(&mutex); },
                 [] { pthread_mutex_unlock(&mutex); });
  reserved.store(bytes, std::memory_order_relaxed);
  begin.store(reinterpret_cast<uintptr_t>(found), std::memory_order_relaxed);
  return true;
}

// Takes the next `bytes` bytes of the reserved addresses; null if there is no room.
std::byte* extend(size_t bytes) {
  if (!reserve() || bytes > reserved.load(std::memory_order_relaxed) - used) return nullptr;
  auto* const base = reinterpret_cast<std::byte*>(begin.load(std::memory_order_relaxed));
  if (used + bytes > accessible) {
    const size_t more = round_up(used + bytes - accessible, grown_at_once);
    if (mprotect(base + accessible, more, PROT_READ | PROT_WRITE) != 0) return nullptr;
    accessible += more;
  }
  std::byte* const found = base + used;
  used += bytes;
  return found;
}

// Returns the value with which glibc fills freed blocks if MALLOC_PERTURB_ is set, to expose uses
// after free; 0: no filling. Read only once, since the environment may change.
int perturbation() {
  static constinit std::atomic<int> known{-1};
  int value = known.load(std::memory_order_relaxed);
  if (value >= 0) return value;
  const char* const text = std::getenv("MALLOC_PERTURB_");
  value = text == nullptr ? 0 : static_cast<int>(std::strtol(text, nullptr, 10) & 0xff);
  known.store(value, std::memory_order_relaxed);
  return value;
}

const Header& header_of(const void* block) { return static_cast<const Header*>(block)[-1]; }

}  // namespace

void* allocate(size_t bytes, size_t align) {
  const size_t spare = align > alignment ? align : 0;
  if (bytes > largest - sizeof(Header) || spare > largest - sizeof(Header) - bytes) return nullptr;
  const unsigned size_class = class_of(bytes + spare + sizeof(Header));
  std::byte* piece = nullptr;
  {
    const Lock lock;
    if (Free* found = freed[size_class]; found != nullptr) {
      freed[size_class] = found->next;
      piece = reinterpret_cast<std::byte*>(found);
    } else {
      piece = extend(bytes_of(size_class));
    }
  }
  if (piece == nullptr) return nullptr;
  const auto at = reinterpret_cast<uintptr_t>(piece) + sizeof(Header);
  auto* const block = reinterpret_cast<Header*>(spare == 0 ? at : (at + spare - 1) & ~(spare - 1));
  block[-1] = {size_class, static_cast<uint32_t>(reinterpret_cast<std::byte*>(block) - piece), 0};
  return block;
}

bool owns(const void* block) {
  const uintptr_t from = begin.load(std::memory_order_relaxed);
  return from != 0 &&
         reinterpret_cast<uintptr_t>(block) - from < reserved.load(std::memory_order_relaxed);
}

void release(void* block) {
  const Header header = header_of(block);
  auto* const piece = static_cast<std::byte*>(block) - header.distance;
  const size_t bytes = bytes_of(header.size_class);
  if (const int fill = perturbation(); fill != 0) [[unlikely]]
    std::memset(block, fill, usable_bytes(block));
  if (bytes >= given_back) {  // all but its first page, which holds the free-list link
    const uintptr_t first =
        (reinterpret_cast<uintptr_t>(piece) + sizeof(Free) + page - 1) & ~(page - 1);
    const uintptr_t last = (reinterpret_cast<uintptr_t>(piece) + bytes) & ~(page - 1);
    madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
  auto* const free = new (piece) Free;
  const Lock lock;
  free->next = freed[header.size_class];
  freed[header.size_class] = free;
}

size_t usable_bytes(const void* block) {
  const Header& header = header_of(block);
  return bytes_of(header.size_class) - header.distance;
}

}  // namespace nearcache::private_heap
