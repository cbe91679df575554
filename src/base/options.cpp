// SPDX-License-Identifier: BSD-3-Clause
#include "base/options.h"

#include <net/if.h>

#include <array>
#include <bit>
#include <charconv>
#include <type_traits>
#include <utility>

#include "base/link_model.h"
#include "base/path_pattern.h"
#include "base/text.h"

namespace nearcache {
namespace {

constexpr std::array<std::pair<const char*, Mode>, 5> modes{{{"off", Mode::off},
                                                             {"transparent", Mode::transparent},
                                                             {"coherent", Mode::coherent},
                                                             {"always", Mode::always},
                                                             {"user", Mode::user}}};

constexpr std::array<std::pair<const char*, PolicyKind>, 7> policies{
    {{"rate", PolicyKind::rate},
     {"clampi", PolicyKind::clampi},
     {"clampi-temporal", PolicyKind::clampi_temporal},
     {"clampi-positional", PolicyKind::clampi_positional},
     {"lru", PolicyKind::lru},
     {"sieve", PolicyKind::sieve},
     {"tinylfu", PolicyKind::tinylfu}}};

constexpr std::array<std::pair<const char*, ShareUse>, 3> share_uses{
    {{"off", ShareUse::off}, {"auto", ShareUse::automatic}, {"node", ShareUse::node}}};
constexpr std::array<std::pair<const char*, RmaUse>, 3> rma_uses{
    {{"off", RmaUse::off}, {"auto", RmaUse::automatic}, {"on", RmaUse::on}}};

constexpr std::array<std::pair<const char*, RmaFabric>, 4> rma_fabrics{
    {{"auto", RmaFabric::automatic},
     {"socket", RmaFabric::socket},
     {"ofi", RmaFabric::ofi},
     {"node", RmaFabric::node}}};

template <class Table, class Value>
bool parse_name(const Table& table, std::string_view text, Value* value) {
  const std::string word = lower_case(text);
  for (const auto& [name, named] : table) {
    if (word == name) return *value = named, true;
  }
  return false;
}

template <class Table, class Value>
const char* name_of(const Table& table, Value value) {
  for (const auto& [name, named] : table) {
    if (named == value) return name;
  }
  return "?";
}

bool parse_mode(std::string_view text, Mode* value) { return parse_name(modes, text, value); }
bool parse_policy(std::string_view text, PolicyKind* value) {
  return parse_name(policies, text, value);
}
bool parse_share_use(std::string_view text, ShareUse* value) {
  return parse_name(share_uses, text, value);
}
bool parse_rma_use(std::string_view text, RmaUse* value) {
  return parse_name(rma_uses, text, value);
}
bool parse_rma_fabric(std::string_view text, RmaFabric* value) {
  return parse_name(rma_fabrics, text, value);
}
bool parse_time(std::string_view text, uint64_t* value) { return parse_time_ns(text, value); }
// Accepts what Linux accepts as interface names.
bool parse_interface(std::string_view text, std::string* value) {
  return *value = text, text.size() < IFNAMSIZ && text.find_first_of("/ \t\n") == text.npos;
}
bool parse_provider(std::string_view text, std::string* value) {
  // the length for which net::OfiAddress has room
  return *value = text, text.size() < 24 && text.find_first_of("/, \t\n") == text.npos;
}
bool parse_path(std::string_view text, std::string* value) {
  return *value = text, is_path_pattern(text);
}

bool parse_power(std::string_view text, uint64_t* value) {
  return parse_bytes(text, value) && std::has_single_bit(*value);
}

bool parse_model(std::string_view text, std::string* value) {
  double latency_ns, ns_per_byte;
  return *value = text, text.empty() || parse_link(text, &latency_ns, &ns_per_byte);
}

constexpr const char* allowed_mode = "off, transparent, coherent, always or user";
constexpr const char* allowed_policy =
    "rate, clampi, clampi-temporal, clampi-positional, lru, sieve or tinylfu";
constexpr const char* allowed_share_use = "off, auto or node";
constexpr const char* allowed_rma_use = "off, auto or on";
constexpr const char* allowed_rma_fabric = "auto, socket, ofi or node";
constexpr const char* allowed_bool = "true or false";
constexpr const char* allowed_count = "a whole number";
constexpr const char* allowed_bytes = "a number of bytes, optionally with suffix k, M, G or T,";
constexpr const char* allowed_power = "a power of two, optionally with suffix k, M, G or T,";
constexpr const char* allowed_time = "a time with ns, us, ms or s";
constexpr const char* allowed_ratio = "a number";
constexpr const char* allowed_model = parse_link_allowed;
constexpr const char* allowed_interface = "the name of a network interface";
constexpr const char* allowed_provider = "the name of a provider of libfabric";
constexpr const char* allowed_path =
    "a path with %p (process), %h (host), %r (rank), %j (job) and %% for a percent sign";

std::string show(Mode value) { return mode_name(value); }
std::string show(PolicyKind value) { return policy_name(value); }
std::string show(ShareUse value) { return name_of(share_uses, value); }
std::string show(RmaUse value) { return name_of(rma_uses, value); }
std::string show(RmaFabric value) { return name_of(rma_fabrics, value); }
std::string show(bool value) { return value ? "true" : "false"; }
std::string show(uint64_t value) { return std::to_string(value); }
std::string show(const std::string& value) { return value; }
std::string show(double value) {
  char text[32];  // shortest that reads back the same; locale-independent
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

// Sets `to` if `text` is a value within the given inclusive range.
template <class Value>
bool set_within(std::string_view text, std::string_view least, std::string_view most,
                bool (*parse)(std::string_view, Value*), Value* to) {
  Value value{}, end{};
  if (!parse(text, &value)) return false;
  if constexpr (std::is_arithmetic_v<Value>) {
    if (!least.empty() && parse(least, &end) && value < end) return false;
    if (!most.empty() && parse(most, &end) && value > end) return false;
  }
  *to = std::move(value);
  return true;
}

std::string refusal(std::string_view name, std::string_view text, std::string_view allowed,
                    std::string_view least, std::string_view most) {
  std::string what = std::string(name) + ": '" + std::string(text) +
                     "' is not allowed; allowed: " + std::string(allowed);
  if (!least.empty()) what += " from " + std::string(least) + " to " + std::string(most);
  return what;
}

// NEARCACHE_* variables that are not options of the library; the UPC runtime and upcc have their
// own.
bool is_other_variable(std::string_view name) {
  return name == "home" || name == "build" || name == "mpicc" || name == "python" ||
         name.starts_with("test_") || name.starts_with("upc_") || name.starts_with("upcc_");
}

}  // namespace

const char* mode_name(Mode mode) { return name_of(modes, mode); }
const char* policy_name(PolicyKind policy) { return name_of(policies, policy); }

Options::Options() {
#define NEARCACHE_OPTION(scope, name, type, default_text, least, most, unit, help) \
  parse_##type(default_text, &name);
#include "base/options.def"
#undef NEARCACHE_OPTION
}

std::string Options::set(std::string_view name, std::string_view text) {
#define NEARCACHE_OPTION(scope, option, type, default_text, least, most, unit, help) \
  if (name == #option)                                                               \
    return set_within(text, least, most, parse_##type, &option)                      \
               ? std::string()                                                       \
               : refusal(name, text, allowed_##type, least, most);
#include "base/options.def"
#undef NEARCACHE_OPTION
  std::vector<std::string> names;
  for (const OptionRow& row : option_rows()) names.emplace_back(row.name);
  const std::string near = close_name(name, names);
  return "there is no option '" + std::string(name) + "'; " +
         (near.empty() ? "`nearcache options` lists all" : "nearest: " + near);
}

std::vector<std::string> Options::read_environment(char** environment) {
  static constexpr std::string_view prefix = "NEARCACHE_";
  std::vector<std::string> messages;
  for (char** variable = environment; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view entry(*variable);
    const size_t equals = entry.find('=');
    if (!entry.starts_with(prefix) || equals == std::string_view::npos) continue;
    const std::string name = lower_case(entry.substr(prefix.size(), equals - prefix.size()));
    if (is_other_variable(name)) continue;
    const std::string wrong = set(name, entry.substr(equals + 1));
    if (!wrong.empty())
      messages.push_back("environment: " + std::string(entry.substr(0, equals)) + ": " + wrong);
  }
  return messages;
}

const std::vector<OptionRow>& option_rows() {
  static const std::vector<OptionRow>& rows = *new std::vector<OptionRow>{
#define NEARCACHE_OPTION(scope, name, type, default_text, least, most, unit, help) \
  {#scope, #name, #type, default_text, least, most, unit, help},
#include "base/options.def"
#undef NEARCACHE_OPTION
  };
  return rows;
}

std::string option_text(const Options& options, std::string_view name) {
#define NEARCACHE_OPTION(scope, option, type, default_text, least, most, unit, help) \
  if (name == #option) return show(options.option);
#include "base/options.def"
#undef NEARCACHE_OPTION
  return {};
}

}  // namespace nearcache
