// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process/host_defects.h"

#include <array>
#include <cctype>
#include <charconv>

namespace nearcache::mpi {
namespace {

using Version = std::array<int, 3>;

// Parses the numbers at the start of a text: "4.0.2rc1" is 4.0.2, "5.0" is 5.0.0.
Version parse_version(std::string_view text) {
  Version version{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int& number : version) {
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc() || stop == end || *stop != '.') break;
    at = stop + 1;
  }
  return version;
}

struct Host {
  std::string_view library;
  Version version{};
  bool is_known = false;  // the version number is known
};

// Finds the version that follows `before`, if the text contains that.
bool find_version(std::string_view text, std::string_view before, Version* version) {
  size_t at = text.find(before);
  if (at == std::string_view::npos) return false;
  at += before.size();
  while (at < text.size() &&
         (std::isspace(static_cast<unsigned char>(text[at])) != 0 || text[at] == 'v'))
    ++at;
  *version = parse_version(text.substr(at));
  return *version != Version{};
}

// Even behind the standard ABI, the library reports its own name.
Host host_of(std::string_view text) {
  Host host;
  if (text.starts_with("MPICH Version:")) {
    host.library = "mpich";
    host.is_known = find_version(text, "MPICH Version:", &host.version);
  } else if (text.starts_with("Open MPI")) {
    host.library = "openmpi";
    host.is_known = find_version(text, "Open MPI", &host.version);
  } else {
    for (const std::string_view derived : {"MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"}) {
      if (text.find(derived) != std::string_view::npos) host.library = "mpich";
    }
  }
  return host;
}

bool concerns(const Host& host, std::string_view library, std::string_view first,
              std::string_view last) {
  if (host.library != library) return false;
  if (!host.is_known) return last.empty();
  return host.version >= parse_version(first) &&
         (last.empty() || host.version <= parse_version(last));
}

}  // namespace

HostDefects::HostDefects(std::string_view version) {
  const Host host = host_of(version);
#define NEARCACHE_HOST_DEFECT(name, library, first, last, what, answer) \
  if (concerns(host, #library, first, last))                            \
    bits_ |= uint32_t{1} << static_cast<unsigned>(HostDefect::name);
#include "mpi/process/host_defects.def"
#undef NEARCACHE_HOST_DEFECT
}

}  // namespace nearcache::mpi
