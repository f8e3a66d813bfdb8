// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

namespace geosft {

// While it lives, LibTorch's operators compute in the type of their arguments, inside autocast too. For operators of
// ours that are made of them, whose own type is part of what they promise.
class NoAutocast {
 private:
  c10::impl::ExcludeDispatchKeyGuard guard_{c10::autocast_dispatch_keyset};
};

}  // namespace geosft
