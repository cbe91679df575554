// SPDX-License-Identifier: BSD-3-Clause

// The cost of a remote get, learned from sampled gets: latency plus time per byte.
#pragma once

#include <cstdint>

namespace nearcache {

class CostModel {
 public:
  static constexpr int size_classes = 40;
  static int class_of(uint64_t bytes) {
    const int power = bytes <= 1 ? 0 : 64 - __builtin_clzll(bytes - 1);
    return power < size_classes ? power : size_classes - 1;
  }

  struct Fit {
    double latency_ns = 0, ns_per_byte = 0;
    constexpr double cost_ns(uint64_t bytes) const {
      return latency_ns + ns_per_byte * static_cast<double>(bytes);
    }
  };

  // Records that one get of `bytes`, including its share of the synchronisation that completed it,
  // took `ns`.
  void sample(uint64_t bytes, double ns);

  uint32_t samples() const { return samples_; }
  uint32_t samples_of(uint64_t bytes) const { return classes_[class_of(bytes)].samples; }

  // The fitted cost L + size * G; zero before the first sample.
  double latency_ns() const { return fit_.latency_ns; }
  double ns_per_byte() const { return fit_.ns_per_byte; }
  double cost_ns(uint64_t bytes) const { return fit_.cost_ns(bytes); }

  // Returns a conservative fit, for what users are told: size classes with few samples count with
  // their fastest one. The first gets of a program find the network cold, and if nearly all gets
  // are hits there are few others. On a machine that is busy with other programs most of the time
  // that gets take may be theirs, so others count with no more than eight times their fastest one.
  Fit careful() const;

  // Returns the least cost measured for gets of this size class; 0 if there is none.
  double least_ns(uint64_t bytes) const { return classes_[class_of(bytes)].least_ns; }
  // Returns the mean cost measured for gets of this size class, or that of the fit if there is
  // none.
  double observed_ns(uint64_t bytes) const {
    const Class& c = classes_[class_of(bytes)];
    return c.samples > 0 ? c.mean_ns : cost_ns(bytes);
  }

 private:
  struct Class {
    uint32_t samples = 0;
    float mean_bytes = 0;
    float mean_ns = 0;
    float least_ns = 0;
  };
  static constexpr uint32_t few = 64;
  static constexpr float most_of_least = 8;
  template <class CostOf>
  Fit fit(CostOf cost_of) const;

  Class classes_[size_classes];
  uint32_t samples_ = 0;
  Fit fit_;
};

// What a hit costs: the look-up and the copy out of storage. Two figures, for two questions.
//
// How much do hits save? Entries are then spread over more memory than the processor's caches hold.
inline constexpr CostModel::Fit hit_cost{50, 0.15};
// Might a get be as cheap as a hit? This is a hit at its best, with its synchronisation and with
// everything in the processor's caches (`bench/run hit`).
inline constexpr CostModel::Fit least_hit_cost{35, 0.08};

}  // namespace nearcache
