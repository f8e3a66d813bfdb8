// SPDX-License-Identifier: Apache-2.0
// Serves a trained segmentation model from a RUN folder in Python:
// torch.classes.load_library("libgeosft_segment.so"), then
//   run = torch.classes.geosft.Segmenter("runs/parts")
//   run.class_names(), run.part_names()       lists of str; a part is "Chair/seat"
//   run.part_labels()                         list of int: the labels of the parts in the files that were learned
//   run.predict_file(path, "Chair")           (points [n, 3], parts int64 [n]) of a file; points are sampled from
//                                             a mesh, and float64 where float32 does not hold the file's coordinates
//   run.predict(points, normals, "Chair")     probabilities float32 [n, parts] of a cloud [n, 3]; normals [n, 3] or
//   None
// The class may be "" for a model without class input. Clouds are split into blocks as in training ("spread").
// The methods release the GIL, and threads may share an object. It can be pickled and deep-copied: its state is the
// configuration and the weights, not the path of the RUN.
#include "tools/experiment/input_cloud.h"
#include "tools/experiment/python_class.h"
#include "tools/segment/segment_prediction.h"

namespace geosft {
namespace {

class Segmenter final : public ServedRun<Segmentation> {
 public:
  using ServedRun::ServedRun;

  std::vector<std::string> part_names() const {
    std::vector<std::string> names;
    names.reserve(run_.parts.size());
    for (size_t part = 0; part < run_.parts.size(); ++part) names.push_back(run_.part_name(static_cast<int64_t>(part)));
    return names;
  }

  std::vector<int64_t> part_labels() const {
    std::vector<int64_t> labels;
    labels.reserve(run_.parts.size());
    for (const ShapePart& part : run_.parts) labels.push_back(part.label);
    return labels;
  }

  std::tuple<at::Tensor, at::Tensor> predict_file(const std::string& file, const std::string& category) {
    const PartPrediction found = predict_parts(run_, file, category, BlockKind::spread);
    return {found.points, found.labels};
  }

  at::Tensor predict(const at::Tensor& points, const std::optional<at::Tensor>& normals, const std::string& category) {
    std::vector<std::string> warnings;
    Shape shape = input_cloud(points, normals.value_or(at::Tensor()), warnings);
    prepare(run_, shape, warnings);
    return part_logits(run_, shape, category_of(run_, category), BlockKind::spread).softmax(1);
  }
};

const bool registered = register_served_run<Segmenter>("Segmenter", [](auto& served) {
  served.def("part_names", &Segmenter::part_names)
      .def("part_labels", &Segmenter::part_labels)
      .def("predict_file", &Segmenter::predict_file)
      .def("predict", &Segmenter::predict);
});

}  // namespace
}  // namespace geosft
