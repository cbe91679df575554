// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/window/sharing.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "cache/get/cached_window.h"
#include "mpi/process/context.h"
#include "mpi/process/host_defects.h"
#include "mpi/process/next.h"
#include "mpi/process/patience.h"
#include "net/arena.h"

namespace nearcache::mpi {
namespace {

// What all ranks must know about a rank that wants to share, as 8-byte words.
struct Card {
  uint64_t wants = 0;
  uint64_t group = 0;  // group within the node, for tests
  uint64_t limit = 0;  // limit on the memory of its caches, in bytes
};

// The rank's group within its node; option share_nodes simulates several nodes, for tests.
uint64_t group_of(int rank) { return static_cast<uint64_t>(rank) % context.options.share_nodes; }

// Who shares is exchanged among all ranks of a window, a few words per rank at each creation. With
// more ranks than this, the user must ask for sharing explicitly.
constexpr int most_by_themselves = 4096;

bool is_near(int rank, const WindowIdentity& identity) {
  return identity.far[static_cast<size_t>(rank)] == 0 && group_of(rank) == group_of(identity.rank);
}

// Gathers each rank's words, by rank. All ranks take part, as they have agreed to before. Returns
// false if MPI refuses.
template <class Words>
bool exchange(MPI_Comm comm, int ranks, const Words& mine, std::vector<Words>* all) {
  constexpr size_t words = sizeof(Words) / sizeof(uint64_t);
  static_assert(sizeof(Words) == words * sizeof(uint64_t));
  Exchange exchange(words, words * static_cast<size_t>(ranks));
  std::memcpy(exchange.sent().data(), &mine, sizeof mine);
  if (!exchange.gather_to_all(comm)) return false;
  if (!exchange.wait(no_limit)) return false;
  all->resize(static_cast<size_t>(ranks));
  std::memcpy(static_cast<void*>(all->data()), exchange.received().data(),
              sizeof(Words) * all->size());
  return true;
}

// Returns the sizes that the caches of these ranks would have together, within their memory limit.
SharedCache::Plan plan_of(const Options& options, const WindowIdentity& identity,
                          const std::vector<Card>& cards, const std::vector<int>& sharing) {
  constexpr uint64_t most = uint64_t{1} << 42;  // bytes; the address space has 2^47
  SharedCache::Plan plan;
  plan.ranks = static_cast<uint32_t>(sharing.size());
  for (const int rank : sharing)
    plan.limit =
        std::min(plan.limit + std::min(cards[static_cast<size_t>(rank)].limit, most), most);
  plan.in_bytes = identity.unit != 0;
  plan.settings = CachingRules(options).cache;
  plan.settings.storage_bytes *= plan.ranks;
  plan.settings.index_capacity *= plan.ranks;
  while (GetCache::memory_for(plan.settings.index_capacity, plan.settings.storage_bytes) >
             plan.limit / 2 &&
         plan.settings.index_capacity > 64) {
    plan.settings.index_capacity /= 2;
    plan.settings.storage_bytes /= 2;
  }
  return plan;
}

// A region reserves addresses for everything its ranks may ever keep. On a node with 1 TiB, a
// hundred windows once took all 2^47 addresses of a process, leaving none to the program. So the
// more regions there are, the less the next one gets.
class Addresses {
 public:
  static uint64_t most_for_one() {
    const uint64_t left = most - std::min(taken.load(), most);
    return left / (least_share + regions.load());
  }
  static void take(uint64_t bytes) { taken += bytes, ++regions; }
  static void give_back(uint64_t bytes) { taken -= bytes, --regions; }

