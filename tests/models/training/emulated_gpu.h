// SPDX-License-Identifier: Apache-2.0
// A device on which training steps can be captured and replayed without a GPU. LibTorch knows it as HPU, for which it
// brings no kernels: every operator runs the CPU's on the same memory, and a capture notes it with its arguments. Ours
// are those of a GPU, whose kernels are emulated, in a build that has them. A replay calls the noted operators and
// kernels again, and nothing of the program: what is a number in their arguments, or was computed beside them, stays
// what it was. What a CUDA graph cannot hold is an error of a capture, and what would make
// the program wait for a GPU, a copy to it that is not enqueued included, is one while there is a NeverWaiting.
// Programs that include this have the objects of geosft_emulated_gpu.
#pragma once

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>
#include <ATen/detail/HPUHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "geometry/device_offsets.h"
#include "models/training/step_graph.h"

namespace geosft::test::emulated_gpu {

inline const at::Device device(at::kHPU, 0);

struct Call {
  c10::OperatorHandle op;
  std::vector<c10::IValue> arguments, results;
};
using Kernel = std::function<void()>;
inline std::vector<std::variant<Call, Kernel>>* capturing = nullptr;

// On memory of the device, of tensors that are arguments or results of operators.
inline void launch(Kernel kernel) {
  kernel();
  if (capturing != nullptr) capturing->push_back(std::move(kernel));
}

inline bool waiting_is_an_error = false;
class NeverWaiting {
 public:
  NeverWaiting() { waiting_is_an_error = true; }
  ~NeverWaiting() { waiting_is_an_error = before_; }
  NeverWaiting(const NeverWaiting&) = delete;
  NeverWaiting& operator=(const NeverWaiting&) = delete;

 private:
  bool before_ = waiting_is_an_error;
};

// A tensor of the device and the same memory as the CPU sees it.
struct Both {
  at::Tensor there, here;
};

inline bool path_exists(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device() == device;
}

inline at::Tensor seen_by_cpu(const at::Tensor& there) {
  const auto& memory = *static_cast<c10::Storage*>(there.storage().data_ptr().get_context());
  return at::empty({0}, there.scalar_type()).set_(memory, there.storage_offset(), there.sizes(), there.strides());
}

inline c10::Storage storage_there(const c10::Storage& here) {
  const auto free = [](void* held) { delete static_cast<c10::Storage*>(held); };
  c10::DataPtr memory(here.mutable_data(), new c10::Storage(here), free, device);
  return c10::Storage(c10::Storage::use_byte_size_t(), here.nbytes(), std::move(memory), nullptr, false);
}

inline void take_form(const at::Tensor& tensor, const at::Tensor& of) {
  auto* const impl = tensor.unsafeGetTensorImpl();
  if (tensor.sizes() == of.sizes() && tensor.strides() == of.strides() && impl->storage_offset() == of.storage_offset())
    return;
  impl->set_sizes_and_strides(of.sizes(), of.strides());
  impl->set_storage_offset(of.storage_offset());
}

inline at::Tensor made_there(const at::Tensor& here, const c10::Storage& storage) {
  at::Tensor there = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage),
                                                              c10::DispatchKeySet(c10::DispatchKey::HPU), here.dtype());
  take_form(there, here);
  return there;
}

// Calls `each` on every tensor of a value, and gives the value with what that returns.
template <class Each>
c10::IValue with_tensors(const c10::IValue& value, const Each& each) {
  if (value.isTensor()) return each(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(each(tensor));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      list.push_back(tensor ? std::optional(each(*tensor)) : std::nullopt);
    }
    return list;
  }
  return value;
}

// The kernels of a GPU pass over a mask's columns below 0, which those of the CPU refuse.
inline void keep_keys(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  const auto rowptr = op.schema().argumentIndexWithName("mask_rowptr");
  const auto col = op.schema().argumentIndexWithName("mask_col");
  if (!rowptr || !col || !stack[static_cast<size_t>(*col)].isTensor()) return;
  c10::IValue &rows = stack[static_cast<size_t>(*rowptr)], &columns = stack[static_cast<size_t>(*col)];
  const at::Tensor keys = columns.toTensor() >= 0;
  rows = at::constant_pad_nd(keys.cumsum(0), {1, 0}).index_select(0, rows.toTensor());
  columns = columns.toTensor().masked_select(keys);
}

// The operator on the CPU, on the memory of the device: the arguments as the CPU sees them, and its results.
inline std::vector<c10::IValue> called_here(const c10::OperatorHandle& op, const std::vector<c10::IValue>& arguments,
                                            std::vector<Both>& seen) {
  torch::jit::Stack stack;
  for (const c10::IValue& argument : arguments) {
    if (argument.isDevice() && argument.toDevice().type() == device.type()) {
      stack.emplace_back(at::Device(at::kCPU));
      continue;
    }
    stack.push_back(with_tensors(argument, [&](const at::Tensor& tensor) {
      if (!path_exists(tensor)) return tensor;
      seen.push_back({tensor, seen_by_cpu(tensor)});
      return seen.back().here;
    }));
  }
  const at::AutoDispatchBelowADInplaceOrView below;
  keep_keys(op, stack);
  op.callBoxed(stack);
  return stack;
}

// A result of the device: an argument that was written, a view of one, or memory of its own.
inline at::Tensor result_there(const at::Tensor& here, const std::vector<Both>& seen) {
  for (const Both& both : seen) {
    if (here.is_same(both.here)) return both.there;
    if (here.storage().unsafeGetStorageImpl() == both.here.storage().unsafeGetStorageImpl()) {
      return made_there(here, both.there.storage());
    }
  }
  return made_there(here, storage_there(here.storage()));
}

