// Random programs against an oracle that executes them one operation after the other. In each phase
// a cell (a few words, always equal) belongs to one origin, which may do anything to it, or all
// ranks add to it. Where the network accesses memory itself, only a flush orders operations, as MPI
// defines.
#include "rma_job.h"

#include <deque>
#include <map>
#include <random>
#include <set>

#include "rma/engine.h"
#include "sanitized.h"

namespace nearcache::rma {
namespace TEST_FILE {

using test::Job;
using test::Memories;
using test::Network;

constexpr size_t cells = 24;
constexpr int everybody = -1;
constexpr size_t words_of_short_runs = 40;  // a cell: two of them are many runs

struct Fetched {
  std::vector<uint64_t> got, expected;
};

class Program {
 public:
  Program(int ranks, uint64_t seed, int on_node, Memories memories = Memories::arena,
          Network network = Network::messages, size_t words_of_cell = 1)
      : job_(ranks, seed, cells * words_of_cell, on_node, memories, network),
        random_(seed),
        ordered_(network == Network::messages),
        words_(words_of_cell),
        oracle_(static_cast<size_t>(ranks), std::vector<uint64_t>(cells)) {}

  void run(int phases) {
    for (int phase = 0; phase < phases && !testing::Test::HasFailure(); ++phase) {
      owner_.assign(oracle_.size() * cells, everybody);
      for (int& owner : owner_) owner = below(2) == 0 ? everybody : below(job_.ranks());
      const bool passive = below(2) == 0;
      for (int i = 0; i < 12 * job_.ranks(); ++i) {
        operate(below(job_.ranks()), below(job_.ranks()), passive);
        for (int k = below(3); k > 0; --k) job_.step();
      }
      touched_.clear();
      if (passive) {
        ASSERT_TRUE(job_.all_transferred());
        for (int rank = 0; rank < job_.ranks(); ++rank) {
          job_.window(rank).unlock_all();
          for (int target = 0; target < job_.ranks(); ++target)
            ASSERT_TRUE(job_.flush(rank, target));
        }
      } else {
        ASSERT_TRUE(job_.fence());
      }
      check();
    }
  }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  uint64_t& oracle(int target, size_t word) { return oracle_[static_cast<size_t>(target)][word]; }
  int owner(int target, size_t word) const {
    return owner_[static_cast<size_t>(target) * cells + word];
  }

  // Returns words to which the origin may do this, as pieces in any order.
  std::vector<size_t> choose(int origin, int target, bool alone) {
    std::vector<size_t> chosen;
    for (int i = 1 + below(4); i > 0; --i) {
      const auto word = static_cast<size_t>(below(cells));
      const int whose = owner(target, word);
      if ((alone ? whose == origin : whose == everybody) &&
          std::ranges::find(chosen, word) == chosen.end())
        chosen.push_back(word);
    }
    return chosen;
  }

  void operate(int origin, int target, bool passive) {
    const bool alone = below(3) != 0;
    const std::vector<size_t> chosen = choose(origin, target, alone);
    if (chosen.empty()) return;
    std::vector<Piece> pieces;
    std::vector<uint64_t> data;
    const bool by_words = words_ > 1 && words_ <= words_of_short_runs && below(2) == 0;
    for (const size_t cell : chosen) {
      const auto begin = static_cast<int64_t>(cell * words_ * 8);
      for (size_t i = 0; by_words && i < words_; ++i)
        pieces.push_back({begin + static_cast<int64_t>(8 * i), 8});
      if (!by_words) pieces.push_back({begin, words_ * 8});
      data.insert(data.end(), words_, random_() % 1000);
    }
    if (!ordered_) keep_apart(origin, target, chosen);
    Fetched& fetched = fetched_.emplace_back();
    fetched.got.assign(data.size(), 0);
    Transfer transfer{.kind = Kind::accumulate,
                      .target = target,
                      .displacement = 0,
                      .length = data.size() * 8,
                      .pieces = pieces,
                      .data = Job::bytes(data[0]),
                      .result = reinterpret_cast<std::byte*>(fetched.got.data()),
                      .element = Element::uint64,
                      .operation = Operation::sum};
    if (alone) {
      constexpr Kind kinds[] = {Kind::put, Kind::get, Kind::accumulate, Kind::fetch};
      constexpr Operation operations[] = {Operation::replace, Operation::no_op, Operation::sum,
                                          Operation::bit_xor, Operation::maximum};
      transfer.kind = kinds[below(4)];
      transfer.operation = transfer.kind == Kind::put || transfer.kind == Kind::get
                               ? Operation::replace
                               : operations[below(5)];
      for (size_t i = 0; i < chosen.size(); ++i)
        execute(transfer, oracle(target, chosen[i]), data[i * words_], &fetched);
    } else {
      for (size_t i = 0; i < chosen.size(); ++i) oracle(target, chosen[i]) += data[i * words_];
    }
    if (fetched.expected.empty()) fetched.got.clear();
    if (passive && locked_.insert(origin).second) job_.window(origin).lock_all(false);
    if (transfer.kind == Kind::put && words_ == 1 && below(2) == 0) {
      for (size_t i = 0; i < chosen.size(); ++i)
        ASSERT_TRUE(job_.put(origin, target, static_cast<int64_t>(chosen[i]), data[i]));
    } else {
      ASSERT_TRUE(job_.issue(origin, transfer));
    }
    if (below(3) == 0) job_.window(origin).flush(target);
  }

