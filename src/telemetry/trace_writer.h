// Writes one rank's trace (trace_format.h): records go into blocks in memory, full blocks to the
// file by a thread of their own.
//
// A get costs some tens of instructions and no system call. If the disk is slower than the program
// and all blocks are full, the block just filled is dropped and counted: the program never waits
// before `close`. A block that fills slowly is written every second as far as it is filled, and
// again when it is full, so a run that is killed loses no more than its last second.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/process.h"
#include "telemetry/trace_format.h"

namespace nearcache {

// What the header says of the run.
struct TraceOrigin {
  uint32_t rank = 0, ranks = 1;
  std::string host, program, library, modelled;
  std::string api{};  // empty: MPI
};

// A window, as `created` records it. Sizes in bytes.
struct TracedWindow {
  uint64_t id = 0;
  uint32_t rank = 0, ranks = 1;  // in the window's group
  uint64_t own_bytes = 0;
  uint64_t unit = 1;  // displacement unit, 0 where ranks differ
  uint8_t mode = 0;
  std::string name;
};

// Not thread-safe: the caller's lock covers all calls.
class TraceWriter {
 public:
  static constexpr size_t block_bytes = 256 * 1024;
  static constexpr int blocks = 8;
  static constexpr int unwritten_ms = 1000;  // at most, of what has been recorded

  ~TraceWriter();

  // Creates the file and starts the writing thread. Returns an empty string, or what is wrong.
  std::string open(const std::string& path, const TraceOrigin& origin);
  bool is_open() const { return file_ >= 0; }
  // Writes what is left, waits for the disk, and closes; in a forked child it only closes. Returns
  // an empty string, or what went wrong on the way.
  std::string close();
  uint64_t dropped() const { return dropped_; }

  // A get of `bytes` bytes at byte `displacement` of `target`'s memory.
  void get(uint64_t window, Outcome outcome, uint32_t target, int64_t displacement,
           uint64_t bytes) {
    begin(window);
    if ((++gets_ & 31) == 0) time();
    put_get(trace_head(TraceKind::get, static_cast<unsigned>(outcome)), target, displacement,
            bytes);
    end_record();
  }
  // The same of a strided or scattered target: `layout` names its shape, the bytes lie in [lowest,
  // lowest + span).
  void get(uint64_t window, Outcome outcome, uint32_t target, int64_t displacement, uint64_t bytes,
           uint32_t layout, int64_t lowest, uint64_t span);
  // `target` -1: all, or none.
  void sync(uint64_t window, TraceSync kind, int target);
  // The commonest of them. It has no time: gets, which it follows closely, have the time every now
  // and then.
  void flush(uint64_t window, int target) {
    begin(window);
    put_sync(TraceSync::flush, target);
  }
  // A call outside of windows by which the program may learn of other ranks' writes; runs of them
  // are recorded once.
  void acquire();
  void write(uint64_t window, TraceWrite kind, uint32_t target, int64_t displacement,
             uint64_t bytes);
  void window_created(const TracedWindow& window);
  void window_freed(uint64_t id);
  void window_mode(uint64_t id, uint8_t mode);
  void cost(uint64_t bytes, uint64_t ns, TraceCost what = TraceCost::get);
  // Puts down the time: what comes before it was earlier, what follows later.
  void mark() {
    room();
    time();
  }
  void owner_write(uint64_t window, uint64_t first, uint64_t bytes, uint64_t within_ns);

 private:
  struct Block {
    std::vector<uint8_t> bytes;
    size_t used = 0;
  };

  // Room for one record, selecting `window` first if another was meant until now.
  void begin(uint64_t window) {
    room();
    if (window != window_) [[unlikely]]
      select(window);
  }
  void room() {
    if (end_ - at_ < longest_record) [[unlikely]]
      next_block();
    last_was_acquire_ = false;
  }
  void put_get(uint8_t head, uint32_t target, int64_t displacement, uint64_t bytes) {
    uint8_t* at = at_;
    *at++ = head;
    at = put_varint(at, zigzag(static_cast<int64_t>(target) - last_target_));
    at = put_varint(at, zigzag_between(last_displacement_, displacement));
    at_ = put_varint(at, bytes);
    last_target_ = target;
    last_displacement_ = displacement;
  }
  void put_sync(TraceSync kind, int target) {
    head(TraceKind::sync, static_cast<unsigned>(kind));
    field(static_cast<uint64_t>(static_cast<int64_t>(target) + 1));
    end_record();
  }
  // Lets the thread have what is complete of the block: bytes and records in one word, so that they
  // fit each other.
  void end_record() {
    ++records_;
    complete_.store(static_cast<uint64_t>(at_ - begin_) << 32 | records_,
                    std::memory_order_release);
  }
  void head(TraceKind kind, unsigned detail) { *at_++ = trace_head(kind, detail); }
  void field(uint64_t value) { at_ = put_varint(at_, value); }
  void select(uint64_t window);
  void time();
  // The system's clock, not ticks: times of different ranks are compared, and ticks' calibration is
  // off by some 1e-4.
  uint64_t now_ns() const { return system_ns() - start_ns_; }

  void start_block();
  void finish_block();
  void next_block();
  // Of the thread:
  void write_blocks();
  void write_part(std::unique_lock<std::mutex>* lock);
  bool write_all(const uint8_t* from, size_t bytes);

  static constexpr ptrdiff_t longest_record = 256;  // names are cut to fit
  static constexpr uint64_t no_window = UINT64_MAX;

  uint8_t* at_ = nullptr;
  uint8_t* begin_ = nullptr;  // of the block
  uint8_t* end_ = nullptr;
  uint64_t window_ = no_window;
  int64_t last_target_ = 0;
  int64_t last_displacement_ = 0;
  uint64_t gets_ = 0;
  uint32_t records_ = 0;  // in this block
  bool last_was_acquire_ = false;
  uint64_t last_ns_ = 0;
  uint64_t start_ns_ = 0;
  uint64_t dropped_ = 0, dropped_before_ = 0;  // in all; since the last block that was kept

  int file_ = -1;
  bool seekable_ = false;              // a pipe gets whole blocks only
  off_t place_ = 0;                    // where the next block goes; the thread's, once it runs
  size_t part_bytes_ = 0;              // of that block, in the file already; the thread's
  std::atomic<uint64_t> complete_{0};  // of the current block
  HomeProcess home_;                   // where the thread is
  Block* current_ = nullptr;
  // In a forked child the thread can be neither joined nor ended, and the condition not be
  // destroyed, as it is waited for there for ever.
  struct Writing {
    std::thread thread;
    std::mutex mutex;  // covers what follows; complete_ goes back to 0 under it
    std::condition_variable work;
  };
  std::unique_ptr<Writing> writing_ = std::make_unique<Writing>();
  std::vector<Block> pool_;
  std::vector<Block*> free_, full_;
  bool closing_ = false;
  int error_ = 0;
};

}  // namespace nearcache
