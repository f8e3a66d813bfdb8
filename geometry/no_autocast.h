// SPDX-License-Identifier: Apache-2.0
// Disables autocast in a scope.
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

namespace geosft {

// Disables autocast during its lifetime: LibTorch's operators then compute in the dtype of their arguments. Used by our
// operators that are composed of LibTorch's and guarantee a dtype.
class NoAutocast {
 private:
  c10::impl::ExcludeDispatchKeyGuard guard_{c10::autocast_dispatch_keyset};
};

}  // namespace geosft
