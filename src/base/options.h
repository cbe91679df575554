// SPDX-License-Identifier: BSD-3-Clause

// The options: one row each in options.def, from which names, parsing, defaults and documentation
// are derived.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nearcache {

enum class Mode : uint8_t { off, transparent, always, user, coherent };
// Returns true for modes in which data read may be served until the next acquire; in mode coherent
// also beyond it, as long as it is not known to have changed.
inline constexpr bool ends_at_acquires(Mode mode) {
  return mode == Mode::transparent || mode == Mode::coherent;
}
enum class PolicyKind : uint8_t {
  rate,
  clampi,
  clampi_temporal,
  clampi_positional,
  lru,
  sieve,
  tinylfu
};

enum class ShareUse : uint8_t { off, automatic, node };
enum class RmaUse : uint8_t { off, automatic, on };
enum class RmaFabric : uint8_t { automatic, socket, ofi, node };

const char* mode_name(Mode mode);
const char* policy_name(PolicyKind policy);

namespace option_type {
using mode = Mode;
using policy = PolicyKind;
using share_use = ShareUse;
using rma_use = RmaUse;
using rma_fabric = RmaFabric;
using count = uint64_t;
using bytes = uint64_t;
using power = uint64_t;  // bytes, a power of two
using time = uint64_t;   // nanoseconds
using ratio = double;
using model = std::string;      // L,G of a modelled network, or empty
using interface = std::string;  // the name of a network interface, or empty
using provider = std::string;   // the name of a libfabric provider, or empty
using path = std::string;       // may contain the patterns of base/path_pattern.h
}  // namespace option_type

struct Options {
#define NEARCACHE_TYPE_bool bool
#define NEARCACHE_TYPE_mode option_type::mode
#define NEARCACHE_TYPE_policy option_type::policy
#define NEARCACHE_TYPE_share_use option_type::share_use
#define NEARCACHE_TYPE_rma_use option_type::rma_use
#define NEARCACHE_TYPE_rma_fabric option_type::rma_fabric
#define NEARCACHE_TYPE_count option_type::count
#define NEARCACHE_TYPE_bytes option_type::bytes
#define NEARCACHE_TYPE_time option_type::time
#define NEARCACHE_TYPE_ratio option_type::ratio
#define NEARCACHE_TYPE_power option_type::power
#define NEARCACHE_TYPE_model option_type::model
#define NEARCACHE_TYPE_interface option_type::interface
#define NEARCACHE_TYPE_provider option_type::provider
#define NEARCACHE_TYPE_path option_type::path
#define NEARCACHE_OPTION(scope, name, type, default_text, least, most, unit, help) \
  NEARCACHE_TYPE_##type name{};
#include "base/options.def"
#undef NEARCACHE_OPTION

  Options();  // every option at its default

  // Sets the option `name` from text. Returns an empty string, or a message that says what is wrong
  // and what is allowed, in which case nothing is changed.
  std::string set(std::string_view name, std::string_view text);

  // Reads all NEARCACHE_* variables of an environment. Returns one message for each unknown or
  // malformed one.
  std::vector<std::string> read_environment(char** environment);
};

struct OptionRow {
  const char* scope;  // "window": also settable by info key; "process": only by environment
  const char* name;
  const char* type;
  const char* default_text;
  const char* least;  // inclusive range of a number; empty if not a number
  const char* most;
  const char* unit;
  const char* help;
};
const std::vector<OptionRow>& option_rows();

// Returns the current value of the option `name`, as text that set() accepts.
std::string option_text(const Options& options, std::string_view name);

}  // namespace nearcache
