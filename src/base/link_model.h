// SPDX-License-Identifier: BSD-3-Clause

// The arithmetic of a modelled network: computes when a transfer would be complete. Front ends
// delay completion accordingly and label all output as modelled.
//
// All transfers of a process share its link: their G terms add up, while their latencies L overlap
// (LogGP; foMPI, section 3, gives 1.9 us + 0.17 ns/B for a get over Aries).
#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace nearcache {

// Parses "L,G", in nanoseconds and nanoseconds per byte. Returns false if the text is malformed or
// describes a network slower than any real one (parse_link_allowed).
bool parse_link(std::string_view text, double* latency_ns, double* ns_per_byte);
inline constexpr const char* parse_link_allowed =
    "L,G in ns (at most 1e9) and ns/byte (at most 1e6), such as 1900,0.17";

class LinkModel {
 public:
  // Sets the model from "L,G", in nanoseconds and nanoseconds per byte. Returns an empty string, or
  // an error message.
  std::string set(const std::string& text);

  // Starts a transfer of this many bytes now. Returns the time at which it is complete, in
  // nanoseconds of the system clock. Thread-safe.
  double start(double bytes);

  // Spins until that time.
  static void wait_until(double ns);

  // Returns the model as text, such as "L=1900 ns, G=0.17 ns/B".
  std::string label() const;

 private:
  double latency_ = 0, per_byte_ = 0;
  std::mutex mutex_;
  double link_free_ = 0;
};

}  // namespace nearcache
