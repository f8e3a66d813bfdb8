// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <sstream>

#include "tools/analyze/analysis.h"
#include "tools/analyze/commands.h"
#include "tools/analyze/projection.h"
#include "tools/analyze/traced_run.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/shortest_text.h"

namespace geosft {
namespace {

constexpr int panel_side = 430, key_width = 190;
// Paul Tol's bright colour scheme; further classes have another symbol.
constexpr std::array<const char*, 7> class_colours = {"#4477aa", "#ee6677", "#228833", "#ccbb44",
                                                      "#66ccee", "#aa3377", "#888888"};
constexpr std::array<int, 6> class_symbols = {7, 5, 9, 13, 11, 15};  // of gnuplot: filled shapes

// A projection to the plane, [n, 2].
struct Projected {
  std::string name;
  at::Tensor places;
};

struct EmbeddingCommand {
  TracedRun traced;
  int64_t layer = 0, tokens = 0;
  double perplexity = 20.0;
  AnalysisOutput output;

  // The embeddings, [n, d], and for each the row of its class in the names.
  struct Found {
    std::vector<at::Tensor> rows;
    std::vector<int64_t> labels;
    std::vector<std::string> names;
  };

  // Returns the tokens of one cloud that are shown: evenly spaced ones of the input, or their mean.
  at::Tensor tokens_of(const ShapeExplanation& found) const {
    const auto layers = static_cast<int64_t>(found.trace.layers.size());
    if (layer > layers) {
      throw UsageError("--layer: the model has layers 1 … " + std::to_string(layers) + ", found " +
                       std::to_string(layer));
    }
    const at::Tensor all =
        found.trace.in_input_order(found.trace.tokens[static_cast<size_t>(layer == 0 ? layers : layer)]);
    if (tokens == 0) return all.mean(0, true);
    const int64_t count = std::min(tokens, all.size(0));
    return all.index_select(0, at::div(at::arange(count, at::kLong) * all.size(0), count, "floor"));
  }

  Found look() const {
    Found found;
    traced.look_at_classes([&](const ShapeExplanation& one, const std::string& name) {
      const auto known = std::find(found.names.begin(), found.names.end(), name);
      const int64_t label = known - found.names.begin();
      if (known == found.names.end()) found.names.push_back(name);
      const at::Tensor rows = tokens_of(one).to(at::kDouble);
      found.rows.push_back(rows);
      found.labels.insert(found.labels.end(), static_cast<size_t>(rows.size(0)), label);
    });
    return found;
  }

  // Draws the projections side by side, with the names of the classes at the right.
  Picture picture(const std::vector<Projected>& planes, const Found& found) const {
    const double wide = panel_side * static_cast<double>(planes.size()) + key_width;
    Picture drawn{.width = static_cast<int>(wide), .height = panel_side};
    std::ostringstream script;
    script << "set border 15 lc rgb '#b0b0b0'\nunset tics\nset multiplot\n";
    for (size_t panel = 0; panel < planes.size(); ++panel) {
      const double left = static_cast<double>(panel) * panel_side;
      script << "set lmargin at screen " << (left + 12) / wide << "\nset rmargin at screen "
             << (left + panel_side - 12) / wide
             << "\nset tmargin at screen 0.92\nset bmargin at screen 0.03\nset title "
             << gnuplot_string(planes[panel].name) << "\nset offsets graph 0.03, graph 0.03, graph 0.03, graph 0.03\n"
             << (panel + 1 == planes.size()
                     ? "set key at screen 0.995, screen 0.92 right top Left reverse samplen 0.5 font ',9'\n"
                     : "unset key\n");
      const at::Tensor places = planes[panel].places.contiguous();
      const double* place = places.const_data_ptr<double>();
      for (size_t label = 0; label < found.names.size(); ++label) {
        const std::string name = "plane" + std::to_string(panel) + "_" + std::to_string(label);
        for (size_t row = 0; row < found.labels.size(); ++row) {
          if (found.labels[row] != static_cast<int64_t>(label)) continue;
          drawn.data[name] += shortest_text(place[2 * row]) + " " + shortest_text(place[2 * row + 1]) + "\n";
        }
        script << (label == 0 ? "plot '" : ", '") << name << "' with points pt "
               << class_symbols[label / class_colours.size() % class_symbols.size()] << " ps 0.7 lc rgb '"
               << class_colours[label % class_colours.size()] << "' title " << gnuplot_string(found.names[label]);
      }
      script << "\n";
    }
    drawn.script = script.str() + "unset multiplot\n";
    return drawn;
  }

  int execute() const {
    const Found found = look();
    const at::Tensor rows = at::cat(found.rows), labels = at::tensor(found.labels, at::kLong);
    if (rows.size(0) < 4)
      throw UsageError("--items: a projection takes at least 4 rows, found " + std::to_string(rows.size(0)));
    const std::vector<Projected> planes = {{"principal components", principal_components(rows)},
                                           {"t-SNE", tsne_projection(rows, perplexity)}};
    std::string csv = "class,pca_x,pca_y,tsne_x,tsne_y\n";
    for (size_t row = 0; row < found.labels.size(); ++row) {
      csv += csv_field(found.names[static_cast<size_t>(found.labels[row])]);
      for (const Projected& plane : planes) {
        const double* place = plane.places.const_data_ptr<double>() + 2 * row;
        csv += "," + shortest_text(place[0]) + "," + shortest_text(place[1]);
      }
      csv += "\n";
    }
    output.write_csv(csv);
    std::cout << rows.size(0) << (tokens == 0 ? " means of tokens" : " tokens") << " of " << found.rows.size()
              << " clouds; their nearest neighbours are of the same class: in " << rows.size(1) << " dimensions "
              << percent(neighbour_accuracy(rows, labels));
    for (const Projected& plane : planes) {
      std::cout << ", by " << plane.name << ' ' << percent(neighbour_accuracy(plane.places, labels));
    }
    std::cout << '\n';
    output.check_drawn(draw(picture(planes, found), output.stem()));
    return 0;
  }
};

}  // namespace

Command add_embedding_command(CLI::App& subcommand) {
  auto command = std::make_shared<EmbeddingCommand>();
  command->traced.items = 500;
  command->traced.add_to(subcommand);
  subcommand.add_option("--layer", command->layer, "whose output is shown, from 1; 0: the last")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  subcommand.add_option("--tokens", command->tokens, "shown of each cloud; 0: the mean of all of them")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  subcommand.add_option("--perplexity", command->perplexity, "of t-SNE: about how many neighbours count")
      ->check(CLI::Range(1.0, 1000.0))
      ->capture_default_str();
  command->output.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft
