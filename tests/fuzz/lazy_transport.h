// A page transport over simulated memory that is as lazy as OpenSHMEM allows, and that detects what
// the cache must not do.
//
// - A put is delivered in pieces, in any order and at any time before quiet(); fence() orders the
//   puts before it before those after it.
// - A get, blocking or not, may find any byte of a put in flight delivered or not. A non-blocking
//   get reads at any time between its issue and quiet(), and its buffer holds garbage until then.
// - Reported by wrong(): accesses outside an extent, overlapping puts that nothing orders, buffers
//   used twice, and puts of bytes that the program did not write, has changed since, or that were
//   already put.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "cache/page/page_transport.h"

namespace nearcache::test {

// When operations in flight are carried out.
enum class Laziness { eager, late, random };

class LazyTransport final : public PageTransport {
 public:
  // Each PE's memory is [base, base + bytes); the segments are the parts of it that exist.
  LazyTransport(int pes, uint64_t base, size_t bytes, std::vector<Extent> segments,
                Laziness laziness, uint64_t seed);

  void get(void* to, uint64_t address, size_t bytes, int pe) override;
  void get_nbi(void* to, uint64_t address, size_t bytes, int pe) override;
  void put(uint64_t address, const void* from, size_t bytes, int pe) override;
  void fence() override;
  void quiet() override;
  Extent extent(uint64_t address, size_t bytes, int pe) override;
  bool may_cache(uint64_t address, size_t bytes) override;

  // A put that the front end issues past the cache; not checked against what the program wrote.
  void direct_put(uint64_t address, const void* from, size_t bytes, int pe);
  // A fetching atomic past the cache that changes one byte. It takes effect before it returns,
  // after all puts before the last fence.
  void direct_fetch(uint64_t address, uint8_t value, int pe);
  // Notes that the program has written these bytes, so the cache owes them to the target. The
  // previous bytes may still be put in between, so each new byte must differ from the one it
  // replaces.
  void program_writes(uint64_t address, const void* from, size_t bytes, int pe);
  void program_wrote(uint64_t address, size_t bytes, int pe);
  // Notes that the program no longer wants these bytes put.
  void forget(uint64_t address, size_t bytes);
  void forget(uint64_t address, size_t bytes, int pe);

  bool owed(uint64_t address, int pe) const { return byte(address, pe).owed; }
  bool anything_owed() const { return owed_ != 0; }
  bool under_way(uint64_t address, int pe) const { return byte(address, pe).undelivered != 0; }
  bool anything_under_way() const { return !pieces_.empty() || !fetches_.empty(); }
  // A byte of a PE's memory, for that PE's own loads and stores.
  uint8_t& memory(uint64_t address, int pe) { return byte(address, pe).value; }

  const std::string& wrong() const { return wrong_; }
  void extents_known(bool known) { extents_known_ = known; }
  // These whole lines must not be cached.
  void leave_uncached(const Extent& lines) { uncached_ = lines; }
  // Sets what is called by each operation that waits for the network: blocking gets and quiet().
  void on_wait(std::function<void()> action) { on_wait_ = std::move(action); }

  struct Counts {
    uint64_t gets = 0, nbi_gets = 0, puts = 0, fences = 0, quiets = 0, get_bytes = 0, put_bytes = 0;
    uint64_t calls() const { return gets + nbi_gets + puts + fences + quiets; }
    uint64_t waits() const { return gets + quiets; }
  };
  const Counts& counts() const { return counts_; }
  void reset_counts() { counts_ = {}; }

 private:
  struct Byte {
    uint8_t value = 0;                 // at the target
    uint8_t expected = 0, before = 0;  // last written by the program; what that replaced
    bool owed = false, owed_before = false;
    uint16_t undelivered = 0;  // pieces of puts in flight to this byte
    uint64_t put_epoch = 0;    // of the last put; fences separate epochs
  };
  struct Piece {  // of a put in flight
    int pe;
    uint64_t address, epoch;
    std::vector<uint8_t> data;
  };
  struct Fetch {  // a piece of a non-blocking get
    int pe;
    uint64_t address;
    uint8_t* to;
    size_t bytes;
    bool read;
    std::vector<uint8_t> data;
  };

  Byte& byte(uint64_t address, int pe) {
    return bytes_[static_cast<size_t>(pe) * size_ + (address - base_)];
  }
  const Byte& byte(uint64_t address, int pe) const {
    return bytes_[static_cast<size_t>(pe) * size_ + (address - base_)];
  }
  bool exists(uint64_t address, size_t bytes) const;
  bool check(const char* what, uint64_t address, size_t bytes, int pe);
  bool check_buffer(const void* buffer, size_t bytes);
  void fail(const std::string& what, uint64_t address, int pe);
  void send(uint64_t address, const void* from, size_t bytes, int pe);
  size_t piece_length(size_t left);
  bool deliverable(size_t index) const;
  void deliver(size_t index);
  void read(Fetch& fetch);
  void progress();
  void complete();
  uint64_t random(uint64_t below) { return random_() % below; }

  const uint64_t base_;
  const size_t size_;
  const std::vector<Extent> segments_;
  const Laziness laziness_;
  std::mt19937_64 random_;
  std::vector<Byte> bytes_;
  std::vector<Piece> pieces_;
  std::vector<Fetch> fetches_;
  size_t unread_ = 0;  // fetches that have not read yet
  size_t owed_ = 0;
  uint64_t epoch_ = 1;
  bool extents_known_ = true;
  Extent uncached_;
  Counts counts_;
  std::string wrong_;
  std::function<void()> on_wait_;
};

}  // namespace nearcache::test