 private:
  static constexpr uint64_t most = uint64_t{1} << 46, least_share = 16;
  static inline std::atomic<uint64_t> taken{0}, regions{0};
};

// Makes a smaller region if there are no addresses for the full size.
std::shared_ptr<net::Arena> make_memory(SharedCache::Plan plan, std::string* wrong) {
  do {
    const uint64_t size = net::Arena::reserved + SharedCache::bytes_for(plan);
    *wrong = "windows that share caches have taken all addresses that they may";
    if (size > Addresses::most_for_one()) continue;
    std::shared_ptr<net::Arena> arena = net::Arena::make(size, wrong);
    if (arena == nullptr) continue;
    SharedCache::make(arena->at(net::Arena::reserved), plan);
    return arena;
  } while ((plan.limit /= 2) >= 4 * plan.settings.storage_bytes);
  return nullptr;
}

std::unique_ptr<SharedCache> join(std::shared_ptr<net::Arena> arena, std::string* why_not) {
  const uint64_t size = arena->name().size;
  auto cache = SharedCache::join(arena->at(net::Arena::reserved), size - net::Arena::reserved,
                                 &context.budget, why_not);
  if (cache == nullptr) return nullptr;
  Addresses::take(size);
  const void* const base = arena->at(0);
  cache->keep(
      std::shared_ptr<const void>(base, [arena = std::move(arena), size](const void*) mutable {
        arena.reset();
        Addresses::give_back(size);
      }));
  return cache;
}

}  // namespace

std::string why_not_shared(ShareUse use, const WindowIdentity& identity) {
  if (use == ShareUse::off) return "option share is off";
  if (use == ShareUse::automatic && identity.ranks > most_by_themselves)
    return "so many ranks would have to tell each other whether they share";
  // published data is visible to other ranks at once
  if (host_has(HostDefect::flush_all_before_data))
    return "with this MPI data may come after the call that completes it";
  int near = 0;  // other ranks of its node
  for (int rank = 0; rank < identity.ranks; ++rank)
    near += rank != identity.rank && is_near(rank, identity) ? 1 : 0;
  if (near == 0) return alone_on_node;
  if (use == ShareUse::automatic && near == identity.ranks - 1)
    return "all its targets are on this node";
  return "";
}

std::unique_ptr<SharedCache> share_with_node(MPI_Comm comm, const Options& options,
                                             const WindowIdentity& identity, std::string* why_not) {
  const std::string never =
      options.mode == Mode::off ? "its mode is off" : why_not_shared(options.share, identity);
  const bool wants = never.empty();
  // By default Nearcache shares where it can; failures are then the only reasons reported.
  const bool asked = options.share == ShareUse::node && options.mode != Mode::off;
  const uint64_t group = group_of(identity.rank);
  std::vector<Card> cards;
  *why_not = "MPI_Iallgather failed";
  if (!exchange(comm, identity.ranks, {wants, group, context.budget.limit()}, &cards))
    return nullptr;
  std::vector<int> sharing;
  for (int rank = 0; rank < identity.ranks; ++rank) {
    const Card& card = cards[static_cast<size_t>(rank)];
    const bool here = rank == identity.rank || identity.far[static_cast<size_t>(rank)] == 0;
    if (here && card.wants != 0 && card.group == group) sharing.push_back(rank);
  }
  const bool alone = !wants || sharing.size() < 2;
  std::string wrong;
  std::shared_ptr<net::Arena> arena;
  net::Arena::Name name;
  if (!alone && sharing.front() == identity.rank) {
    arena = make_memory(plan_of(options, identity, cards, sharing), &wrong);
    if (arena != nullptr) name = arena->name();
  }
  std::vector<net::Arena::Name> names;
  if (!exchange(comm, identity.ranks, name, &names)) return nullptr;
  if (!alone && arena == nullptr && wrong.empty())
    arena = net::Arena::open(names[static_cast<size_t>(sharing.front())], &wrong);
  // once all ranks have opened the arena, nobody else needs to be able to
  std::vector<uint64_t> opened;
  const bool all_know = exchange(comm, identity.ranks, uint64_t{arena != nullptr}, &opened);
  if (arena != nullptr) arena->close_door();
  if (!all_know) return nullptr;
  *why_not = asked ? never : "";
  if (!wants) return nullptr;
  if (alone) return *why_not = asked ? alone_on_node : "", nullptr;
  if (arena == nullptr) return *why_not = wrong, nullptr;
  return join(arena, why_not);
}

}  // namespace nearcache::mpi