  void keep_apart(int origin, int target, const std::vector<size_t>& chosen) {
    std::set<size_t>& touched = touched_[{origin, target}];
    if (std::ranges::any_of(chosen, [&](size_t cell) { return touched.contains(cell); })) {
      ASSERT_TRUE(job_.flush(origin, target));
      touched.clear();
    }
    touched.insert(chosen.begin(), chosen.end());
  }

  void execute(const Transfer& transfer, uint64_t& word, uint64_t data, Fetched* fetched) const {
    if (transfer.kind == Kind::get || transfer.kind == Kind::fetch)
      fetched->expected.insert(fetched->expected.end(), words_, word);
    if (transfer.kind == Kind::get) return;
    switch (transfer.operation) {
      case Operation::replace:
        word = data;
        break;
      case Operation::sum:
        word += data;
        break;
      case Operation::bit_xor:
        word ^= data;
        break;
      case Operation::maximum:
        word = std::max(word, data);
        break;
      default:
        break;
    }
  }

  void check() {
    locked_.clear();
    ASSERT_TRUE(job_.run([&] {
      return std::ranges::all_of(job_.windows, [](Window* each) { return each->all_landed(); });
    }));
    for (size_t rank = 0; rank < oracle_.size(); ++rank) {
      for (size_t i = 0; i < cells * words_; ++i)
        ASSERT_EQ(job_.memory[rank][i], oracle_[rank][i / words_]) << "rank " << rank;
    }
    for (const Fetched& each : fetched_) EXPECT_EQ(each.got, each.expected);
    for (Window* each : job_.windows) EXPECT_EQ(each->take_error(), Status::ok);
    fetched_.clear();
  }

  Job job_;
  std::mt19937_64 random_;
  bool ordered_;
  size_t words_;                                             // of a cell
  std::map<std::pair<int, int>, std::set<size_t>> touched_;  // since the last flush
  std::vector<std::vector<uint64_t>> oracle_;
  std::vector<int> owner_;  // of each word of each rank
  std::set<int> locked_;
  std::deque<Fetched> fetched_;

 public:
  uint64_t transfers() const { return job_.network.transfers(); }
};

TEST(RmaRandom, ProgramsDoWhatTheOracleSays) {
  for (uint64_t seed = 0; seed < steps_of<uint64_t>(2000); ++seed) {  // 10^6 operations
    SCOPED_TRACE(seed);
    constexpr int sizes[] = {1, 2, 3, 5, 16};
    for (const int on_node : {1, 2, 16}) {
      SCOPED_TRACE(on_node);
      constexpr Memories memories[] = {Memories::arena, Memories::process, Memories::refused};
      Program(sizes[seed % 5], seed, on_node, memories[seed % 3]).run(8);
      if (HasFailure()) return;
    }
  }
  Program(200, 1, 1).run(2);
  Program(200, 1, 8).run(2);
  Program(200, 1, 8, Memories::process).run(2);
}

TEST(RmaRandom, ProgramsDoWhatTheOracleSaysWhereManyShortRunsGoByMessages) {
  for (uint64_t seed = 0; seed < steps_of<uint64_t>(200); ++seed) {
    SCOPED_TRACE(seed);
    constexpr int sizes[] = {2, 3, 5, 16};
    Program(sizes[seed % 4], seed, seed % 3 == 2 ? 3 : 16, Memories::process, Network::messages,
            words_of_short_runs)
        .run(8);
    if (HasFailure()) return;
  }
}

TEST(RmaRandom, ProgramsDoWhatTheOracleSaysWhereTheNetworkReachesMemory) {
  uint64_t transfers = 0;
  for (uint64_t seed = 0; seed < steps_of<uint64_t>(300); ++seed) {
    SCOPED_TRACE(seed);
    constexpr int sizes[] = {2, 3, 5, 16};
    constexpr size_t words[] = {1, 600, 9000};  // alone, large and in several parts
    Program program(sizes[seed % 4], seed, seed % 5 == 4 ? 2 : 1, Memories::arena, Network::direct,
                    seed % 20 == 0 ? words[2] : words[seed % 2]);
    program.run(8);
    transfers += program.transfers();
    if (HasFailure()) return;
  }
  EXPECT_GT(transfers, steps_of<uint64_t>(300));
}

}  // namespace TEST_FILE
}  // namespace nearcache::rma
