#include "base/options.h"

#include <gtest/gtest.h>

#include <set>

namespace nearcache {
namespace {

TEST(Options, EveryDefaultParsesAndReadsBackTheSame) {
  for (const OptionRow& row : option_rows()) {
    Options options;
    const std::string before = option_text(options, row.name);
    EXPECT_EQ(options.set(row.name, row.default_text), "") << row.name;
    EXPECT_EQ(option_text(options, row.name), before) << row.name;
    EXPECT_EQ(options.set(row.name, before), "") << row.name << ": its own text is not taken";
    EXPECT_EQ(option_text(options, row.name), before) << row.name;
  }
}

TEST(Options, RowsAreWellFormed) {
  std::set<std::string> names;
  for (const OptionRow& row : option_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " appears twice";
    EXPECT_TRUE(std::string(row.scope) == "window" || std::string(row.scope) == "process") << row.name;
    EXPECT_FALSE(std::string(row.help).empty()) << row.name;
  }
}

TEST(Options, TheDefaultsAreThoseOfTheTable) {
  const Options options;
  EXPECT_EQ(options.mode, Mode::transparent);
  EXPECT_EQ(options.policy, PolicyKind::rate);
  EXPECT_EQ(options.storage, 1u << 20);
  EXPECT_EQ(options.index, 4096u);
  EXPECT_TRUE(options.adaptive);
  EXPECT_EQ(options.progress_time, 10000u);
}

TEST(Options, NamesOfModesAndPoliciesAreTaken) {
  Options options;
  for (const char* mode : {"off", "transparent", "ALWAYS", "user"}) EXPECT_EQ(options.set("mode", mode), "");
  EXPECT_EQ(options.mode, Mode::user);
  for (const char* policy : {"rate", "clampi", "clampi-temporal", "clampi-positional", "lru", "sieve", "tinylfu"}) {
    EXPECT_EQ(options.set("policy", policy), "");
    EXPECT_EQ(option_text(options, "policy"), policy);
  }
}

TEST(Options, AWrongValueNamesWhatIsAllowedAndChangesNothing) {
  Options options;
  const std::string wrong = options.set("mode", "sometimes");
  EXPECT_NE(wrong.find("'sometimes'"), std::string::npos);
  EXPECT_NE(wrong.find("off, transparent, always or user"), std::string::npos);
  EXPECT_EQ(options.mode, Mode::transparent);
  EXPECT_NE(options.set("storage", "1X"), "");
  EXPECT_EQ(options.storage, 1u << 20);
  EXPECT_NE(options.set("adaptive", "perhaps"), "");
  EXPECT_NE(options.set("free_threshold", "-1"), "");
}

TEST(Options, AnUnknownNameIsToldItsNearest) {
  Options options;
  EXPECT_NE(options.set("storge", "1M").find("nearest: storage"), std::string::npos);
  EXPECT_NE(options.set("max-get", "1M").find("nearest: max_get"), std::string::npos);
}

TEST(Options, TheEnvironmentIsReadAndEveryMistakeReported) {
  std::string words[] = {"NEARCACHE_STORAGE=4M", "NEARCACHE_MODE=always", "NEARCACHE_STORGE=1", "NEARCACHE_INDEX=many",
                         "NEARCACHE_TEST_SOMETHING=1", "NEARCACHE_MPICC=mpicc", "PATH=/bin", "NEARCACHE_REPORT=", "NEARCACHE_odd"};
  std::vector<char*> environment;
  for (std::string& word : words) environment.push_back(word.data());
  environment.push_back(nullptr);
  Options options;
  const auto messages = options.read_environment(environment.data());
  EXPECT_EQ(options.storage, 4u << 20);
  EXPECT_EQ(options.mode, Mode::always);
  EXPECT_EQ(options.index, 4096u);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_NE(messages[0].find("NEARCACHE_STORGE"), std::string::npos);
  EXPECT_NE(messages[1].find("NEARCACHE_INDEX"), std::string::npos);
  EXPECT_TRUE(options.read_environment(nullptr).empty());
}

}  // namespace
}  // namespace nearcache
