// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/simd.h"

#include <c10/util/Exception.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

GEOSFT_SIMD_BEGIN();
int64_t compiled_target() {
  return HWY_TARGET;
}
GEOSFT_SIMD_END();

#if HWY_ONCE
namespace geosft {
namespace {
HWY_EXPORT(compiled_target);
}  // namespace

std::string simd_target_name() {
  return hwy::TargetName(HWY_DYNAMIC_DISPATCH(compiled_target)());
}

std::vector<std::string> simd_target_names() {
  std::vector<std::string> names;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

void force_simd_target(const std::string& name) {
  hwy::SetSupportedTargetsForTest(0);
  if (name.empty()) return;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (name == hwy::TargetName(target)) return hwy::SetSupportedTargetsForTest(target);
  }
  TORCH_CHECK_VALUE(false, "name: no vector target '", name, "' on this processor");
}

}  // namespace geosft
#endif
