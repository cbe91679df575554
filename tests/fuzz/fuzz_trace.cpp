// Runs the trace reader, and everything that replays traces, on damaged traces. They may be
// rejected, but must not cause a crash or a hang.
#include <random>

#include "fuzz.h"
#include "simulate/curve.h"
#include "simulate/safety.h"
#include "simulate/study.h"
#include "simulate/summary.h"
#include "trace_bytes.h"

namespace nearcache::test {
namespace {

using Random = std::mt19937_64;

// A sound trace of a few windows whose ids are reused while gets are pending.
class RandomTrace {
 public:
  explicit RandomTrace(Random& random) : random_(random) { trace_.block(0); }

  std::vector<uint8_t> bytes(int records) {
    window();
    while (records-- > 0) record();
    if (below(4) != 0) trace_.end();
    return trace_.close().bytes;
  }

 private:
  uint64_t below(uint64_t limit) { return random_() % limit; }

  void window() {
    const uint64_t id = below(3), units[] = {1, 8, 0};
    trace_.created(id, 0, 4, static_cast<uint8_t>(below(4)), "w", units[below(3)]).select(id);
  }

  void record() {
    const auto target = static_cast<uint32_t>(below(4));
    const auto place = static_cast<int64_t>(below(64) * 200);
    const uint64_t bytes = 1 + below(below(2) != 0 ? 400 : 4000);
    switch (below(16)) {
      default:
        trace_.get(target, place, bytes, static_cast<Outcome>(below(outcome_count)));
        break;
      case 8:
        trace_.scattered(target, place, bytes, 1 + static_cast<uint32_t>(below(3)), place - 64,
                         bytes + 128);
        break;
      case 9:
      case 10:
        trace_.sync(static_cast<TraceSync>(below(trace_syncs)), static_cast<int>(below(5)) - 1);
        break;
      case 11:
        trace_.write(target, place, bytes);
        break;
      case 12:
        below(2) != 0 ? trace_.time(below(1000)) : trace_.cost(bytes, 1 + below(10000));
        break;
      case 13:
        trace_.owner_write(below(1 << 16), bytes, below(1000));
        break;
      case 14:
        below(2) != 0 ? trace_.mode(below(3), static_cast<uint8_t>(below(4)))
                      : trace_.block(below(1 << 20));
        select();
        break;
      case 15:
        trace_.freed(below(3));
        below(2) != 0 ? window() : select();
        break;
    }
  }
  void select() { trace_.select(below(3)); }

  Random& random_;
  TraceBytes trace_;
};

simulate::StudyOptions options_of(const std::string& path) {
  simulate::StudyOptions options;
  options.traces = {path};
  options.policies = {PolicyKind::rate, PolicyKind::clampi, PolicyKind::tinylfu};
  options.storages = {{"4K", false, 0, 4096}, {"25%", true, 0.25, 0}};
  options.indexes = {{"1.5x", true, 1.5, 0}};
  options.library.skip_cheap = false;
  options.library.max_storage = 16 << 20;
  return options;
}

}  // namespace

const char* const fuzz_target = "fuzz_trace";

std::vector<uint8_t> fuzz_input(uint64_t seed) {
  Random random(seed);
  const auto records = static_cast<int>(random() % (seed % 2 == 0 ? 40 : 1500));
  std::vector<uint8_t> whole = RandomTrace(random).bytes(records);
  return seed % 4 == 0 ? whole : damaged(std::move(whole), random);
}

// Runs every user of the trace; none may be disturbed by errors that others found.
std::string run_fuzz_target(const uint8_t* input, size_t size) {
  static const MemoryFile file;
  const std::string path = file.write({input, input + size});
  if (path.empty()) return "the input could not be written";
  const simulate::StudyOptions options = options_of(path);
  simulate::Study study;
  const std::string wrong = simulate::run_study(options, &study);
  for (const simulate::StudyRow& row : study.rows) {
    const simulate::WindowResult& all = row.total;
    if (wrong.empty() && all.whole_hits() + all.hits_partial > all.gets)
      return "more hits than gets";
  }
  simulate::Curves curves;
  simulate::Summaries summaries;
  simulate::Safety safety;
  if (simulate::run_curves(options, 4, &curves).empty() != wrong.empty())
    return "curve and study disagree on whether the trace is sound";
  if (simulate::run_summary(options, &summaries).empty() != wrong.empty())
    return "summary and study disagree on whether the trace is sound";
  if (simulate::run_safety(options, &safety).empty() != wrong.empty())
    return "safety and study disagree on whether the trace is sound";
  return {};
}

}  // namespace nearcache::test
