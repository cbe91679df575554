// SPDX-License-Identifier: BSD-3-Clause

// The part of a report that is derived from every rank's profile: over time, by size, by key, by
// target (profile.h); for OpenSHMEM programs also by symmetric object and by acquire
// (symmetric_profile.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "telemetry/profile.h"
#include "telemetry/symmetric_profile.h"

namespace nearcache {

class ReportDetails {
 public:
  // Packs a rank's profile for sending it to the rank that writes the report; at most `most_words`
  // words.
  static std::vector<uint64_t> pack(const Profile& profile);
  static std::vector<uint64_t> pack(const Profile& profile, const SymmetricProfile& symmetric);
  static constexpr size_t most_words = 8192;

  // Adds the packed profile of `rank`. Returns false and adds nothing if it is malformed.
  bool add(int rank, const std::vector<uint64_t>& packed);

  bool empty() const { return ranks_ == 0; }
  std::string json() const;  // the value of "details", see docs/report.md

 private:
  struct Adaptation {
    int rank;
    Profile::Adaptation what;
  };
  struct ReuseClass {
    double keys = 0, gets = 0;  // scaled up from the sample
  };

  struct OfRank;
  static std::optional<OfRank> unpack(const std::vector<uint64_t>& packed);

  int ranks_ = 0;
  std::vector<Timeline> timelines_;
  std::vector<Profile::Size> sizes_;
  std::map<uint64_t, Profile::Target> targets_;  // by rank; only targets of gets
  std::vector<Adaptation> adaptations_;
  std::vector<ReuseClass> reuse_;
  bool symmetric_ = false;  // an OpenSHMEM program, which has neither reuse nor adaptations
  SymmetricProfile sums_;
  double sampled_ = 1;
};

}  // namespace nearcache
