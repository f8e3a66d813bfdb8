// SPDX-License-Identifier: Apache-2.0
// Calls an operator by its name through LibTorch's dispatcher.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace geosft {

// The operator geosft::<name>, whose schema must agree with Signature.
template <class Signature>
c10::TypedOperatorHandle<Signature> find_operator(const char* name) {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow((std::string("geosft::") + name).c_str(), "")
      .typed<Signature>();
}

}  // namespace geosft
