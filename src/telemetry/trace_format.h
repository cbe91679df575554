// SPDX-License-Identifier: BSD-3-Clause

// The binary trace of one rank's gets and synchronisation: the file format (docs/trace.md describes
// it for readers).
//
//   A header, then blocks; little-endian. Each block can be decoded on its own: the values that
//   records are relative to are reset at its start, so a dropped block costs only its own records.
//   A file whose last record is not `end` was cut short.
//
//   header   magic[8] "NCTRACE\n", u32 version, u32 bytes of the header, u32 rank, u32 ranks (of
//            MPI_COMM_WORLD), u64 start (ns, CLOCK_REALTIME: comparable between ranks), then texts
//            (u32 bytes, characters): host, program, library, network model (empty: none);
//            version 2: also the API, "OpenSHMEM"
//   block    u32 magic, u32 bytes of its records, u32 number of records, u32 0, u64 ns since the
//            start, u64 records dropped before it
//
//   record   one byte: kind | detail << 3, then the fields below as variable-length integers: seven
//            bits per byte, lowest first, bit 7 set in all bytes but the last. `signed` fields are
//            zigzag-encoded (0, -1, 1, -2, ... as 0, 1, 2, 3, ...).
//
//   kind         detail               fields
//   get          outcome | layout<<4  signed target - last target, signed displacement - last
//                                     displacement, bytes; if layout: its number, signed lowest
//                                     byte - displacement, bytes from lowest to highest
//   sync         TraceSync            target + 1 (0: all, or none)
//   write        TraceWrite           signed target - last target, signed first byte - last
//                                     displacement, bytes
//   window       TraceWindow          select: id. created: id, rank in its group, ranks, bytes of
//                                     own memory, displacement unit, mode, bytes of the name, name.
//                                     freed: id. mode: id, mode.
//   cost         TraceCost            bytes, ns: how long a get of that size took, including its
//                                     share of the synchronisation; version 2: or a put, a quiet
//   owner_write  0                    first byte, bytes, ns: own memory of the selected window,
//                                     in whole pages, was written by this rank (or by arriving
//                                     writes) at most that many ns ago
//   time         0                    ns since the last time (the first: since the block's time)
//   end          0                    ns since the start, gets, total records dropped
//
// get, write, sync (except `acquire`) and owner_write refer to the last selected window. "Last"
// target and displacement are those of the last get or write in the block, initially 0.
// Displacements are byte offsets in the target's window memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/outcome.h"

namespace nearcache {

inline constexpr char trace_magic[9] = "NCTRACE\n";
// Version 2 is for OpenSHMEM: one more text in the header, and records that version 1 lacks.
inline constexpr uint32_t trace_version = 1, trace_version_of_apis = 2;
inline constexpr uint32_t trace_block_magic = 0x4b42434e;  // "NCBK"
inline constexpr size_t trace_block_header_bytes = 32;

enum class TraceKind : uint8_t { get, sync, write, window, cost, owner_write, time, end };

// The call. `acquire` is any other call by which a program may learn of another rank's write (a
// receive, a collective).
enum class TraceSync : uint8_t {
  fence,
  lock,
  lock_all,
  unlock,
  unlock_all,
  flush,
  flush_local,
  start,
  complete,
  post,
  wait,
  win_sync,
  request,
  acquire,
  invalidate,
  // OpenSHMEM, for a context: a quiet; a fence; a call that completes earlier writes, such as a
  // barrier; a call that starts to write them back, such as a wait.
  quiet,
  order,
  release,
  write_back
};
inline constexpr int trace_syncs = 19;

// The operation that a cost record is about; version 1 has only gets.
enum class TraceCost : uint8_t { get, put, quiet };
inline constexpr int trace_costs = 3;

enum class TraceWrite : uint8_t { put, accumulate, fetch };
enum class TraceWindow : uint8_t { select, created, freed, mode };

inline constexpr uint8_t trace_head(TraceKind kind, unsigned detail) {
  return static_cast<uint8_t>(static_cast<unsigned>(kind) | detail << 3);
}

inline constexpr uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
// Of how far it is from one place to another, which may be farther than a signed number says.
inline constexpr uint64_t zigzag_between(int64_t from, int64_t to) {
  return zigzag(static_cast<int64_t>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from)));
}
inline constexpr int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

// Returns the bytes of a varint of at most 56 bits as one number, first byte lowest, without the
// continuation bits.
inline uint64_t varint_bytes(uint64_t value) {
  value = (value & 0x00fffffff0000000) << 4 | (value & 0x0fffffff);
  value = (value & 0x0fffc0000fffc000) << 2 | (value & 0x00003fff00003fff);
  return (value & 0x3f803f803f803f80) << 1 | (value & 0x007f007f007f007f);
}

// Writes `value` at `at`, where there must be room for 10 bytes, and returns the end. Most fields
// are either always or never one byte long, so that branch predicts well. The lengths of longer
// fields, above all displacements, follow no pattern, so no branch depends on them.
inline uint8_t* put_varint(uint8_t* at, uint64_t value) {
  if (value < 0x80) {
    *at = static_cast<uint8_t>(value);
    return at + 1;
  }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (value >> 56 == 0) [[likely]] {
    const int bits = 64 - __builtin_clzll(value);
    const int bytes = (bits * 9 + 64) >> 6;  // bits / 7, rounded up
    const uint64_t more = 0x8080808080808080 & ((uint64_t{1} << (8 * (bytes - 1))) - 1);
    const uint64_t all = varint_bytes(value) | more;
    std::memcpy(at, &all, sizeof all);
    return at + bytes;
  }
#endif
  while (value >= 0x80) {
    *at++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<uint8_t>(value);
  return at;
}

// Reads a varint from [*at, end). Returns false if it is truncated or longer than 64 bits.
inline bool get_varint(const uint8_t** at, const uint8_t* end, uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (*at == end) return false;
    const uint8_t byte = *(*at)++;
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) {
      *value = result;
      return true;
    }
  }
  return false;
}

}  // namespace nearcache
