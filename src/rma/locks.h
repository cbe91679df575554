// The lock of a window at its owner: shared and exclusive, granted in the order in which they were
// asked for.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

namespace nearcache::rma {

enum class LockType : uint8_t { shared, exclusive };

class Locks {
 public:
  // True if granted at once; otherwise the origin waits for its turn.
  bool ask(int origin, LockType type);
  // The same, but it does not wait.
  bool try_ask(int origin, LockType type);
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
  bool free_for(LockType type) const {
    return !exclusive_ && (type == LockType::shared || held_.empty());
  }
  void take(int origin, LockType type);

  bool exclusive_ = false;
  // by origin: how often (threads of one that holds a shared lock do not ask again, a peer that is
  // broken might)
  std::unordered_map<int, uint32_t> held_;
  std::deque<Waiting> waiting_;
};

}  // namespace nearcache::rma
