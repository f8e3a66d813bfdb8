// SPDX-License-Identifier: Apache-2.0
#include "models/training/communicator.h"

namespace geosft {
namespace {

class Alone : public Communicator {
 public:
  int64_t rank() const override { return 0; }
  int64_t size() const override { return 1; }
  std::unique_ptr<PendingSum> start_sum(const at::Tensor&) const override {
    class Done : public PendingSum {
      void wait() override {}
    };
    return std::make_unique<Done>();
  }
};

}  // namespace

at::Tensor Communicator::sum(const at::Tensor& values) const {
  at::Tensor total = values.clone(at::MemoryFormat::Contiguous);
  start_sum(total)->wait();
  return total;
}

bool Communicator::any(bool here) const {
  if (size() == 1) return here;
  return sum(at::scalar_tensor(here ? 1 : 0, at::kLong)).item<int64_t>() > 0;
}

void Communicator::meet() const {
  any(false);
}

at::Tensor Communicator::from_leader(const at::Tensor& values) const {
  return sum(leads() ? values : at::zeros_like(values));
}

const Communicator& one_process() {
  static const Alone alone;
  return alone;
}

at::Tensor gathered_rows(const Communicator& processes, const at::Tensor& rows, int64_t first, int64_t all,
                         bool absent) {
  TORCH_CHECK(rows.dim() >= 1 && first >= 0 && first + rows.size(0) <= all, "rows ", rows.sizes(), " from ", first,
              " on do not lie in ", all);
  std::vector<int64_t> sizes = rows.sizes().vec();
  sizes[0] = all;
  at::Tensor total = at::zeros(sizes, rows.options());
  if (!absent) total.narrow(0, first, rows.size(0)).copy_(rows);
  processes.start_sum(total)->wait();
  return total;
}

}  // namespace geosft
