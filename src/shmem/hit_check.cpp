// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/hit_check.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/log.h"
#include "cache/poll_detector.h"
#include "shmem/context.h"
#include "shmem/object_names.h"

namespace nearcache::shmem {
namespace {

struct Place {
  int pe = -1;
  uint64_t address = 0;
  size_t bytes = 0;
  bool operator==(const Place&) const = default;
  bool is_word() const { return bytes <= sizeof(uint64_t); }
};

// How the program may have learned of a write since the last acquire.
struct Hint {
  const char* call = nullptr;
  Place place;            // the word it learned from; no PE: none
  bool tells = false;     // false: the call only orders
  uint64_t acquires = 0;  // the number of acquires made before it
};

// A stale word that the program may be polling.
struct Suspicion {
  Place place;
  std::string text;
  int others = 0;  // gets of something else since
};

struct ThreadState {
  std::array<Place, PollDetector::polled_words> recent;  // the words of the last gets
  size_t next = 0;
  bool again = false;  // the current get is of one of these;
  Hint repeated;       // the hint for it
  Hint hint;
  Suspicion suspicion;  // no PE: none
  ~ThreadState() { context.check.thread_ends(suspicion.text); }
};

// Created at its first use, so only in threads of programs that are checked.
ThreadState& state() {
  thread_local ThreadState state;
  return state;
}

std::string hex(const char* from, size_t bytes) {
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < std::min(bytes, most); ++i) {
    char byte[8];
    snprintf(byte, sizeof byte, "%s%02x", i == 0 ? "" : " ", static_cast<unsigned char>(from[i]));
    text += byte;
  }
  return bytes > most ? text + " and so on" : text;
}

std::string named(const Place& place) {
  const NamedObject object = symmetric_object_at(place.address);
  return object.name + ", byte " + std::to_string(place.address - object.begin) + ", of PE " +
         std::to_string(place.pe);
}

std::string since_the_last_acquire() {
  const char* last = context.acquired_by.load(std::memory_order_relaxed);
  return last == nullptr ? "no call has been an acquire yet"
                         : std::string("the last acquire was ") + last;
}

// The call that should have been an acquire.
std::string cause(const Hint& hint, const Place& old) {
  const bool current = hint.call != nullptr && hint.acquires == context.acquires.load();
  if (!current || !hint.tells || hint.place == old) {
    const std::string none =
        current && !hint.tells ? std::string(" (") + hint.call + " is not one)" : std::string();
    return "since then this PE has made no call by which it could learn of a write" + none +
           ": it did so by a load, or outside of OpenSHMEM; wait by shmem_wait_until, or call "
           "nearcache_shmem_acquire() after that";
  }
  const std::string where = hint.place.pe < 0 ? "" : " of " + named(hint.place);
  return std::string("since then it learned by ") + hint.call + where +
         ", which should have been an acquire: use shmem_atomic_fetch or shmem_wait_until there, "
         "or "
         "call nearcache_shmem_acquire() after it";
}

void tell(const std::string& text) { log(LogLevel::warning, "%s", text.c_str()); }

}  // namespace

HitCheck::Kept::Kept(const PageCache& cache, int pe, uint64_t address, size_t bytes, size_t line)
    : line_(line), first_(address % line), lines_((first_ + bytes + line - 1) / line) {
  const uint64_t end = address + bytes;
  for (size_t i = 0; i < lines_.size(); ++i) {
    const uint64_t from = std::max(address, address - first_ + i * line);
    const auto size = static_cast<size_t>(std::min(end, address - first_ + (i + 1) * line) - from);
    lines_[i] = cache.holds(pe, from, size) || cache.awaits(pe, from, size);
    any_ = any_ || lines_[i];
  }
}

