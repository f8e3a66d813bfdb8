// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/stream.h"
#include "geometry/operators.h"
#include "models/ops/cuda/gather_pairs_autograd.h"
#include "models/ops/cuda/gather_pairs_launch.h"

namespace geosft::cuda {
namespace {

class GatherLauncher {
 public:
  explicit GatherLauncher(const at::Device& device) : stream_(device) {}
  template <class Call>
  void operator()(const Call& in) const {
    check_launch(launch_gather(in, stream_.get()), "gather_pairs");
  }

 private:
  Stream stream_;
};

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("gather_pairs", gather_pairs_on<GatherLauncher>);
}
GEOSFT_KERNELS(AutogradCUDA, m) {
  m.impl("gather_pairs", differentiable_gather_pairs<GatherLauncher>);
}

}  // namespace geosft::cuda
