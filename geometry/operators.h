// SPDX-License-Identifier: Apache-2.0
// Registers and looks up the operators in LibTorch's dispatcher. One process may load the library more than once (for
// example with a program and with a Python package): the operators of the first copy serve the other copies of the same
// version. A copy of another version warns when it is loaded, and its functions throw instead of calling an operator.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <optional>
#include <string>

namespace geosft {

// Registers nothing if another copy of the library has already done so.
class OperatorRegistration {
 public:
  OperatorRegistration(torch::Library::Kind kind, std::optional<c10::DispatchKey> key, void (*fill)(torch::Library&),
                       const char* file, uint32_t line);

 private:
  std::optional<torch::Library> library_;
};

// Throws if the registered operators belong to another version.
void check_operators_version();

// Returns the operator geosft::<name>, whose schema must agree with Signature.
template <class Signature>
c10::TypedOperatorHandle<Signature> find_operator(const char* name) {
  check_operators_version();
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow((std::string("geosft::") + name).c_str(), "")
      .typed<Signature>();
}

// Registers the kernels of an operator for the dispatch keys kKeys, in their order.
template <c10::DispatchKey... kKeys, class... Kernels>
void implement_operator(torch::Library& m, const std::string& name, Kernels*... kernels) {
  static_assert(sizeof...(kKeys) == sizeof...(Kernels));
  (m.impl(name.c_str(), torch::dispatch(kKeys, kernels)), ...);
}

// Registers the schema of an operator that torch.compile can take, and its kernels.
template <c10::DispatchKey... kKeys, class... Kernels>
void define_operator(torch::Library& m, const std::string& schema, Kernels*... kernels) {
  m.def(schema.c_str(), {at::Tag::pt2_compliant_tag});
  implement_operator<kKeys...>(m, schema.substr(0, schema.find('(')), kernels...);
}

}  // namespace geosft

// GEOSFT_OPERATORS(m) { m.def(schema…); } registers schemas; GEOSFT_KERNELS(CPU, m) { m.impl(name, function); }
// registers kernels for a dispatch key. They correspond to TORCH_LIBRARY_FRAGMENT and TORCH_LIBRARY_IMPL.
#define GEOSFT_OPERATORS(m) GEOSFT_REGISTER(FRAGMENT, std::nullopt, m, C10_UID)
#define GEOSFT_KERNELS(key, m) GEOSFT_REGISTER(IMPL, c10::DispatchKey::key, m, C10_UID)
#define GEOSFT_REGISTER(kind, key, m, uid)                                                  \
  static void C10_CONCATENATE(fill_library_, uid)(torch::Library&);                         \
  static const geosft::OperatorRegistration C10_CONCATENATE(operator_registration_, uid)(   \
      torch::Library::kind, key, &C10_CONCATENATE(fill_library_, uid), __FILE__, __LINE__); \
  void C10_CONCATENATE(fill_library_, uid)(torch::Library & (m))
