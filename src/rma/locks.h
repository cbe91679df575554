// The lock of a window at its owner: shared and exclusive, granted in the order in which they were
// asked for. Ranks that can address the lock's word take it there as long as nobody waits; who
// cannot, or does not get it, asks the owner.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

namespace nearcache::rma {

enum class LockType : uint8_t { shared, exclusive };
// How a rank holds a lock that it has taken by its word.
enum class Held : uint32_t { no, shared, exclusive };

class LockWord;

class Locks {
 public:
  explicit Locks(LockWord* word) : word_(word) {}
  // True if granted at once; otherwise the origin waits for its turn, which may have come already.
  bool ask(int origin, LockType type);
  // False if it holds none.
  bool release(int origin);
  // Whose turn has come; it holds its lock from now on.
  std::optional<int> grant_next();
  bool waits(int origin) const;
  // It is gone, and with it what it held or waited for.
  void forget(int origin);

 private:
  struct Waiting {
    int origin;
    LockType type;
  };
  void hold(int origin, LockType type);

  LockWord* word_;
  std::optional<int> exclusive_;  // who holds it, of those who have asked
  // by origin: how often (threads of one that holds a shared lock do not ask again, a peer that is
  // broken might)
  std::unordered_map<int, uint32_t> held_;
  std::deque<Waiting> waiting_;
};

}  // namespace nearcache::rma
