// The fence of a window whose members all share memory: the barrier of Fence, by words instead of
// tokens. Writes made before it need no counts, because the writer has executed them itself.
#pragma once

#include <cstdint>

namespace nearcache::rma {

class Window;

class NearFence {
 public:
  void enter(Window* window);
  // Goes on with what has come; true if all have entered.
  bool met(Window* window);

 private:
  void send_round(Window* window) const;

  uint32_t fence_ = 0;  // that was entered last; may wrap
  int round_ = 0;       // whose word is awaited
};

}  // namespace nearcache::rma