// Returns whether an operator samples pairs: its offsets stay with ptr, and carry a copy as those of the CUDA kernels
// do.
inline bool samples_pairs(const c10::OperatorHandle& op) {
  return op.schema().name().find("geosft::_select_pairs") == 0;
}

inline void refuse(const c10::OperatorHandle& op, const std::string& reason) {
  TORCH_CHECK(false, op.schema().name(), ": ", reason);
}

// Whether a GPU would be waited for: for a value, for a size that depends on values, or for a copy.
inline bool waits(const c10::OperatorHandle& op, const std::vector<c10::IValue>& arguments) {
  const std::string& name = op.schema().name();
  if (name == "aten::copy_") {
    const bool from = path_exists(arguments[1].toTensor()), to = path_exists(arguments[0].toTensor());
    return from != to && (from || !arguments[2].toBool());
  }
  if (name == "aten::repeat_interleave") return !arguments[1].isInt();  // the size of the result is known
  if (name == "aten::segment_reduce") return arguments[2].isTensor() && !arguments[6].toBool();  // sizes are checked
  return op.hasTag(at::Tag::data_dependent_output) || op.hasTag(at::Tag::dynamic_output_shape);
}

inline void check_call(const c10::OperatorHandle& op, const std::vector<c10::IValue>& arguments) {
  const std::string& name = op.schema().name();
  std::vector<at::Tensor> here;
  for (const c10::IValue& argument : arguments) {
    with_tensors(argument, [&](const at::Tensor& tensor) {
      if (tensor.defined() && !path_exists(tensor) && tensor.dim() > 0) here.push_back(tensor);
      return tensor;
    });
  }
  const bool copies = name == "aten::copy_", ours = name.find("geosft::") == 0;
  if (!here.empty() && !copies && !ours) refuse(op, "not all tensors are on the device");
  if (waiting_is_an_error && waits(op, arguments)) refuse(op, "the device is waited for");
  if (capturing == nullptr) return;
  if (copies && (!here.empty() || !path_exists(arguments[0].toTensor()) || !path_exists(arguments[1].toTensor()))) {
    refuse(op, "a captured step copies to the device, or from it");
  }
  if (waits(op, arguments)) refuse(op, "a captured step waits for a value");
  if (op.hasTag(at::Tag::nondeterministic_seeded)) refuse(op, "a captured step draws on the device");
  for (const at::Tensor& offsets : here) ptr_on_device(offsets, device, "ptr");  // copies unless they carry a copy
}

inline void call(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto count = static_cast<std::ptrdiff_t>(op.schema().arguments().size());
  const std::vector<c10::IValue> arguments(stack->end() - count, stack->end());
  check_call(op, arguments);
  std::vector<Both> seen;
  std::vector<c10::IValue> results = called_here(op, arguments, seen);
  for (const Both& both : seen) take_form(both.there, both.here);
  const bool offsets_stay = samples_pairs(op) && arguments[2].isTensor() && !path_exists(arguments[2].toTensor());
  for (size_t i = 0; i < results.size(); ++i) {
    results[i] = with_tensors(results[i], [&](const at::Tensor& here) {
      if (!here.defined()) return here;
      const at::Tensor there = result_there(here, seen);
      return offsets_stay && i == 3 ? ptr_with_device_copy(here, there) : there;
    });
  }
  if (capturing != nullptr) capturing->push_back(Call{op, arguments, results});
  stack->erase(stack->end() - count, stack->end());
  stack->insert(stack->end(), results.begin(), results.end());
}

inline std::vector<at::Tensor> tensors_of(const std::vector<c10::IValue>& values) {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : values) {
    with_tensors(value, [&](const at::Tensor& tensor) {
      tensors.push_back(tensor);
      return tensor;
    });
  }
  return tensors;
}

// Once more, with the results where they were.
inline void repeat(const Call& noted) {
  std::vector<Both> seen;
  const std::vector<at::Tensor> found = tensors_of(called_here(noted.op, noted.arguments, seen));
  const std::vector<at::Tensor> kept = tensors_of(noted.results);
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!path_exists(kept[i]) || found[i].numel() == 0) continue;  // empty at first, a result may have grown since
    const at::Tensor place = seen_by_cpu(kept[i]);
    if (place.data_ptr() != found[i].data_ptr()) place.copy_(found[i]);
  }
}

class EmulatedGraph : public StepGraph {
 public:
  // Here the work is done when it is noted, and the first replay has nothing to do.
  void capture(const std::function<void()>& work) override {
    capturing = &noted_;
    try {
      work();
    } catch (...) {
      capturing = nullptr;
      throw;
    }
    capturing = nullptr;
  }
  void replay() override {
    if (std::exchange(done_by_capture_, false)) return;
    for (const auto& noted : noted_) {
      if (const auto* const kernel = std::get_if<Kernel>(&noted)) {
        (*kernel)();
      } else {
        repeat(std::get<Call>(noted));
      }
    }
  }

 private:
  std::vector<std::variant<Call, Kernel>> noted_;
  bool done_by_capture_ = true;
};

inline StepGraphMaker graphs() {
  return [] { return std::make_unique<EmulatedGraph>(); };
}

struct Guard : c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::HPU> {
  at::Device getDevice() const override { return device; }
  at::Device exchangeDevice(at::Device) const override { return device; }
  // What is enqueued is done at once.
  c10::Stream getStream(at::Device) const noexcept override { return c10::Stream(c10::Stream::DEFAULT, device); }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return getStream(device); }
  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
};

// The backward pass, and whoever seeds all generators, ask for these.
struct Hooks : at::HPUHooksInterface {
  explicit Hooks(at::HPUHooksArgs = {}) {}
  void init() const override {}
  bool hasHPU() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    return at::detail::getDefaultCPUGenerator();
  }
};

}  // namespace geosft::test::emulated_gpu
