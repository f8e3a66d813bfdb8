// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "data/packed_items.h"
#include "tools/experiment/graph_learning.h"
#include "tools/scene/subject.h"

namespace geosft::view {

enum class GraphLayout { automatic, coordinates, depiction, spectral, force_directed };
// Throws c10::Error for a name other than automatic, coordinates, depiction, spectral, spring.
GraphLayout graph_layout_of(const std::string& name);

struct GraphGalleryOptions {
  // Automatic: coordinates if the dataset has them, else the depiction of molecules with SMILES, else force-directed.
  GraphLayout layout = GraphLayout::automatic;
  int64_t walk_steps = 8;  // columns of the random-walk encoding
  uint64_t seed = 0;       // of the force-directed layout
  bool labelled = true;    // whether the targets are known
  std::vector<std::string> names =
      {};  // of the graphs; empty: the name of the dataset, a number, and what the data name
};

// Shows the graphs of a dataset, with the trace of a trained model if one is given.
class GraphGallery : public Gallery {
 public:
  // `name` is the name of the dataset in titles. Throws UsageError for the coordinates layout if the dataset has no
  // coordinates, and for the depiction if it has no SMILES.
  GraphGallery(PackedItems graphs, std::string name, std::optional<GraphRun> trained,
               const GraphGalleryOptions& options);

  int64_t size() const override { return graphs_.size(); }
  bool flat() const override { return layout_ == GraphLayout::depiction; }
  // Throws UsageError if `beside` is set: graphs have no rotated copy.
  Subject get(int64_t item, bool beside) override;

 private:
  at::Tensor places(const FeaturedGraphs& one, int64_t item) const;
  void explain(const FeaturedGraphs& one, int64_t item, Subject& subject);

  PackedItems graphs_;
  std::string name_;
  std::optional<GraphRun> trained_;
  GraphGalleryOptions options_;
  GraphLayout layout_;  // never automatic
};

}  // namespace geosft::view
