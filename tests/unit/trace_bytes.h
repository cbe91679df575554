// Traces made by hand for tests, byte for byte, independent of the library's own writer.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "telemetry/trace_format.h"

namespace nearcache::test {

class TraceBytes {
 public:
  std::vector<uint8_t> bytes;

  explicit TraceBytes(uint32_t rank = 0, uint32_t ranks = 4,
                      const std::string& program = "by-hand") {
    bytes.assign(trace_magic, trace_magic + 8);
    number(trace_version, 4);
    number(32 + 4 * 4 + program.size(), 4);
    number(rank, 4);
    number(ranks, 4);
    number(1000000, 8);
    for (const std::string& text : {std::string(), program, std::string(), std::string()}) {
      number(text.size(), 4);
      bytes.insert(bytes.end(), text.begin(), text.end());
    }
  }

  TraceBytes& block(uint64_t ns = 0, uint64_t dropped = 0) {
    close();
    block_ = bytes.size();
    number(trace_block_magic, 4);
    for (const int width : {4, 4, 4}) number(0, width);
    number(ns, 8);
    number(dropped, 8);
    target_ = 0;
    displacement_ = 0;
    return *this;
  }
  // Fills in the block's header; called by `block` and `end`.
  TraceBytes& close() {
    if (block_ == 0) return *this;
    patch(block_ + 4, bytes.size() - block_ - trace_block_header_bytes);
    patch(block_ + 8, records_);
    block_ = 0;
    records_ = 0;
    return *this;
  }

  TraceBytes& created(uint64_t id, uint32_t rank, uint32_t ranks, uint8_t mode,
                      const std::string& name = "", uint64_t unit = 1, uint64_t memory = 1 << 20) {
    head(TraceKind::window, TraceWindow::created);
    for (const uint64_t value :
         {id, uint64_t{rank}, uint64_t{ranks}, memory, unit, uint64_t{mode}, uint64_t{name.size()}})
      varint(value);
    bytes.insert(bytes.end(), name.begin(), name.end());
    return *this;
  }
  TraceBytes& select(uint64_t id) {
    return head(TraceKind::window, TraceWindow::select).varint(id);
  }
  TraceBytes& freed(uint64_t id) { return head(TraceKind::window, TraceWindow::freed).varint(id); }
  TraceBytes& mode(uint64_t id, uint8_t mode) {
    return head(TraceKind::window, TraceWindow::mode).varint(id).varint(mode);
  }
  TraceBytes& get(uint32_t target, int64_t displacement, uint64_t size,
                  Outcome outcome = Outcome::uncached) {
    return head(TraceKind::get, outcome).place(target, displacement).varint(size);
  }
  TraceBytes& scattered(uint32_t target, int64_t displacement, uint64_t size, uint32_t layout,
                        int64_t lowest, uint64_t span) {
    head(TraceKind::get, static_cast<unsigned>(Outcome::direct) | 16u)
        .place(target, displacement)
        .varint(size);
    return varint(layout).varint(zigzag(lowest - displacement)).varint(span);
  }
  TraceBytes& sync(TraceSync kind, int target = -1) {
    return head(TraceKind::sync, kind).varint(static_cast<uint64_t>(target + 1));
  }
  TraceBytes& write(uint32_t target, int64_t displacement, uint64_t size,
                    TraceWrite kind = TraceWrite::put) {
    return head(TraceKind::write, kind).place(target, displacement).varint(size);
  }
  TraceBytes& cost(uint64_t size, uint64_t ns) {
    return head(TraceKind::cost, 0u).varint(size).varint(ns);
  }
  TraceBytes& owner_write(uint64_t first, uint64_t size, uint64_t within) {
    return head(TraceKind::owner_write, 0u).varint(first).varint(size).varint(within);
  }
  TraceBytes& time(uint64_t ns) { return head(TraceKind::time, 0u).varint(ns); }
  TraceBytes& end(uint64_t gets = 0, uint64_t dropped = 0) {
    head(TraceKind::end, 0u).varint(0).varint(gets).varint(dropped);
    return close();
  }

  template <class Detail>
  TraceBytes& head(TraceKind kind, Detail detail) {
    ++records_;
    bytes.push_back(trace_head(kind, static_cast<unsigned>(detail)));
    return *this;
  }
  TraceBytes& varint(uint64_t value) {
    uint8_t text[10];
    uint8_t* const end = put_varint(text, value);
    bytes.insert(bytes.end(), text, end);
    return *this;
  }

 private:
  void number(uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  void patch(size_t at, uint64_t value) {
    for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<uint8_t>(value >> (8 * i));
  }
  TraceBytes& place(uint32_t target, int64_t displacement) {
    varint(zigzag(static_cast<int64_t>(target) - target_));
    varint(zigzag(static_cast<int64_t>(static_cast<uint64_t>(displacement) -
                                       static_cast<uint64_t>(displacement_))));
    target_ = target;
    displacement_ = displacement;
    return *this;
  }

  size_t block_ = 0;
  uint32_t records_ = 0;
  int64_t target_ = 0, displacement_ = 0;
};

// A folder that is removed after the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "nearcache-trace-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::vector<uint8_t>& bytes) const {
    std::ofstream(file(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return file(name);
  }
  std::string write(const std::string& name, TraceBytes& trace) const {
    return write(name, trace.close().bytes);
  }

 private:
  std::filesystem::path path_;
};

// A file in memory, for tests that need thousands of damaged files.
class MemoryFile {
 public:
  MemoryFile() : file_(memfd_create("nearcache-trace", MFD_CLOEXEC)) {}
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Writes `bytes` to the file and returns its path.
  std::string write(const std::vector<uint8_t>& bytes) const {
    const bool written =
        ftruncate(file_, static_cast<off_t>(bytes.size())) == 0 &&
        pwrite(file_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    return written ? "/proc/self/fd/" + std::to_string(file_) : std::string();
  }

 private:
  int file_;
};

// Returns `whole` with a few bytes changed.
template <class Random>
std::vector<uint8_t> damaged(std::vector<uint8_t> whole, Random& random) {
  for (uint64_t flips = 1 + random() % 4; flips > 0; --flips) {
    uint8_t& byte = whole[random() % whole.size()];
    byte = random() % 2 ? static_cast<uint8_t>(random())
                        : static_cast<uint8_t>(byte ^ 1u << random() % 8);
  }
  return whole;
}

}  // namespace nearcache::test
