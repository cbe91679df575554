// The binary trace of one rank's gets and synchronisation: what lies in the file (docs/trace.md is
// the same for readers).
//
//   header, then blocks. Little-endian. A block is decoded alone: what records are relative to
//   starts anew with each, so that a block that had to be dropped costs its own records only. A
//   file whose last record is not `end` was cut short.
//
//   header   magic[8] "NCTRACE\n", u32 version, u32 bytes of the header, u32 rank, u32 ranks (of
//            MPI_COMM_WORLD), u64 start (ns, CLOCK_REALTIME: comparable between ranks), then texts
//            (u32 bytes, characters): host, program, library, network model (empty: none);
//            version 2: also the API, "OpenSHMEM"
//   block    u32 magic, u32 bytes of its records, u32 number of records, u32 0, u64 ns since the
//            start, u64 records dropped before it
//
//   record   one byte: kind | detail << 3, then the fields below as variable-length integers: seven
//            bits a byte, the lowest first, bit 7 set on all but the last. `signed` ones are zigzag
//            (0, -1, 1, -2, ... as 0, 1, 2, 3, ...).
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
//   cost         0                    bytes, ns: a get of that size took so long, with its share of
//                                     the synchronisation
//   owner_write  0                    first byte, bytes, ns: own memory of the selected window was
//                                     written by this rank (or by arriving writes) within so long
//                                     before now; whole pages
//   time         0                    ns since the last time (the block's, at its start)
//   end          0                    ns since the start, gets, records dropped in all
//
// get, write, sync (but `acquire`) and owner_write are of the window selected last. "Last" target
// and displacement are those of the last get or write of the block, 0 at its start. Displacements
// are bytes of the target's window memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/outcome.h"

namespace nearcache {

inline constexpr char trace_magic[9] = "NCTRACE\n";
// Version 2 is of OpenSHMEM: one more text in the header, and records that version 1 has not.
inline constexpr uint32_t trace_version = 1, trace_version_of_apis = 2;
inline constexpr uint32_t trace_block_magic = 0x4b42434e;  // "NCBK"
inline constexpr size_t trace_block_header_bytes = 32;

enum class TraceKind : uint8_t { get, sync, write, window, cost, owner_write, time, end };

// What was called. `acquire` is any other call by which a program may learn of another's write (a
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
  // OpenSHMEM, of a context: a quiet; a fence; a call that completes what was written, such as a
  // barrier; one that starts that, such as a wait.
  quiet,
  order,
  release,
  write_back
};
inline constexpr int trace_syncs = 19;

// What a cost record is of; version 1 has gets only.
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

// The bytes of a varint of 56 bits at most as one number, the first lowest, without the bits that
// say whether more follow.
inline uint64_t varint_bytes(uint64_t value) {
  value = (value & 0x00fffffff0000000) << 4 | (value & 0x0fffffff);
  value = (value & 0x0fffc0000fffc000) << 2 | (value & 0x00003fff00003fff);
  return (value & 0x3f803f803f803f80) << 1 | (value & 0x007f007f007f007f);
}

// Writes `value` at `at`, where there must be room for 10 bytes, and returns its end. Most fields
// are always or never of one byte. The lengths of others follow no pattern, those of displacements
// above all: no branch hangs on them.
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

// Reads a varint from [*at, end). False if it is cut off or longer than 64 bits.
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
