// The part of a report that comes from every rank's profile: over time, by size, by key, by target
// (profile.h); of OpenSHMEM programs by symmetric object and by acquire (symmetric_profile.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "telemetry/profile.h"
#include "telemetry/symmetric_profile.h"

namespace nearcache {

class ReportDetails {
 public:
  // A rank's profile as it travels to the rank that writes the report: no more than `most_words`.
  static std::vector<uint64_t> pack(const Profile& profile);
  static std::vector<uint64_t> pack(const Profile& profile, const SymmetricProfile& symmetric);
  static constexpr size_t most_words = 8192;

  // Adds what `pack` made of the profile of `rank`. False, and nothing is added, if it is not
  // well-formed.
  bool add(int rank, const std::vector<uint64_t>& packed);

  bool empty() const { return ranks_ == 0; }
  std::string json() const;  // the value of "details"; docs/report.md

 private:
  struct Adaptation {
    int rank;
    Profile::Adaptation what;
  };
  struct ReuseClass {
    double keys = 0, gets = 0;  // scaled up from the sample
  };

  int ranks_ = 0;
  std::vector<Timeline> timelines_;
  std::vector<Profile::Size> sizes_;
  std::map<uint64_t, Profile::Target> targets_;  // by rank, those that were asked
  std::vector<Adaptation> adaptations_;
  std::vector<ReuseClass> reuse_;
  bool symmetric_ = false;  // an OpenSHMEM program's, which has no reuse and no adaptations
  SymmetricProfile sums_;
  double sampled_ = 1;
};

}  // namespace nearcache