void HitCheck::compare(Channel* channel, const Kept& kept, int pe, uint64_t address,
                       const void* served, size_t bytes) {
  if (!kept.any()) return;
  compared_.fetch_add(1, std::memory_order_relaxed);
  std::vector<char> there(bytes);
  channel->get_plainly(there.data(), address, bytes, pe);
  const auto* given = static_cast<const char*>(served);
  PageCache* cache = channel->ready_cache();
  size_t first = bytes, last = 0;
  for (size_t i = 0; i < bytes; ++i) {
    if (given[i] == there[i] || !kept.has(i) || cache->wrote(pe, address + i)) continue;
    first = std::min(first, i);
    last = i;
  }
  if (first == bytes) return;
  cache->overtaken(pe, address, bytes);  // so that each change is reported once
  ThreadState& thread = state();
  // word by word, as programs write them
  first = first / sizeof(uint64_t) * sizeof(uint64_t);
  const size_t differ = std::min(bytes, (last / sizeof(uint64_t) + 1) * sizeof(uint64_t)) - first;
  const Place old{channel->world_pe(pe), address, bytes};
  const std::string caller = program_caller();
  std::string text = "PE " + std::to_string(context.pe) + ": a get of " + std::to_string(bytes) +
                     " B of " + named(old) + (caller.empty() ? "" : ", in " + caller + ",") +
                     " was served stale data: from byte " + std::to_string(first) + " on " +
                     hex(given + first, differ) + ", where it is now " +
                     hex(there.data() + first, differ) + "; " + since_the_last_acquire() + "; " +
                     cause(thread.hint, old);
  settle();
  thread.suspicion = {old, std::move(text), 0};
  if (!old.is_word() || !thread.again) settle();
}

void HitCheck::getting(int pe, uint64_t address, size_t bytes) {
  ThreadState& thread = state();
  const Place place{pe, address, bytes};
  Suspicion& suspicion = thread.suspicion;
  if (suspicion.place.pe >= 0) {
    if (suspicion.place == place) {
      suspicion = {};
    } else if (++suspicion.others > PollDetector::polled_words) {
      settle();
    }
  }
  // the next access is what the program does once it has seen what it waited for
  if (thread.repeated.call != nullptr) thread.hint = thread.repeated;
  thread.repeated = {};
  thread.again = std::ranges::find(thread.recent, place) != thread.recent.end();
  if (!place.is_word()) return;
  if (thread.again) {
    thread.repeated = {"polling by gets", place, true, context.acquires.load()};
  } else {
    thread.recent[thread.next++ % thread.recent.size()] = place;
  }
}

void HitCheck::called(const char* call, bool tells, int pe, uint64_t address) {
  Hint& hint = state().hint;
  const uint64_t acquires = context.acquires.load();
  if (!tells && hint.tells && hint.acquires == acquires) return;
  hint = {call, {pe, address, sizeof(uint64_t)}, tells, acquires};
}

// The thread went on with the stale data that it was served.
void HitCheck::settle() {
  Suspicion& suspicion = state().suspicion;
  if (suspicion.place.pe < 0) return;
  count(suspicion.text);
  suspicion = {};
}

void HitCheck::count(const std::string& text) {
  const uint64_t before = old_.fetch_add(1, std::memory_order_relaxed);
  if (before < most_told) tell(text);
  if (before == most_told)
    tell("PE " + std::to_string(context.pe) + ": further stale data is counted but not reported");
}

void HitCheck::thread_ends(const std::string& suspected) {
  if (!suspected.empty() && !context.finished && context.home.here()) count(suspected);
}

void HitCheck::finish(int pe) {
  if (!on_) return;
  settle();
  const auto n = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  if (old() != 0)
    log(LogLevel::warning,
        "PE %d: %llu of %llu hits were stale: the program breaks the contract of "
        "docs/semantics-openshmem.md",
        pe, n(old()), n(compared()));
  else if (pe == 0)
    log(LogLevel::warning, "PE 0: %llu hits were compared with what is there, and none was stale",
        n(compared()));
}

}  // namespace nearcache::shmem
