// The arithmetic of a modelled network: when would a transfer be complete. Front ends delay completion accordingly and label every output.
//
// Transfers of one process share its link: G is paid one after the other, L overlaps (LogGP; foMPI, section 3, gives 1.9 us + 0.17 ns/B
// for a get over Aries).
#pragma once

#include <mutex>
#include <string>

namespace nearcache {

class LinkModel {
 public:
  // `text` is "L,G": nanoseconds and nanoseconds per byte. Returns what is wrong, or "".
  std::string set(const std::string& text);

  // A transfer of so many bytes starts now: the time, of the system's clock in nanoseconds, at which it is complete. Thread-safe.
  double start(double bytes);

  // Returns at that time.
  static void wait_until(double ns);

  // "L=1900 ns, G=0.17 ns/B".
  std::string label() const;

 private:
  double latency_ = 0, per_byte_ = 0;
  std::mutex mutex_;
  double link_free_ = 0;
};

}  // namespace nearcache
