// SPDX-License-Identifier: BSD-3-Clause

// Reads one rank's trace (telemetry/trace_format.h) record by record, holding one block at a time:
// memory does not grow with the file.
//
// Nothing in a file is trusted: sizes are checked against what is there, and every number against
// what a program could have done. A file that ends inside a block (the program was killed, the disk
// was full) is read up to its last complete block; any other violation of the format is an error
// that names the place.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "telemetry/trace_format.h"

namespace nearcache::simulate {

struct TraceHeader {
  uint32_t version = 0;
  uint32_t rank = 0, ranks = 0;  // of MPI_COMM_WORLD
  uint64_t start_ns = 0;         // CLOCK_REALTIME
  std::string host, program, library, modelled;
  std::string api = "MPI";
  bool is_mpi() const { return api == "MPI"; }
};

// A window of the trace. If its creation was in a dropped block, only its id is known.
struct TraceWindowInfo {
  uint64_t id = 0;
  bool announced = false;
  uint32_t rank = UINT32_MAX, ranks = UINT32_MAX;  // in the window's group
  uint64_t own_bytes = 0;
  int64_t unit = 1;  // displacement unit; 0 if ranks differ
  uint8_t mode = 0;  // at creation, a `Mode`
  std::string name;
};

struct TraceEvent {
  static constexpr uint32_t no_window = UINT32_MAX;

  TraceKind kind = TraceKind::end;
  uint8_t detail = 0;           // Outcome, TraceSync, TraceWrite or TraceWindow
  uint32_t window = no_window;  // index into TraceReader::windows()
  uint32_t target = 0;          // get, write
  int64_t sync_target = -1;     // sync; -1: all, or none
  uint64_t ns = 0;              // since the header's start; the last time that the trace gave
  int64_t displacement = 0;     // get: its start; write, owner_write: the first byte
  uint64_t bytes = 0;           // get, write, owner_write, cost
  uint32_t layout = 0;          // get: 0 is contiguous
  int64_t from = 0, to = 0;     // get, write: bytes touched, [from, to)
  uint64_t value = 0;           // cost: ns; owner_write: ns before now; mode: the mode; end: gets
};

class TraceReader {
 public:
  // No valid trace has larger blocks: a larger size means damage.
  static constexpr uint64_t most_block_bytes = uint64_t{64} << 20;

  // Returns an empty string, or what is wrong with the file or its header.
  std::string open(const std::string& path);

  // Reads the next record. Returns false at the end, or where the file stops being readable
  // (error(), cut_short()). `select` records are consumed here and not returned; `time` records are
  // returned only after show_times().
  bool next(TraceEvent* event);

  void show_times() { shows_times_ = true; }

  const std::string& path() const { return path_; }
  const TraceHeader& header() const { return header_; }
  const std::vector<TraceWindowInfo>& windows() const { return windows_; }
  // damage and its place; empty if there is none
  const std::string& error() const { return error_; }
  bool cut_short() const { return cut_short_; }  // the file ends before its `end`
  uint64_t dropped() const { return dropped_; }  // records that the writer could not keep

 private:
  struct Close {
    void operator()(FILE* file) const { fclose(file); }
  };

  std::string read_header();
  bool next_block();
  bool fail(const char* what);
  bool field(uint64_t* value) { return get_varint(&at_, end_, value); }
  bool decode(TraceEvent* event, bool* shown);
  bool decode_get(TraceEvent* event, unsigned detail);
  bool decode_write(TraceEvent* event);
  bool decode_sync(TraceEvent* event);
  bool decode_window(TraceEvent* event, bool* shown);
  bool decode_created(TraceEvent* event);
  bool decode_place(TraceEvent* event);
  bool need_window(TraceEvent* event);
  uint32_t window_of(uint64_t id);

  std::string path_;
  std::unique_ptr<FILE, Close> file_;
  uint64_t file_bytes_ = 0, offset_ = 0, block_at_ = 0;
  TraceHeader header_;
  std::vector<TraceWindowInfo> windows_;
  std::unordered_map<uint64_t, uint32_t> window_by_id_;
  std::vector<uint8_t> block_;
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
  uint32_t records_left_ = 0;
  uint32_t selected_ = TraceEvent::no_window;
  uint32_t last_target_ = 0;
  uint64_t last_displacement_ = 0;  // wraps around like the writer's
  uint64_t ns_ = 0;
  uint64_t dropped_ = 0;
  bool shows_times_ = false;
  bool ended_ = false, cut_short_ = false;
  std::string error_;
};

}  // namespace nearcache::simulate
