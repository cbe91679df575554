// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/static_data.h"

#include <link.h>

#include <algorithm>

#include "base/kernel_page.h"
#include "base/round.h"

namespace nearcache::shmem {
namespace {

void add_part(std::vector<Extent>* parts, uint64_t begin, uint64_t end) {
  if (begin < end) parts->push_back({begin, end});
}

int add_object(dl_phdr_info* object, size_t, void* list) {
  auto* parts = static_cast<std::vector<Extent>*>(list);
  const uint64_t page = kernel_page();
  uint64_t read_only_end = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    if (header.p_type == PT_GNU_RELRO)
      read_only_end = round_up(object->dlpi_addr + header.p_vaddr + header.p_memsz, page);
  }
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    uint64_t begin = object->dlpi_addr + header.p_vaddr;
    const uint64_t end = begin + header.p_memsz;
    const uint64_t from_file = std::min(end, round_up(begin + header.p_filesz, page));
    if (read_only_end > begin && read_only_end <= round_up(end, page)) begin = read_only_end;
    add_part(parts, begin, from_file);
    add_part(parts, std::max(begin, from_file), end);
  }
  return 0;
}

}  // namespace

std::vector<Extent> static_data() {
  std::vector<Extent> parts;
  dl_iterate_phdr(add_object, &parts);
  return parts;
}

}  // namespace nearcache::shmem
