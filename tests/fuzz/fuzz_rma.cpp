// Runs the RMA engine on what a broken or hostile rank may send: damaged batches of sound messages,
// and arbitrary bytes. Nothing outside the windows may be read or written, nothing may crash, and
// an honest rank must still be served.
#include <cstring>
#include <memory>
#include <utility>

#include "fuzz.h"
#include "input.h"
#include "net/stub_network.h"
#include "rma/engine.h"

namespace nearcache::test {
namespace {

using namespace nearcache::rma;

constexpr int hostile = 0, victim = 1, honest = 2, ranks = 3;
// guard bytes around the window's memory; enough words that the body of a put may come separately
constexpr size_t guard = 64, words = many_bytes / 8 + 32;

class Attack {
 public:
  Attack(Input input, uint64_t seed)
      : input_(input), seed_(seed), memory_(words + 2 * guard, 0x5a5a5a5a5a5a5a5au) {
    begin();
  }

  // Once the hostile rank has been detected, everything that it sends is ignored; it then returns
  // as a new rank.
  void begin() {
    windows_.clear();
    engines_.clear();
    network_ = std::make_unique<net::StubNetwork>(ranks, seed_);
    network_->reach_memory();
    for (int rank = 0; rank < ranks; ++rank) {
      engines_.push_back(std::make_unique<Engine>(&network_->fabric(rank)));
      windows_.push_back(engines_.back()->open(
          1, Members(ranks),
          Memory::fixed(memory_.data() + guard, rank == victim ? words * 8 : 0, 8)));
    }
    engines_[victim]
        ->open(2, Members(ranks), Memory::dynamic())
        ->exposure()
        .memory()
        .attach(memory_.data() + guard, words * 8);
  }

  std::string run() {
    while (!input_.empty()) {
      // The victim waits for replies whose tokens the hostile rank may guess.
      uint64_t own = 1, old = 2;
      std::vector<std::byte> many(many_bytes);
      const uint8_t what = input_.byte() % 8;
      if (what < 2) fetch(victim, hostile, &own, &old);
      if (what == 2 || what == 3) get(victim, hostile, many);
      if (what == 3) fetch(victim, hostile, &own, &old);  // whose answer must not come first
      // It also asks where the memory is, and may get an answer.
      if (what >= 6) read(victim, hostile);
      network_->fabric(hostile).send(victim, batch());
      settle();
      if (engines_[victim]->is_lost(hostile)) begin();
    }
    for (size_t i = 0; i < memory_.size(); ++i) {
      if ((i < guard || i >= guard + words) && memory_[i] != 0x5a5a5a5a5a5a5a5au)
        return "memory outside of the window was written";
    }
    // A lock that the hostile rank holds may stay held; a rank that does not ask for one is served.
    uint64_t one = 1, old = 99;
    memory_[guard] = 7;
    const Mark mark = fetch(honest, victim, &one, &old);
    settle();
    if (!windows_[honest]->reached(victim, mark) || old != 7 || memory_[guard] != 8)
      return "an honest rank was not served";
    return {};
  }

 private:
  Mark fetch(int origin, int target, uint64_t* value, uint64_t* old) {
    Transfer transfer{.kind = Kind::fetch,
                      .target = target,
                      .displacement = 0,
                      .length = 8,
                      .data = reinterpret_cast<std::byte*>(value),
                      .result = reinterpret_cast<std::byte*>(old),
                      .element = Element::uint64,
                      .operation = Operation::sum};
    windows_[static_cast<size_t>(origin)]->issue(&transfer);
    const Mark mark = windows_[static_cast<size_t>(origin)]->flush(target);
    engines_[static_cast<size_t>(origin)]->push();
    return mark;
  }

  void get(int origin, int target, std::span<std::byte> to) {
    Transfer transfer{
        .kind = Kind::get, .target = target, .length = to.size(), .result = to.data()};
    windows_[static_cast<size_t>(origin)]->issue(&transfer);
    engines_[static_cast<size_t>(origin)]->push();
  }

  void read(size_t origin, int target) {
    Transfer transfer{.kind = Kind::get,
                      .target = target,
                      .length = many_.size() * 8,
                      .result = reinterpret_cast<std::byte*>(many_.data())};
    windows_[origin]->issue(&transfer);
    windows_[origin]->flush(target);
    engines_[origin]->push();
  }

  void settle() {
    for (int rank; (rank = network_->draw()) >= 0;) engines_[static_cast<size_t>(rank)]->poll();
    engines_[victim]->poll();
    // What it would have been given lies in `run`, and is gone with the turn.
    if (!windows_[victim]->all_reached()) engines_[victim]->lost(hostile, "the test ends it");
  }

