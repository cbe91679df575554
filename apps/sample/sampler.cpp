// SPDX-License-Identifier: BSD-3-Clause
#include "sample/sampler.h"

#include <fmt/core.h>

#include "common/agreement.h"
#include "graph/node_memory.h"
#include "sample/features.h"

namespace sample {
namespace {

// Virtual time charged for drawing a neighbour and finding it among the distinct vertices: an
// assumption, on the order of a few cache misses. It is the same with and without a cache.
constexpr double neighbour_seconds = 60e-9;

void sort_distinct(std::vector<Vertex>& vertices) {
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
}

// Adds the time between construction and destruction to `seconds`.
class Timed {
 public:
  explicit Timed(double& seconds) : seconds_(seconds), start_(MPI_Wtime()) {}
  ~Timed() { seconds_ += MPI_Wtime() - start_; }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& seconds_;
  double start_;
};

}  // namespace

Features::Features(MPI_Comm comm, const Graph& graph, std::uint64_t bytes) : words_(bytes / 8) {
  require_memory(comm, static_cast<double>(bytes) * static_cast<double>(graph.local_vertices()),
                 "the feature rows");
  together(comm, [&] {
    rows_.resize(graph.local_vertices() * words_);
    for (std::uint64_t i = 0; i < graph.local_vertices(); ++i) {
      write_row(static_cast<Vertex>(graph.first_vertex() + i), rows_.data() + i * words_, words_);
    }
  });
}

Sampler::Sampler(MPI_Comm comm, const Graph& graph, const Features& features,
                 const Options& options)
    : graph_(graph),
      features_(features),
      options_(options),
      rows_(comm, graph),
      lists_(comm, graph),
      feature_window_(comm, {features.rows().data(), features.rows().size() * 8, 8, MPI_UINT64_T},
                      "features") {}

void Sampler::run_minibatch(std::uint64_t epoch, std::uint64_t minibatch) {
  std::vector<Vertex> hop_vertices, met;
  for (std::uint64_t i = 0; i < options_.batch; ++i) {
    hop_vertices.push_back(draw_seed(options_.sample_seed, minibatch * options_.batch + i,
                                     graph_.partition.vertices()));
  }
  sort_distinct(hop_vertices);
  met = hop_vertices;
  for (std::uint64_t hop = 0; hop < options_.fan_outs.size(); ++hop) {
    const Expansion what{options_.sample_seed, epoch * options_.batches + minibatch, hop};
    locate(hop_vertices);
    draw(what, hop_vertices, options_.fan_outs[hop]);
    options_.whole_lists ? fetch_lists(hop_vertices) : fetch_entries(hop_vertices);
    count_neighbours(what, hop_vertices);
    const Timed timed(cost_.computation);
    hop_vertices = neighbours_;
    sort_distinct(hop_vertices);
    met.insert(met.end(), hop_vertices.begin(), hop_vertices.end());
    charge_seconds(static_cast<double>(neighbours_.size()) * neighbour_seconds);
  }
  sort_distinct(met);
  fetch_rows(met);
  check_rows(met);
}

void Sampler::locate(std::span<const Vertex> vertices) {
  const Timed timed(cost_.communication);
  offsets_.resize(2 * vertices.size());
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (rows_.is_own(vertices[i])) continue;
    rows_.get(vertices[i], &offsets_[2 * i]);
    cost_.row_pointers.add(RowWindow::get_bytes);
  }
  rows_.flush_all();
  located_.clear();
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    located_.push_back(rows_.is_own(vertices[i]) ? rows_.own_row(vertices[i])
                                                 : rows_.row_of(vertices[i], &offsets_[2 * i]));
  }
  cache_time_.charge();
}

void Sampler::draw(const Expansion& what, std::span<const Vertex> vertices, std::uint64_t fan_out) {
  const Timed timed(cost_.computation);
  places_.clear();
  first_place_.assign(1, 0);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    draw_places(what, vertices[i], located_[i].degree, fan_out, drawn_);
    places_.insert(places_.end(), drawn_.begin(), drawn_.end());
    first_place_.push_back(places_.size());
  }
  neighbours_.resize(places_.size());
  cost_.sampled += places_.size();
}

// Fetches only the sampled entries: many gets of four bytes.
void Sampler::fetch_entries(std::span<const Vertex> vertices) {
  const Timed timed(cost_.communication);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const Row& row = located_[i];
    for (auto p = first_place_[i]; p < first_place_[i + 1]; ++p) {
      if (lists_.is_own(row)) {
        neighbours_[p] = lists_.own(row)[places_[p]];
        continue;
      }
      lists_.get_entry(row, places_[p], &neighbours_[p]);
      cost_.lists.add(sizeof(Vertex));
    }
  }
  lists_.flush_all();
  cache_time_.charge();
}

// Fetches whole lists, one get each, as codes do that sample locally.
void Sampler::fetch_lists(std::span<const Vertex> vertices) {
  const Timed timed(cost_.communication);
  std::uint64_t entries = 0;
  for (const Row& row : located_) entries += lists_.is_own(row) ? 0 : row.degree;
  fetched_lists_.resize(entries);
  std::uint64_t at = 0;
  for (const Row& row : located_) {
    if (lists_.is_own(row) || row.degree == 0) continue;
    lists_.start(row, fetched_lists_.data() + at);
    cost_.lists.add(row.degree * sizeof(Vertex));
    at += row.degree;
  }
  lists_.flush_all();
  at = 0;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const bool own = lists_.is_own(located_[i]);
    const Vertex* list = own ? lists_.own(located_[i]) : fetched_lists_.data() + at;
    for (auto p = first_place_[i]; p < first_place_[i + 1]; ++p) neighbours_[p] = list[places_[p]];
    if (!own) at += located_[i].degree;
  }
  cache_time_.charge();
}

void Sampler::fetch_rows(std::span<const Vertex> vertices) {
  const Timed timed(cost_.communication);
  const std::uint64_t words = features_.words();
  fetched_rows_.resize(vertices.size() * words);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const int target = graph_.partition.owner(vertices[i]);
    if (target == graph_.rank) continue;
    feature_window_.get(target, (vertices[i] - graph_.partition.first(target)) * words, words,
                        &fetched_rows_[i * words]);
    cost_.features.add(8 * words);
  }
  feature_window_.flush_all();
  cache_time_.charge();
}

void Sampler::check_rows(std::span<const Vertex> vertices) {
  const Timed timed(cost_.check);
  const std::uint64_t words = features_.words();
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const bool own = graph_.partition.owner(vertices[i]) == graph_.rank;
    const std::uint64_t* row =
        own ? features_.own(vertices[i] - graph_.first_vertex()) : &fetched_rows_[i * words];
    if (!is_row_of(vertices[i], row, words)) {
      throw Failure(
          fmt::format("wrong data: what was fetched as the feature row of vertex {} is not its row",
                      vertices[i]));
    }
    cost_.checksum += row_digest(row, words);
  }
  cost_.rows += vertices.size();
}

// Adds the sampled neighbours to the checksum.
void Sampler::count_neighbours(const Expansion& what, std::span<const Vertex> vertices) {
  const Timed timed(cost_.check);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const std::uint64_t key = mix64(mix64(what.minibatch << 8 | what.hop) ^ vertices[i]);
    for (auto p = first_place_[i]; p < first_place_[i + 1]; ++p)
      cost_.checksum += mix64(key ^ neighbours_[p]);
  }
}

}  // namespace sample
