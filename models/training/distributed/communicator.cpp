// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/communicator.h"

namespace geosft {
namespace {

class SingleProcess : public Communicator {
 public:
  int64_t rank() const override { return 0; }
  int64_t size() const override { return 1; }
  std::unique_ptr<Work> all_reduce(const at::Tensor&) const override {
    class Completed : public Work {
      void wait() override {}
    };
    return std::make_unique<Completed>();
  }
};

}  // namespace

at::Tensor Communicator::sum(const at::Tensor& values) const {
  at::Tensor total = values.clone(at::MemoryFormat::Contiguous);
  all_reduce(total)->wait();
  return total;
}

bool Communicator::any(bool here) const {
  if (size() == 1) return here;
  return sum(at::scalar_tensor(here ? 1 : 0, at::kLong)).item<int64_t>() > 0;
}

void Communicator::barrier() const {
  any(false);
}

at::Tensor Communicator::broadcast(const at::Tensor& values) const {
  return sum(is_root() ? values : at::zeros_like(values));
}

const Communicator& one_process() {
  static const SingleProcess process;
  return process;
}

at::Tensor all_gather(const Communicator& processes, const at::Tensor& rows, int64_t first, int64_t all, bool absent) {
  TORCH_CHECK(rows.dim() >= 1 && first >= 0 && first + rows.size(0) <= all, "rows ", rows.sizes(), " from ", first,
              " on do not lie in ", all);
  std::vector<int64_t> sizes = rows.sizes().vec();
  sizes[0] = all;
  at::Tensor total = at::zeros(sizes, rows.options());
  if (!absent) total.narrow(0, first, rows.size(0)).copy_(rows);
  processes.all_reduce(total)->wait();
  return total;
}

}  // namespace geosft
