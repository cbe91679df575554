#include "lcc.h"

#include <algorithm>
#include <chrono>

#include "agreement.h"
#include "intersect.h"
#include "progress.h"

namespace lcc {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

// Lists are fetched in batches, one get and one flush each, then intersected as a batch. So the clock is read
// three times a batch and not twice a get: reading it costs 25 ns, a get served from a cache only some 100 ns.
class Counter {
 public:
  Counter(const Graph& graph, const RowPointers& rows, AdjacencyWindow& window)
      : graph_(graph),
        rows_(rows),
        window_(window),
        intersector_(graph.partition.vertices()),
        buffer_(std::max(batch_entries, rows.max_degree())) {}

  std::uint64_t triangles_of(std::uint64_t local) {
    const auto neighbours = graph_.neighbours(local);
    if (neighbours.size() < 2) return 0;
    auto before = Clock::now();
    intersector_.select(neighbours);
    std::uint64_t common = 0;
    for (std::size_t done = 0; done < neighbours.size();) {
      const auto fetching = Clock::now();
      computation_ += fetching - before;
      done += fetch(neighbours.subspan(done));
      const auto fetched = Clock::now();
      communication_ += fetched - fetching;
      for (const auto list : lists_) common += intersector_.count_common(list);
      before = fetched;
    }
    computation_ += Clock::now() - before;
    // Both ends of the opposite edge have found the other.
    return common / 2;
  }

  Cost cost() const {
    Cost cost;
    cost.communication = seconds(communication_);
    cost.computation = seconds(computation_);
    cost.gets = gets_;
    cost.bytes = bytes_;
    return cost;
  }

 private:
  // Fills lists_ for as many of `neighbours` as fit into the buffer and returns how many were dealt with.
  std::size_t fetch(std::span<const Vertex> neighbours) {
    lists_.clear();
    std::uint64_t filled = 0;
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      const Row row = rows_.locate(neighbours[i]);
      if (row.degree < 2) continue;  // knows nobody but us
      if (window_.is_own(row)) {
        lists_.emplace_back(window_.own(row), row.degree);
        continue;
      }
      if (filled + row.degree > buffer_.size() || (filled > 0 && filled + row.degree > batch_entries)) return i;
      Vertex* into = buffer_.data() + filled;
      window_.get(row, into);
      lists_.emplace_back(into, row.degree);
      filled += row.degree;
      ++gets_;
      bytes_ += row.degree * sizeof(Vertex);
    }
    return neighbours.size();
  }

  // 16 KiB: half of a usual first-level cache, the rest is for the bitmap and the caching layer's own tables.
  static constexpr std::uint64_t batch_entries = 4096;

  const Graph& graph_;
  const RowPointers& rows_;
  AdjacencyWindow& window_;
  Intersector intersector_;
  std::vector<Vertex> buffer_;
  std::vector<std::span<const Vertex>> lists_;
  Clock::duration communication_{}, computation_{};
  std::uint64_t gets_ = 0, bytes_ = 0;
};

}  // namespace

Result count_triangles(MPI_Comm comm, const Graph& graph, const RowPointers& rows, AdjacencyWindow& window,
                       std::uint64_t vertices, bool show_progress) {
  Result result;
  auto counter = together(comm, [&] {
    result.triangles.resize(vertices);
    return Counter(graph, rows, window);
  });
  // Work goes with the number of neighbours, not of vertices.
  Progress progress(show_progress, "counting triangles", graph.offsets[vertices]);
  check(MPI_Barrier(comm), "MPI_Barrier");
  const double start = MPI_Wtime();
  const std::string error = error_of([&] {
    for (std::uint64_t v = 0; v < vertices; ++v) {
      result.triangles[v] = counter.triangles_of(v);
      progress.at(graph.offsets[v + 1]);
    }
  });
  agree(comm, error);  // a barrier, too
  result.cost = counter.cost();
  result.cost.lcc = MPI_Wtime() - start;
  return result;
}

}  // namespace lcc
