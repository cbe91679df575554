// SPDX-License-Identifier: BSD-3-Clause

// Writes one rank's trace (trace_format.h): records go into blocks in memory, and a thread of its
// own writes full blocks to the file.
//
// A get costs some tens of instructions and no system call. If the disk is slower than the program
// and all blocks are full, the block just filled is dropped and counted: the program never waits
// before close(). A block that fills slowly is written every second up to where it is filled, and
// again when it is full, so a run that is killed loses at most its last second.
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

// What the header says about the run.
struct TraceOrigin {
  uint32_t rank = 0, ranks = 1;
  std::string host, program, library, modelled;
  std::string api{};  // empty: MPI
};

// A window, as recorded by `created`. Sizes in bytes.
struct TracedWindow {
  uint64_t id = 0;
  uint32_t rank = 0, ranks = 1;  // in the window's group
  uint64_t own_bytes = 0;
  uint64_t unit = 1;  // displacement unit; 0 if ranks differ
  uint8_t mode = 0;
  std::string name;
};

// Not thread-safe: the caller's lock covers all calls.
class TraceWriter {
 public:
  static constexpr size_t block_bytes = 256 * 1024;
  static constexpr int blocks = 8;
  static constexpr int unwritten_ms = 1000;  // how long a record may stay unwritten

  ~TraceWriter();

  // Creates the file and starts the writing thread. Returns an empty string, or an error message.
  std::string open(const std::string& path, const TraceOrigin& origin);
  bool is_open() const { return file_ >= 0; }
  // Writes what is left, waits for the disk, and closes; in a forked child it only closes. Returns
  // an empty string, or the first error since open().
  std::string close();
  uint64_t dropped() const { return dropped_; }

  // Records a get of `bytes` bytes at byte `displacement` of `target`'s memory.
  void get(uint64_t window, Outcome outcome, uint32_t target, int64_t displacement,
           uint64_t bytes) {
    begin(window);
    if ((++gets_ & 31) == 0) time();
    put_get(trace_head(TraceKind::get, static_cast<unsigned>(outcome)), target, displacement,
            bytes);
    end_record();
  }
  // Records a get with a strided or scattered target: `layout` identifies its shape; the bytes are
  // within [lowest, lowest + span).
  void get(uint64_t window, Outcome outcome, uint32_t target, int64_t displacement, uint64_t bytes,
           uint32_t layout, int64_t lowest, uint64_t span);
  // `target` is -1 for all or none.
  void sync(uint64_t window, TraceSync kind, int target);
  // Records the most frequent synchronisation. It gets no time of its own: it closely follows gets,
  // which record the time now and then.
  void flush(uint64_t window, int target) {
    begin(window);
    put_sync(TraceSync::flush, target);
  }
  // Records a call outside of windows by which the program may learn of other ranks' writes.
  // Consecutive ones are recorded once.
  void acquire();
  void write(uint64_t window, TraceWrite kind, uint32_t target, int64_t displacement,
             uint64_t bytes);
  void window_created(const TracedWindow& window);
  void window_freed(uint64_t id);
  void window_mode(uint64_t id, uint8_t mode);
  void cost(uint64_t bytes, uint64_t ns, TraceCost what = TraceCost::get);
  // Records the time: records before it happened earlier, those after it later.
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

  // Makes room for a record, and selects `window` if it is not the selected one.
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
  // Publishes the complete part of the block to the thread. Bytes and records share one word, so
  // that they are consistent.
  void end_record() {
    ++records_;
    complete_.store(static_cast<uint64_t>(at_ - begin_) << 32 | records_,
                    std::memory_order_release);
  }
  void head(TraceKind kind, unsigned detail) { *at_++ = trace_head(kind, detail); }
  void field(uint64_t value) { at_ = put_varint(at_, value); }
  void select(uint64_t window);
  void time();
  // Uses the system clock, not ticks: times are compared between ranks, and the calibration of
  // ticks is off by some 1e-4.
  uint64_t now_ns() const { return system_ns() - start_ns_; }

  void start_block();
  void finish_block();
  void next_block();
  // Called by the writing thread:
  void write_blocks();
  void write_part(std::unique_lock<std::mutex>* lock);
  bool write_all(const uint8_t* from, size_t bytes);

  static constexpr ptrdiff_t longest_record = 256;  // names are cut to fit
  static constexpr uint64_t no_window = UINT64_MAX;

  uint8_t* at_ = nullptr;
  uint8_t* begin_ = nullptr;  // start of the current block
  uint8_t* end_ = nullptr;
  uint64_t window_ = no_window;
  int64_t last_target_ = 0;
  int64_t last_displacement_ = 0;
  uint64_t gets_ = 0;
  uint32_t records_ = 0;  // in the current block
  bool last_was_acquire_ = false;
  uint64_t last_ns_ = 0;
  uint64_t start_ns_ = 0;
  uint64_t dropped_ = 0, dropped_before_ = 0;  // in total; since the last block that was kept

  int file_ = -1;
  bool seekable_ = false;  // false: a pipe, to which only whole blocks are written
  off_t place_ = 0;        // file offset of the next block; owned by the thread while it runs
  size_t part_bytes_ = 0;  // bytes of that block already in the file; owned by the thread
  std::atomic<uint64_t> complete_{0};  // complete part of the current block
  HomeProcess home_;                   // the process that the thread runs in
  Block* current_ = nullptr;
  // Allocated separately because a forked child can neither join nor end the thread, and cannot
  // destroy the condition variable, on which a thread appears to wait for ever.
  struct Writing {
    std::thread thread;
    std::mutex mutex;  // guards work and the members below; complete_ is reset to 0 under it
    std::condition_variable work;
  };
  std::unique_ptr<Writing> writing_ = std::make_unique<Writing>();
  std::vector<Block> pool_;
  std::vector<Block*> free_, full_;
  bool closing_ = false;
  int error_ = 0;
};

}  // namespace nearcache
