// SPDX-License-Identifier: BSD-3-Clause
#include "graph/memory.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>

#include <fmt/core.h>

namespace apps {
namespace {

constexpr auto unknown = std::numeric_limits<std::uint64_t>::max();

std::uint64_t first_number(const char* path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? number : unknown;  // "max" is not a number: no limit
}

std::uint64_t kernel_available() {
  std::ifstream file("/proc/meminfo");
  std::string key, rest;
  std::uint64_t kibibytes = 0;
  while (file >> key >> kibibytes) {
    if (key == "MemAvailable:") return kibibytes * 1024;
    std::getline(file, rest);
  }
  return unknown;
}

std::uint64_t control_group_available() {
  const auto limit = first_number("/sys/fs/cgroup/memory.max");
  const auto used = first_number("/sys/fs/cgroup/memory.current");
  if (limit == unknown || used == unknown) return unknown;
  return limit > used ? limit - used : 0;
}

}  // namespace

std::uint64_t available_memory() { return std::min(kernel_available(), control_group_available()); }

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 6) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

}  // namespace apps
