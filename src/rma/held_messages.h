// SPDX-License-Identifier: BSD-3-Clause

// Messages of one rank that have come too early, until they are taken in the order in which they
// came. Taking some leaves the others where they are: there may be many epochs of which only the
// first may begin.
#pragma once

#include <utility>

#include "rma/wire.h"

namespace nearcache::rma {

class HeldMessages {
 public:
  // Returns false if that would be more than most_held.
  bool hold(std::span<const std::byte> message) {
    const size_t held = messages_.bytes().size();
    if (held - taken_ + message.size() > most_held) return false;
    if (taken_ > held / 2) messages_.remove(std::exchange(taken_, 0));
    messages_.append_whole(message);
    return true;
  }
  // The messages that have not been taken.
  BatchReader rest() const { return BatchReader(messages_.bytes().subspan(taken_)); }
  // Calls take(message) with one message after the other, which it returns false to leave there.
  // Returns whether all were taken. take() must not hold more messages here.
  template <class Take>
  bool take_while(Take take) {
    BatchReader reader = rest();
    for (Message message; reader.next(&message); taken_ += message.whole.size()) {
      if (!take(message)) return false;
    }
    return true;
  }

 private:
  BatchWriter messages_;
  size_t taken_ = 0;  // bytes
};

}  // namespace nearcache::rma