  int64_t place() {
    switch (input_.byte() % 8) {
      case 0:
        return static_cast<int64_t>(uint64_t{input_.byte()} << 56 | input_.byte());
      case 1:
        return reinterpret_cast<int64_t>(memory_.data() + guard) +
               static_cast<int64_t>(input_.below(600)) - 100;
      default:
        return static_cast<int64_t>(input_.below(80)) - 20;
    }
  }
  uint64_t length() {
    return input_.byte() % 8 == 0 ? uint64_t{input_.byte()} << (input_.byte() % 58)
                                  : input_.below(40) * (input_.byte() % 2 == 0 ? 8 : 1);
  }

  std::vector<std::byte> batch() {
    BatchWriter writer;
    for (uint32_t left = 1 + input_.byte() % 4; left > 0; --left) {
      Head head{.kind = static_cast<Kind>(input_.byte() % kind_count)};
      head.element = static_cast<Element>(input_.byte() % element_count);
      head.operation = static_cast<Operation>(input_.byte() % operation_count);
      head.window = 1 + input_.byte() % 9 / 4;
      head.displacement = place();
      head.offset = input_.byte() % 8 == 0 ? static_cast<uint64_t>(place()) : 0;
      head.length = length();
      head.token = input_.byte() % 2 == 0 ? input_.byte() : uint64_t{1} << 32 | input_.byte() % 4;
      if (head.kind == Kind::compare_and_swap) head.length %= 20;
      std::vector<Piece> pieces;
      if (input_.byte() % 2 == 0) {
        for (uint32_t i = input_.byte() % 5; i > 0; --i) pieces.push_back({place(), length()});
        if (input_.byte() % 4 != 0) {
          head.length = 0;
          for (const Piece& piece : pieces) head.length += piece.length;
        }
      }
      if (head.kind == Kind::tell_layout) {
        head.token = input_.byte() % 4;
        head.length = pieces.size() + input_.byte() % 8 / 7;
        head.offset = static_cast<uint64_t>(place());
      } else if (is_operation(head.kind) && input_.byte() % 4 == 0) {
        head.by_layout = 1;
        pieces = {{input_.byte() % 4, length()}};
      }
      if (head.kind == Kind::puts) {
        pieces.clear();
        head.by_layout = 0;
        head.length = input_.below(70);
        head.offset = input_.below(6);
      }
      if (input_.byte() % 8 == 0) {
        head.length = many_bytes + input_.byte() % 4 / 3 * 8;
        head.by_layout = 0;
        head.offset = 0;
        pieces.clear();
        if (head.kind == Kind::puts) head.length = 8, head.offset = many_bytes / 16;
        if (head.kind == Kind::compare_and_swap) head.length = 8;
      }
      head.has_pieces(pieces.size());
      if (head.length > 2 * many_bytes && data_bytes(head) != 0) {
        // The head announces more than arrives.
        const uint64_t promised = std::exchange(head.length, 64);
        writer.append(head, pieces);
        const_cast<Head*>(reinterpret_cast<const Head*>(writer.bytes().data()))->length = promised;
      } else {
        std::byte* const data = writer.append(head, pieces);
        std::memset(data, static_cast<int>(input_.byte()), data_bytes(head));
        for (uint64_t i = 0; head.kind == Kind::puts && i < head.offset; ++i) {
          const int64_t displacement = place();
          std::memcpy(data + i * bytes_of_few(head.length), &displacement, sizeof displacement);
        }
      }
    }
    std::vector<std::byte> bytes(writer.bytes().begin(), writer.bytes().end());
    if (input_.byte() % 4 == 0) {
      for (int i = 0; i < 3; ++i)
        bytes[input_.below(static_cast<uint32_t>(std::min<size_t>(bytes.size(), 65535)))] =
            static_cast<std::byte>(input_.byte());
      bytes.resize(bytes.size() - input_.below(8));
    }
    return bytes;
  }

  Input input_;
  uint64_t seed_;
  std::unique_ptr<net::StubNetwork> network_;
  std::vector<uint64_t> memory_;
  std::vector<uint64_t> many_ = std::vector<uint64_t>(1024);
  std::vector<std::unique_ptr<Engine>> engines_;
  std::vector<Window*> windows_;
};

}  // namespace

const char* const fuzz_target = "fuzz_rma";

std::vector<uint8_t> fuzz_input(uint64_t seed) { return arbitrary_bytes(seed); }

std::string run_fuzz_target(const uint8_t* input, size_t size) {
  return Attack(Input(input, size), size).run();
}

}  // namespace nearcache::test
