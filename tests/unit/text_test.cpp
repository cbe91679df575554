#include "base/text.h"

#include <gtest/gtest.h>

#include <clocale>

namespace nearcache {
namespace TEST_FILE {

TEST(Text, BytesTakeSuffixesOfPowersOf1024) {
  const std::pair<const char*, uint64_t> good[] = {{"0", 0},
                                                   {"17", 17},
                                                   {"1k", 1024},
                                                   {"64M", 64u << 20},
                                                   {"2GiB", uint64_t{2} << 30},
                                                   {"1.5k", 1536},
                                                   {"3tb", uint64_t{3} << 40},
                                                   {"12b", 12},
                                                   {".5M", 512u << 10},
                                                   {"9e3", 9000},
                                                   {"2.5e1KiB", 25600},
                                                   {"1e-3m", 1049},
                                                   {"8388607T", uint64_t{8388607} << 40},
                                                   {"18446744073709551615", UINT64_MAX}};
  for (const auto& [text, expected] : good) {
    uint64_t value = 99;
    EXPECT_TRUE(parse_bytes(text, &value)) << text;
    EXPECT_EQ(value, expected) << text;
  }
  for (const char* text :
       {"",    "k",    "-1",        "1x",  "1kk",   "1 k",      "nan",
        "inf", "1e30", "99999999T", "M64", "0x",    "+1",       ".",
        ".k",  "1e",   "1e+",       "1i",  "1kib2", "8388608T", "18446744073709551616"}) {
    uint64_t value = 99;
    EXPECT_FALSE(parse_bytes(text, &value)) << text;
    EXPECT_EQ(value, 99u) << text;
  }
}

TEST(Text, TimesAreNanosecondsWithoutASuffix) {
  const std::pair<const char*, uint64_t> good[] = {
      {"10", 10}, {"10us", 10000}, {"1.5ms", 1500000}, {"2s", 2000000000}, {"7ns", 7}};
  for (const auto& [text, expected] : good) {
    uint64_t value = 0;
    EXPECT_TRUE(parse_time_ns(text, &value)) << text;
    EXPECT_EQ(value, expected) << text;
  }
  uint64_t value = 0;
  for (const char* text : {"", "us", "5m", "-3us", "1 us"})
    EXPECT_FALSE(parse_time_ns(text, &value)) << text;
}

TEST(Text, RatiosAreFiniteAndNotNegative) {
  double value = 0;
  EXPECT_TRUE(parse_ratio("0.25", &value));
  EXPECT_EQ(value, 0.25);
  EXPECT_TRUE(parse_ratio("2", &value));
  for (const char* text : {"", "-0.1", "nan", "inf", "0.5x"})
    EXPECT_FALSE(parse_ratio(text, &value)) << text;
}

TEST(Text, BoolsHaveFourSpellings) {
  bool value = false;
  for (const char* text : {"1", "true", "YES", "On"})
    EXPECT_TRUE(parse_bool(text, &value) && value) << text;
  for (const char* text : {"0", "false", "No", "off"})
    EXPECT_TRUE(parse_bool(text, &value) && !value) << text;
  EXPECT_FALSE(parse_bool("maybe", &value));
  EXPECT_FALSE(parse_bool("", &value));
}

TEST(Text, CountsAreWholeNumbers) {
  uint64_t value = 0;
  EXPECT_TRUE(parse_count("4096", &value));
  for (const char* text : {"", "4.5", "4k", "-4", "18446744073709551616"})
    EXPECT_FALSE(parse_count(text, &value)) << text;
}

TEST(Text, TheCloseNameHasTheFewestEditsIfTheyCanBeASlip) {
  EXPECT_EQ(close_name("storge", {"mode", "storage", "index"}), "storage");
  EXPECT_EQ(close_name("progress_tiem", {"progress_time", "progress_calls"}), "progress_time");
  EXPECT_EQ(close_name("foo", {"policy", "mode"}), "");
  EXPECT_EQ(close_name("", {"policy", "mode"}), "");
  EXPECT_EQ(close_name("x", {}), "");
}

TEST(Text, NumbersAreReadAsTheyAreWhateverLanguageTheProgramSpeaks) {
  uint64_t bytes = 0;
  for (const char* text : {"0x10", "1,5k", " 1"}) EXPECT_FALSE(parse_bytes(text, &bytes)) << text;
  const char* german = setlocale(LC_NUMERIC, "de_DE.UTF-8");  // if it is installed
  EXPECT_TRUE(parse_bytes("1.5k", &bytes));
  EXPECT_EQ(bytes, 1536u);
  if (german != nullptr) setlocale(LC_NUMERIC, "C");
}

}  // namespace TEST_FILE
}  // namespace nearcache
