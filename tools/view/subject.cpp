// SPDX-License-Identifier: Apache-2.0
#include "tools/view/subject.h"

namespace geosft::view {

int64_t Subject::layers() const {
  return trace ? static_cast<int64_t>(trace->layers.size()) : 0;
}

int64_t Subject::heads() const {
  return layers() > 0 ? trace->layers.front().heads : 0;
}

bool Subject::head_samples() const {
  return trace && trace->head.score.defined();
}

}  // namespace geosft::view
