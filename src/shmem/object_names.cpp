// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/object_names.h"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

#include "shmem/context.h"
#include "telemetry/report_file.h"

namespace nearcache::shmem {
namespace {

// The loaded object that contains an address.
struct Loaded {
  uint64_t address;   // the address looked for
  uint64_t base = 0;  // load offset: added to addresses in its file
  std::string path;   // empty if there is none
};

int holds_address(dl_phdr_info* object, size_t, void* data) {
  auto* wanted = static_cast<Loaded*>(data);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    const uint64_t begin = object->dlpi_addr + header.p_vaddr;
    if (header.p_type != PT_LOAD || wanted->address < begin ||
        wanted->address - begin >= header.p_memsz)
      continue;
    wanted->base = object->dlpi_addr;
    const bool program = object->dlpi_name == nullptr || object->dlpi_name[0] == '\0';
    wanted->path = program ? "/proc/self/exe" : object->dlpi_name;
    return 1;
  }
  return 0;
}

Loaded loaded_at(uint64_t address) {
  Loaded wanted{address, 0, {}};
  dl_iterate_phdr(holds_address, &wanted);
  return wanted;
}

std::string short_name(const Loaded& object) {
  if (object.path == "/proc/self/exe") return program_name();
  return object.path.substr(object.path.rfind('/') + 1);
}

struct Symbol {
  std::string name;  // empty if there is none
  uint64_t begin = 0, end = 0;
};

template <class T>
bool read_at(std::ifstream& file, uint64_t offset, T* to, size_t count = 1) {
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count * sizeof(T)));
  return file.good();
}

// Finds the symbol of `type` that contains `place`, an address in the file, in one symbol table.
Symbol symbol_in(std::ifstream& file, const ElfW(Shdr) & table, const ElfW(Shdr) & strings,
                 uint64_t place, unsigned type) {
  constexpr uint64_t most = uint64_t{1} << 24;  // symbols; more mean that the file is damaged
  const uint64_t count = table.sh_size / sizeof(ElfW(Sym));
  if (table.sh_entsize != sizeof(ElfW(Sym)) || count > most) return {};
  std::vector<ElfW(Sym)> symbols(count);
  if (!read_at(file, table.sh_offset, symbols.data(), symbols.size())) return {};
  for (const ElfW(Sym) & symbol : symbols) {
    if ((symbol.st_info & 15u) != type || symbol.st_shndx == SHN_UNDEF || place < symbol.st_value ||
        place - symbol.st_value >= symbol.st_size || symbol.st_name >= strings.sh_size)
      continue;
    char name[256] = {};
    const size_t length = std::min<uint64_t>(sizeof name - 1, strings.sh_size - symbol.st_name);
    if (!read_at(file, strings.sh_offset + symbol.st_name, name, length)) return {};
    return {name, symbol.st_value, symbol.st_value + symbol.st_size};
  }
  return {};
}

// The full symbol table has static symbols, too; in a stripped file only the dynamic one is left.
Symbol symbol_at(const Loaded& object, unsigned type) {
  std::ifstream file(object.path, std::ios::binary);
  ElfW(Ehdr) header;
  if (!file || !read_at(file, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_shentsize != sizeof(ElfW(Shdr)))
    return {};
  std::vector<ElfW(Shdr)> sections(header.e_shnum);
  if (!read_at(file, header.e_shoff, sections.data(), sections.size())) return {};
  for (const ElfW(Word) wanted : {ElfW(Word){SHT_SYMTAB}, ElfW(Word){SHT_DYNSYM}}) {
    for (const ElfW(Shdr) & section : sections) {
      if (section.sh_type != wanted || section.sh_link >= sections.size()) continue;
      const Symbol found =
          symbol_in(file, section, sections[section.sh_link], object.address - object.base, type);
      if (!found.name.empty())
        return {found.name, found.begin + object.base, found.end + object.base};
    }
  }
  return {};
}

}  // namespace

NamedObject symmetric_object_at(uint64_t address) {
  const SymmetricMemory::NamedRange named = context.memory.named_at(address);
  if (!named.name.empty()) return {named.name, named.begin, named.end};
  const SymmetricMemory::NumberedBlock block = context.memory.block_at(address);
  if (block.bytes != 0)
    return {"block " + std::to_string(block.number) + " of the symmetric heap (" +
                std::to_string(block.bytes) + " B)",
            block.begin, block.begin + block.bytes};
  const Loaded object = loaded_at(address);
  if (object.path.empty()) return {"memory that nobody allocated", address, 0};
  const Symbol symbol = symbol_at(object, STT_OBJECT);
  if (!symbol.name.empty()) return {symbol.name, symbol.begin, symbol.end};
  return {"static data of " + short_name(object), object.base, 0};
}

std::string code_at(const void* address) {
  const Loaded object = loaded_at(reinterpret_cast<uint64_t>(address));
  if (object.path.empty()) return {};
  const Symbol symbol = symbol_at(object, STT_FUNC);
  const uint64_t from = symbol.name.empty() ? object.base : symbol.begin;
  char place[32];
  snprintf(place, sizeof place, "+0x%llx", static_cast<unsigned long long>(object.address - from));
  if (symbol.name.empty()) return short_name(object).append(place);
  return std::string(symbol.name).append(place).append(" of ").append(short_name(object));
}

std::string program_caller() {
  void* frames[24];
  const int count = backtrace(frames, 24);
  const Loaded ours = loaded_at(reinterpret_cast<uint64_t>(&program_caller));
  for (int i = 0; i < count; ++i) {
    // one byte back: a frame has the return address, which may belong to the next function
    const void* call = static_cast<const char*>(frames[i]) - 1;
    const Loaded object = loaded_at(reinterpret_cast<uint64_t>(call));
    if (!object.path.empty() && object.path != ours.path) return code_at(call);
  }
  return {};
}

}  // namespace nearcache::shmem
