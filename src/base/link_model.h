// The arithmetic of a modelled network: when a transfer would be complete. Front ends delay
// completion accordingly and label every output.
//
// Transfers of one process share its link: G is paid one after the other, L overlaps (LogGP; foMPI,
// section 3, gives 1.9 us + 0.17 ns/B for a get over Aries).
#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace nearcache {

// "L,G": nanoseconds and nanoseconds per byte. False if it is none, or of a network slower than
// any.
bool parse_link(std::string_view text, double* latency_ns, double* ns_per_byte);
inline constexpr const char* parse_link_allowed =
    "L,G in ns (at most 1e9) and ns/byte (at most 1e6), such as 1900,0.17";

class LinkModel {
 public:
  // `text` is "L,G": nanoseconds and nanoseconds per byte. Returns what is wrong, or "".
  std::string set(const std::string& text);

  // A transfer of so many bytes starts now: the time, of the system's clock in nanoseconds, at
  // which it is complete. Thread-safe.
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
