#include "base/options.h"

#include <gtest/gtest.h>

#include <set>

namespace nearcache {
namespace TEST_FILE {

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
    EXPECT_TRUE(std::string(row.scope) == "window" || std::string(row.scope) == "process")
        << row.name;
    EXPECT_FALSE(std::string(row.help).empty()) << row.name;
  }
}

TEST(Options, TheDefaultsAreThoseOfTheTable) {
  const Options options;
  EXPECT_EQ(options.mode, Mode::coherent);
  EXPECT_EQ(options.policy, PolicyKind::rate);
  EXPECT_EQ(options.storage, 1u << 20);
  EXPECT_EQ(options.index, 4096u);
  EXPECT_TRUE(options.adaptive);
  EXPECT_EQ(options.progress_time, 4000u);
}

TEST(Options, NamesOfModesAndPoliciesAreTaken) {
  Options options;
  for (const char* mode : {"off", "transparent", "coherent", "ALWAYS", "user"})
    EXPECT_EQ(options.set("mode", mode), "");
  EXPECT_EQ(options.mode, Mode::user);
  for (const char* policy :
       {"rate", "clampi", "clampi-temporal", "clampi-positional", "lru", "sieve", "tinylfu"}) {
    EXPECT_EQ(options.set("policy", policy), "");
    EXPECT_EQ(option_text(options, "policy"), policy);
  }
}

TEST(Options, AWrongValueNamesWhatIsAllowedAndChangesNothing) {
  Options options;
  const std::string wrong = options.set("mode", "sometimes");
  EXPECT_NE(wrong.find("'sometimes'"), std::string::npos);
  EXPECT_NE(wrong.find("off, transparent, coherent, always or user"), std::string::npos);
  EXPECT_EQ(options.mode, Mode::coherent);
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

TEST(Options, ANameThatIsLikeNoneIsToldWhereAllAre) {
  Options options;
  EXPECT_EQ(options.set("foo", "1"), "there is no option 'foo'; `nearcache options` lists all");
}

TEST(Options, EveryNumberHasARangeWhoseEndsAreAllowed) {
  const std::set<std::string> numbers = {"count", "bytes", "power", "time", "ratio"};
  for (const OptionRow& row : option_rows()) {
    EXPECT_EQ(numbers.count(row.type) == 1, *row.least != '\0' && *row.most != '\0') << row.name;
    if (*row.least == '\0') continue;
    Options options;
    EXPECT_EQ(options.set(row.name, row.least), "") << row.name;
    EXPECT_EQ(options.set(row.name, row.most), "") << row.name;
  }
}

TEST(Options, AValueBeyondItsRangeNamesTheRangeAndChangesNothing) {
  Options options;
  EXPECT_EQ(options.set("index_increase", "0"),
            "index_increase: '0' is not allowed; allowed: a number from 1 to 1024");
  EXPECT_EQ(options.index_increase, 2);
  const std::pair<const char*, const char*> beyond[] = {{"storage", "33G"},
                                                        {"storage", "99999999999999999999"},
                                                        {"index", "0"},
                                                        {"index", "18446744073709551615"},
                                                        {"sample", "0"},
                                                        {"sample", "4097"},
                                                        {"anchors", "0"},
                                                        {"adapt_interval", "0"},
                                                        {"progress_calls", "0"},
                                                        {"progress_time", "2h"},
                                                        {"progress_time", "3601s"},
                                                        {"storage_decrease", "0.1"},
                                                        {"conflict_threshold", "1.01"},
                                                        {"verbose", "3"},
                                                        {"shmem_dirty_pages", "0"},
                                                        {"shmem_dirty_pages", "65536"},
                                                        {"shmem_page", "128"},
                                                        {"shmem_page", "1000"},
                                                        {"shmem_page", "128k"},
                                                        {"shmem_line", "48"},
                                                        {"shmem_size", "1k"},
                                                        {"shmem_readahead", "2G"},
                                                        {"model", "abc"},
                                                        {"model", "1900"},
                                                        {"model", "1900,"},
                                                        {"model", "1e10,0"},
                                                        {"model", "-1,0"},
                                                        {"model", "nan,0"},
                                                        {"report", "%"},
                                                        {"report", "a%x"},
                                                        {"trace", "100%"}};
  for (const auto& [name, text] : beyond) {
    const std::string before = option_text(options, name);
    EXPECT_NE(options.set(name, text).find("' is not allowed; allowed: "), std::string::npos)
        << name << "=" << text;
    EXPECT_EQ(option_text(options, name), before) << name << "=" << text;
  }
  for (const auto& [name, text] : {std::pair{"model", ""},
                                   {"model", "1900,0.17"},
                                   {"report", "%p.%h.%r.%j.%%.json"},
                                   {"trace", ""}})
    EXPECT_EQ(options.set(name, text), "") << name << "=" << text;
}

TEST(Options, TheEnvironmentIsReadAndEveryMistakeReported) {
  std::string words[] = {"NEARCACHE_STORAGE=4M",
                         "NEARCACHE_MODE=always",
                         "NEARCACHE_STORGE=1",
                         "NEARCACHE_INDEX=many",
                         "NEARCACHE_TEST_SOMETHING=1",
                         "NEARCACHE_MPICC=mpicc",
                         "PATH=/bin",
                         "NEARCACHE_REPORT=",
                         "NEARCACHE_odd"};
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

}  // namespace TEST_FILE
}  // namespace nearcache
