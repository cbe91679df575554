// SPDX-License-Identifier: BSD-3-Clause
#include "base/loaded_objects.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>

namespace nearcache {
namespace {

struct Relocations {
  const ElfW(Rela) * first = nullptr;
  size_t bytes = 0;
};

struct SymbolTable {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const uint32_t* gnu_hash = nullptr;
  const uint32_t* hash = nullptr;
  std::array<Relocations, 2> relocations;  // of data, of calls
};

struct GnuHash {
  explicit GnuHash(const uint32_t* table)
      : buckets(table[0]),
        first(table[1]),
        bucket(reinterpret_cast<const uint32_t*>(reinterpret_cast<const ElfW(Addr) *>(table + 4) +
                                                 table[2])),
        chain(bucket + buckets) {}
  uint32_t buckets, first;  // `first`: index of the first symbol in the table
  const uint32_t* bucket;
  const uint32_t* chain;  // hashes of symbols from `first` on; a set lowest bit ends a chain
};

// Returns one more than the number of the last symbol that the object uses.
size_t count_of_used(const SymbolTable& table) {
  size_t last = 0;
  for (const Relocations& some : table.relocations) {
    for (size_t i = 0; i < some.bytes / sizeof *some.first; i++)
      last = std::max<size_t>(last, ELF64_R_SYM(some.first[i].r_info));
  }
  return last + 1;
}

// DT_GNU_HASH does not record the number of symbols: the last symbol is the end of the chain that
// starts last. Where nothing is defined, not even the first one need be right.
size_t count_of(const SymbolTable& table) {
  if (table.hash) return table.hash[1];
  if (!table.gnu_hash) return 0;
  const GnuHash hash(table.gnu_hash);
  uint32_t last = 0;
  for (uint32_t i = 0; i < hash.buckets; i++) last = std::max(last, hash.bucket[i]);
  if (last < hash.first) return count_of_used(table);
  while ((hash.chain[last - hash.first] & 1) == 0) last++;
  return last + 1;
}

SymbolTable symbol_table(const LoadedObject& object) {
  SymbolTable found;
  // glibc relocates these addresses in place in most objects; other objects (the vDSO) hold
  // offsets.
  const auto address = [&](ElfW(Addr) value) {
    return value < object.base ? value + object.base : value;
  };
  for (const auto* entry = static_cast<const ElfW(Dyn)*>(object.dynamic);
       entry && entry->d_tag != DT_NULL; entry++) {
    const auto at = address(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) found.symbols = reinterpret_cast<const ElfW(Sym)*>(at);
    if (entry->d_tag == DT_STRTAB) found.names = reinterpret_cast<const char*>(at);
    if (entry->d_tag == DT_GNU_HASH) found.gnu_hash = reinterpret_cast<const uint32_t*>(at);
    if (entry->d_tag == DT_HASH) found.hash = reinterpret_cast<const uint32_t*>(at);
    if (entry->d_tag == DT_RELA)
      found.relocations[0].first = reinterpret_cast<const ElfW(Rela)*>(at);
    if (entry->d_tag == DT_RELASZ) found.relocations[0].bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_JMPREL)
      found.relocations[1].first = reinterpret_cast<const ElfW(Rela)*>(at);
    if (entry->d_tag == DT_PLTRELSZ) found.relocations[1].bytes = entry->d_un.d_val;
  }
  return found;
}

// Looks up a symbol in the hash table, which contains defined symbols only.
bool defines_by_hash(const SymbolTable& table, std::string_view symbol) {
  const GnuHash hash(table.gnu_hash);
  uint32_t sum = 5381;
  for (const char c : symbol) sum = sum * 33 + static_cast<unsigned char>(c);
  uint32_t at = hash.buckets > 0 ? hash.bucket[sum % hash.buckets] : 0;
  if (at < hash.first) return false;
  for (;; ++at) {
    const uint32_t entry = hash.chain[at - hash.first];
    if ((entry | 1) == (sum | 1) && symbol == table.names + table.symbols[at].st_name)
      return table.symbols[at].st_shndx != SHN_UNDEF;
    if (entry & 1) return false;
  }
}

int add_object(dl_phdr_info* info, size_t, void* list) {
  LoadedObject object;
  object.path = info->dlpi_name ? info->dlpi_name : "";
  object.base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& header = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD) object.segments.emplace_back(begin, begin + header.p_memsz);
    if (header.p_type == PT_DYNAMIC) object.dynamic = reinterpret_cast<const void*>(begin);
  }
  static_cast<std::vector<LoadedObject>*>(list)->push_back(std::move(object));
  return 0;
}

}  // namespace

std::string_view LoadedObject::name() const {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string_view(path)
                                    : std::string_view(path).substr(slash + 1);
}

bool LoadedObject::contains(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return std::any_of(segments.begin(), segments.end(),
                     [at](const auto& s) { return at >= s.first && at < s.second; });
}

std::vector<LoadedObject> loaded_objects() {
  std::vector<LoadedObject> objects;
  dl_iterate_phdr(add_object, &objects);
  return objects;
}

unsigned long long count_of_loads() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* sum) {
        *static_cast<unsigned long long*>(sum) = info->dlpi_adds + info->dlpi_subs;
        return 1;
      },
      &count);
  return count;
}

void for_each_symbol(const LoadedObject& object,
                     const std::function<bool(const char*, bool)>& visit) {
  const SymbolTable table = symbol_table(object);
  if (!table.symbols || !table.names) return;
  const size_t count = count_of(table);
  for (size_t i = 1; i < count; i++) {
    const auto& symbol = table.symbols[i];
    if (!visit(table.names + symbol.st_name, symbol.st_shndx != SHN_UNDEF)) return;
  }
}

bool defines_symbol(const LoadedObject& object, std::string_view symbol) {
  const SymbolTable table = symbol_table(object);
  if (table.gnu_hash && table.symbols && table.names) return defines_by_hash(table, symbol);
  bool found = false;
  for_each_symbol(object, [&](const char* name, bool defined) {
    found = defined && symbol == name;
    return !found;
  });
  return found;
}

}  // namespace nearcache
