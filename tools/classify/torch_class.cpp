// SPDX-License-Identifier: Apache-2.0
// Serves a trained classifier from a RUN folder in Python: torch.classes.load_library("libgeosft_classify.so"), then
//   run = torch.classes.geosft.Classifier("runs/furniture")
//   run.class_names()           list of str
//   run.predict_file(path, 3)   list of (class, probability), the 3 most probable ones
//   run.predict(points, None)   probabilities float32 [classes] of a cloud [n, 3]; optional normals [n, 3], which are
//                               scaled to unit length
// The methods release the GIL, and threads may share an object. It can be pickled and deep-copied: its state is the
// configuration and the weights, not the path of the RUN.
#include "tools/classify/prediction.h"
#include "tools/experiment/input_cloud.h"
#include "tools/experiment/python_class.h"

namespace geosft {
namespace {

class Classifier final : public ServedRun<Classification> {
 public:
  using ServedRun::ServedRun;

  std::vector<std::tuple<std::string, double>> predict_file(const std::string& file, int64_t top) {
    TORCH_CHECK(top >= 1, "top must be at least 1, got ", top);
    std::vector<std::tuple<std::string, double>> named;
    for (const auto& [label, probability] : geosft::predict(run_, file, top).ranking) {
      named.emplace_back(run_.class_names.at(label), probability);
    }
    return named;
  }

  at::Tensor predict(const at::Tensor& points, const std::optional<at::Tensor>& normals) {
    std::vector<std::string> warnings;
    Shape shape = input_cloud(points, normals.value_or(at::Tensor()), warnings);
    prepare(run_.settings, shape, warnings);
    return explain_shape(run_, shape, Rotation::none, 0).logits.softmax(0);
  }
};

const bool registered = register_served_run<Classifier>("Classifier", [](auto& served) {
  served.def("predict_file", &Classifier::predict_file).def("predict", &Classifier::predict);
});

}  // namespace
}  // namespace geosft
