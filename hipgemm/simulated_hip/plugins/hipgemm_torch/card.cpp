/* The simulated card as torch's CUDA device, as ROCm's torch has AMD's cards: torch built for the CPU has that device's
   keys, and nothing behind them. Here are its memory, by hipMalloc, its guard, streams and events, its generator of
   random numbers, and its kernels. Matrix products are hipBLAS's, so they run on the card. Any other operator runs
   torch's kernel for the CPU on the card's memory, which is memory of this process: each tensor argument becomes one of
   the CPU on the same storage, and a result that lies in such a storage becomes a view of the card's.

   A stream that is captured takes such an operator as a host function that does it again, into the same results.

   Limits: one device, no quantised tensors; a sparse one (COO, or compressed) is its dense parts; under
   capture none is written to, and one that is made keeps its number of elements. */

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/transformers/attention.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <dlfcn.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

using at::Tensor;
using c10::Device;
using c10::DeviceIndex;

static const Device CARD(c10::kCUDA, 0);

/* HIP and hipBLAS, by name. */
static void *library(const char *name) {
    const char *hip = getenv("TRITON_LIBHIP_PATH");
    std::string beside = std::string(hip).substr(0, std::string(hip).rfind('/') + 1) + name;
    void *found = dlopen(beside.c_str(), RTLD_NOW);
    if (!found) found = dlopen(name, RTLD_NOW);
    TORCH_CHECK(found, dlerror());
    return found;
}

template <class... A> static int call(const char *name, A... arguments) {
    static void *const hip = library("libamdhip64.so");
    static void *const blas = library("libhipblas.so.2");
    void *found = dlsym(strncmp(name, "hipblas", 7) ? hip : blas, name);
    return ((int (*)(A...))found)(arguments...);
}

template <class... A> static void checked(const char *name, A... arguments) {
    int code = call(name, arguments...);
    TORCH_CHECK(code == 0, name, " returns ", code);
}

/* Memory. */
static struct Tally {
    std::atomic<int64_t> used, peak, ever;

    void add(int64_t more) {
        ever += more;
        int64_t now = used += more, before = peak;
        while (now > before && !peak.compare_exchange_weak(before, now)) {}
    }
} tallies[2]; // bytes, allocations

/* What a captured graph needs as long as it lives: all memory that was allocated meanwhile, and its host functions. */
struct Graph {
    std::vector<void *> blocks;
    std::deque<std::function<void()>> work;

    ~Graph() { for (void *block : blocks) call("hipFree", block); }
};

static std::shared_ptr<Graph> captured; // while one is

template <bool pinned> struct Memory final : c10::Allocator {
    struct Block { void *at; size_t size; std::shared_ptr<Graph> of; };

    static void release(void *context) {
        Block *block = (Block *)context;
        if (!block->of) call(pinned ? "hipHostFree" : "hipFree", block->at);
        if (!pinned) tallies[0].used -= block->size, --tallies[1].used;
        delete block;
    }

    c10::DataPtr allocate(size_t size) override {
        Device device = pinned ? Device(c10::kCPU) : CARD;
        if (!size) return {nullptr, nullptr, &release, device};
        void *at = nullptr;
        int code = pinned ? call("hipHostMalloc", &at, size, 0u) : call("hipMalloc", &at, size);
        TORCH_CHECK_WITH(OutOfMemoryError, code == 0, "the card has no room for ", size, " bytes");
        if (!pinned) tallies[0].add(size), tallies[1].add(1);
        std::shared_ptr<Graph> graph = pinned ? nullptr : captured;
        if (graph) graph->blocks.push_back(at);
        return {at, new Block{at, size, graph}, &release, device};
    }

    void copy_data(void *to, const void *from, size_t size) const override { memcpy(to, from, size); }

    /* The graph that the memory was allocated for, if any. */
    static Graph *owner(const c10::DataPtr &at) {
        return at.get_deleter() == &release && at.get_context() ? ((Block *)at.get_context())->of.get() : nullptr;
    }
};

static Memory<false> memory;
static Memory<true> pinned_memory;

static void set_room(c10::StorageImpl *storage, size_t size, const void *from, size_t held) {
    c10::DataPtr fresh = memory.allocate(size);
    if (held) memcpy(fresh.get(), from, std::min(held, size));
    storage->set_data_ptr_noswap(std::move(fresh));
    storage->set_nbytes(size);
}

/* The current stream of each thread: a hipStream_t as torch's number of a stream. */
static thread_local int64_t current_stream;

static c10::Stream stream_of(int64_t id) { return c10::Stream(c10::Stream::UNSAFE, CARD, id); }

struct Guard final : c10::impl::DeviceGuardImplInterface {
    c10::DeviceType type() const override { return c10::kCUDA; }
    static void check(Device device) {
        TORCH_CHECK(device.index() <= 0, "invalid device ordinal ", (int)device.index(), ": there is one card");
    }
    Device exchangeDevice(Device device) const override { check(device); return CARD; }
    Device getDevice() const override { return CARD; }
    void setDevice(Device device) const override { check(device); }
    void uncheckedSetDevice(Device) const noexcept override {}
    DeviceIndex deviceCount() const noexcept override { return 1; }
    c10::Stream getStream(Device) const override { return stream_of(current_stream); }
    c10::Stream getDefaultStream(Device) const override { return stream_of(0); }
    c10::Stream getStreamFromGlobalPool(Device device, bool high) const override { return getNewStream(device, -high); }
    c10::Stream getNewStream(Device, int priority) const override {
        void *made = nullptr;
        checked("hipStreamCreateWithPriority", &made, 1u, priority);
        return stream_of((int64_t)made);
    }
    c10::Stream exchangeStream(c10::Stream stream) const override {
        return stream_of(std::exchange(current_stream, stream.id()));
    }
    void *getStreamNativeHandle(const c10::Stream stream) const override { return (void *)stream.id(); }
    bool queryStream(const c10::Stream &stream) const override { return !call("hipStreamQuery", (void *)stream.id()); }
    void synchronizeStream(const c10::Stream &stream) const override {
        checked("hipStreamSynchronize", (void *)stream.id());
    }
    void synchronizeDevice(const DeviceIndex) const override { checked("hipDeviceSynchronize"); }
    void record(void **event, const c10::Stream &stream, const DeviceIndex, const c10::EventFlag) const override {
        if (!*event) checked("hipEventCreate", event);
        checked("hipEventRecord", *event, (void *)stream.id());
    }
    void block(void *event, const c10::Stream &stream) const override {
        if (event) checked("hipStreamWaitEvent", (void *)stream.id(), event, 0u);
    }
    bool queryEvent(void *event) const override { return !event || !call("hipEventQuery", event); }
    void synchronizeEvent(void *event) const override { if (event) checked("hipEventSynchronize", event); }
    void destroyEvent(void *event, const DeviceIndex) const noexcept override {
        if (event) call("hipEventDestroy", event);
    }
    double elapsedTime(void *first, void *last, const DeviceIndex) const override {
        float milliseconds = 0;
        checked("hipEventElapsedTime", &milliseconds, first, last);
        return milliseconds;
    }
};

/* The card's random numbers are those of torch's generator for the CPU, from a seed of the card's own. */
struct Generator final : c10::GeneratorImpl {
    at::Generator cpu = at::detail::createCPUGenerator();

    Generator() : GeneratorImpl(CARD, c10::DispatchKeySet(c10::DispatchKey::CUDA)) {}
    static c10::DeviceType device_type() { return c10::kCUDA; }
    void set_current_seed(uint64_t seed) override { cpu.set_current_seed(seed); }
    void set_offset(uint64_t offset) override { cpu.set_offset(offset); }
    uint64_t get_offset() const override { return cpu.get_offset(); }
    uint64_t current_seed() const override { return cpu.current_seed(); }
    uint64_t seed() override { return cpu.seed(); }
    void set_state(const c10::TensorImpl &state) override { cpu.unsafeGetGeneratorImpl()->set_state(state); }
    c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return cpu.unsafeGetGeneratorImpl()->get_state(); }
    Generator *clone_impl() const override {
        Generator *copy = new Generator;
        copy->cpu = cpu.clone();
        return copy;
    }
};

static at::Generator default_generator = at::make_generator<Generator>(); /* until Python gives its own */

struct Hooks final : at::CUDAHooksInterface {
    void init() const override {}
    bool isBuilt() const override { return true; }
    bool isAvailable() const override { return true; }
    bool hasPrimaryContext(DeviceIndex) const override { return true; }
    bool hasCUDA() const override { return true; }
    bool hasROCM() const override { return true; }
    int getNumGPUs() const override { return 1; }
    DeviceIndex deviceCount() const override { return 1; }
    DeviceIndex current_device() const override { return 0; }
    DeviceIndex getCurrentDevice() const override { return 0; }
    void setCurrentDevice(DeviceIndex device) const override { Guard::check({c10::kCUDA, device}); }
    DeviceIndex exchangeDevice(DeviceIndex) const override { return 0; }
    DeviceIndex maybeExchangeDevice(DeviceIndex) const override { return 0; }
    void deviceSynchronize(DeviceIndex) const override { checked("hipDeviceSynchronize"); }
    const at::Generator &getDefaultGenerator(DeviceIndex) const override { return default_generator; }
    at::Generator getNewGenerator(DeviceIndex) const override { return at::make_generator<Generator>(); }
    Device getDeviceFromPtr(void *) const override { return CARD; }
    c10::Allocator *getPinnedMemoryAllocator() const override { return &pinned_memory; }
    c10::Allocator *getCUDADeviceAllocator() const override { return &memory; }
    bool isPinnedPtr(const void *at) const override {
        struct { int kind, device; void *card, *host; int managed; unsigned flags; } found = {};
        return !call("hipPointerGetAttributes", &found, at) && found.kind == 1;
    }
    std::string showConfig() const override { return "hipgemm's simulated card"; }
};

/* A sparse tensor as one of the card or the CPU, with `each` of its parts. */
using Key = c10::DispatchKey;
template <class F> static void set_parts(const Tensor &to, const Tensor &from, F each) {
    if (from.is_sparse()) {
        auto *made = (at::SparseTensorImpl *)to.unsafeGetTensorImpl(), *given = (at::SparseTensorImpl *)from.unsafeGetTensorImpl();
        Tensor indices = each(given->indices()), values = each(given->values());
        made->raw_resize_(given->sparse_dim(), given->dense_dim(), given->sizes());
        made->set_indices_and_values_unsafe(indices, values);
        made->set_coalesced(given->coalesced());
    } else {
        auto *made = (at::SparseCsrTensorImpl *)to.unsafeGetTensorImpl(), *given = (at::SparseCsrTensorImpl *)from.unsafeGetTensorImpl();
        made->set_member_tensors(each(given->compressed_indices()), each(given->plain_indices()), each(given->values()), given->sizes());
    }
}

/* The dense tensors that it consists of: itself, or a sparse one's. */
static std::vector<Tensor> parts(const Tensor &of) {
    if (of.is_sparse()) {
        auto *coo = (at::SparseTensorImpl *)of.unsafeGetTensorImpl();
        return {coo->indices(), coo->values()};
    }
    if (of.layout() == c10::kStrided) return {of};
    auto *compressed = (at::SparseCsrTensorImpl *)of.unsafeGetTensorImpl();
    return {compressed->compressed_indices(), compressed->plain_indices(), compressed->values()};
}

template <class F> static Tensor sparse(const Tensor &from, Device device, F each) {
    bool card = device.is_cuda();
    Tensor made = from.is_sparse()
        ? at::detail::make_tensor<at::SparseTensorImpl>(c10::DispatchKeySet(card ? Key::SparseCUDA : Key::SparseCPU), from.dtype())
        : at::detail::make_tensor<at::SparseCsrTensorImpl>(
              c10::DispatchKeySet(card ? Key::SparseCsrCUDA : Key::SparseCsrCPU), device, from.layout(), from.dtype());
    set_parts(made, from, each);
    return made;
}

/* The tensors of one operator's call, as the CPU's. */
class OnCpu {
    struct Pair { c10::Storage card, cpu; };
    std::unordered_map<c10::StorageImpl *, Pair> of_card;          /* by the card's storage */
    struct OfCard { c10::Storage storage; c10::DispatchKeySet keys; };
    std::unordered_map<c10::StorageImpl *, OfCard> of_cpu; /* by the CPU's -> the card's, and what a view inherits of its tensor */
    std::unordered_map<c10::TensorImpl *, std::pair<Tensor, Tensor>> given; /* the tensor of the CPU, and the argument */

  public:
    Tensor in(const Tensor &tensor) {
        if (!tensor.defined()) return tensor;
        if (!tensor.is_cuda()) {
            given[tensor.unsafeGetTensorImpl()] = {tensor, tensor};
            return tensor;
        }
        if (tensor.layout() != c10::kStrided) {
            Tensor alias = sparse(tensor, c10::kCPU, [&](const Tensor &part) { return in(part); });
            given[alias.unsafeGetTensorImpl()] = {alias, tensor};
            return alias;
        }
        c10::Storage card = tensor.storage();
        auto [found, is_new] = of_card.try_emplace(card.unsafeGetStorageImpl());
        if (is_new) {
            c10::DataPtr same(card.mutable_data(), c10::kCPU);
            c10::Storage cpu(c10::Storage::use_byte_size_t(), card.nbytes(), std::move(same),
                             c10::GetAllocator(c10::kCPU), true);
            of_cpu[cpu.unsafeGetStorageImpl()] = {card, tensor.key_set()};
            found->second = {card, cpu};
        }
        Tensor alias = at::detail::make_tensor<c10::TensorImpl>(
            c10::Storage(found->second.cpu), c10::DispatchKeySet(c10::DispatchKey::CPU), tensor.dtype());
        match(alias, tensor);
        alias._set_conj(tensor.is_conj());
        alias._set_neg(tensor.is_neg());
        given[alias.unsafeGetTensorImpl()] = {alias, tensor};
        return alias;
    }

    /* Storages and arguments that the operator gave other sizes. */
    void settle() {
        for (auto &[key, pair] : of_card) {
            if (pair.cpu.data() == pair.card.data() && pair.cpu.nbytes() == pair.card.nbytes()) continue;
            set_room(pair.card.unsafeGetStorageImpl(), pair.cpu.nbytes(), pair.cpu.data(), pair.cpu.nbytes());
        }
        auto before = given; // a part that is new becomes one more
        for (auto &[key, pair] : before) {
            auto &[cpu, argument] = pair;
            bool fresh;
            if (argument.layout() != c10::kStrided)
                set_parts(argument, cpu, [&](const Tensor &part) { return out(part, argument.is_cuda(), &fresh); });
            else if (!cpu.is_same(argument) && (cpu.sizes() != argument.sizes() || cpu.strides() != argument.strides()))
                match(argument, cpu);
        }
    }

    /* fresh: set if it has no argument's storage. */
    Tensor out(const Tensor &tensor, bool to_card, bool *fresh) {
        if (!tensor.defined()) return tensor;
        if (auto argument = given.find(tensor.unsafeGetTensorImpl()); argument != given.end()) return argument->second.second;
        if (!tensor.device().is_cpu()) return tensor;
        if (tensor.layout() != c10::kStrided)
            return !to_card ? tensor : sparse(tensor, CARD, [&](const Tensor &part) { return out(part, true, fresh); });
        auto view = of_cpu.find(tensor.storage().unsafeGetStorageImpl());
        if (view == of_cpu.end() && !to_card) return tensor;
        Tensor made;
        if (view != of_cpu.end()) {
            made = at::detail::make_tensor<c10::TensorImpl>(
                c10::TensorImpl::VIEW, c10::Storage(view->second.storage), view->second.keys, tensor.dtype());
        } else {
            size_t size = tensor.storage().nbytes();
            c10::Storage storage(c10::Storage::use_byte_size_t(), size, memory.allocate(size), &memory, true);
            if (size) memcpy(storage.mutable_data(), tensor.storage().data(), size);
            made = at::detail::make_tensor<c10::TensorImpl>(
                c10::Storage(storage), c10::DispatchKeySet(c10::DispatchKey::CUDA), tensor.dtype());
            of_cpu[tensor.storage().unsafeGetStorageImpl()] = {storage, made.key_set()};
            *fresh = true;
        }
        match(made, tensor);
        made._set_conj(tensor.is_conj());
        made._set_neg(tensor.is_neg());
        if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) made.unsafeGetTensorImpl()->set_wrapped_number(true);
        return made;
    }

    /* A result of the CPU's in the place of an earlier one, unless it is an argument or a part of one. */
    void into(const Tensor &place, const Tensor &result) {
        if (!result.defined() || !place.is_cuda()) return;
        std::vector<Tensor> to = parts(place), from = parts(result);
        for (size_t i = 0; i < to.size(); i++) {
            if (of_cpu.count(from[i].storage().unsafeGetStorageImpl())) continue;
            TORCH_CHECK(to[i].sizes() == from[i].sizes(), "its sparse result has another number of elements than when it was captured");
            in(to[i]).copy_(from[i]);
        }
    }

    /* The same tensor, whatever becomes of this one's shape. */
    static Tensor kept(const Tensor &tensor) {
        if (!tensor.defined() || !tensor.is_cuda()) return tensor;
        if (tensor.layout() != c10::kStrided) return sparse(tensor, CARD, kept);
        Tensor same = at::detail::make_tensor<c10::TensorImpl>(
            c10::Storage(tensor.storage()), c10::DispatchKeySet(c10::DispatchKey::CUDA), tensor.dtype());
        match(same, tensor);
        same._set_conj(tensor.is_conj());
        same._set_neg(tensor.is_neg());
        return same;
    }

  private:
    static void match(const Tensor &to, const Tensor &from) {
        to.unsafeGetTensorImpl()->set_sizes_and_strides(from.sizes(), from.strides(), from.storage_offset());
        if (from.unsafeGetTensorImpl()->is_wrapped_number()) to.unsafeGetTensorImpl()->set_wrapped_number(true);
    }
};

/* A value with `each` of every tensor in it; true if there is one. */
template <class F> static bool of_tensors(c10::IValue &value, F each) {
    if (value.isTensor()) {
        value = each(value.toTensor());
    } else if (value.isTensorList()) {
        c10::List<Tensor> list;
        for (const Tensor &tensor : value.toTensorVector()) list.push_back(each(tensor));
        value = list;
    } else if (value.isOptionalTensorList()) {
        c10::List<std::optional<Tensor>> list;
        for (const std::optional<Tensor> &tensor : value.toOptionalTensorVector())
            list.push_back(tensor ? std::optional<Tensor>(each(*tensor)) : std::nullopt);
        value = list;
    } else {
        return false;
    }
    return true;
}

/* An operator's arguments as the CPU takes them; true if its results are to lie on the card. */
static bool to_cpu(const c10::FunctionSchema &schema, c10::Stack *stack, OnCpu &tensors) {
    bool to_card = true;
    size_t first = stack->size() - schema.arguments().size();
    for (size_t i = first; i < stack->size(); i++) {
        c10::IValue &value = (*stack)[i];
        const c10::Type &type = *schema.arguments()[i - first].real_type();
        if (of_tensors(value, [&](const Tensor &tensor) { return tensors.in(tensor); })) {
        } else if (value.isDevice()) {
            to_card = value.toDevice().is_cuda();
            value = c10::Device(c10::kCPU);
        } else if (value.isGenerator() || (value.isNone() && type.str().rfind("Generator", 0) == 0)) {
            const at::Generator &asked = value.isNone() ? default_generator : value.toGenerator();
            if (asked.device().is_cuda()) value = ((Generator *)asked.unsafeGetGeneratorImpl())->cpu;
        }
    }
    return to_card;
}

static void run(void *work) {
    try {
        (*(std::function<void()> *)work)();
    } catch (const std::exception &error) {
        fprintf(stderr, "hipgemm: an operator of a graph failed: %s\n", error.what());
    }
}

/* Let the stream that is captured do work, in its turn. */
static void later(std::function<void()> work) {
    captured->work.push_back(std::move(work));
    checked("hipLaunchHostFunc", (void *)current_stream, &run, (void *)&captured->work.back());
}

/* Any operator. Under capture it is done once for the shapes of its results, and what it wrote to memory that was there
   before is taken back. */
static void on_cpu(const c10::OperatorHandle &op, c10::DispatchKeySet keys, c10::Stack *stack) {
    Key highest = keys.highestPriorityTypeId();
    bool coo = highest == Key::SparseCUDA, compressed = highest == Key::SparseCsrCUDA;
    c10::DispatchKeySet cpu(coo ? Key::SparseCPU : compressed ? Key::SparseCsrCPU : Key::CPU);
    OnCpu tensors;
    const auto &schema = op.schema();
    c10::Stack arguments;
    std::unordered_map<c10::StorageImpl *, std::pair<c10::Storage, std::string>> before;
    bool fresh = false;
    if (captured) {
        TORCH_CHECK(!op.hasTag(at::Tag::data_dependent_output) && !op.hasTag(at::Tag::dynamic_output_shape),
                    schema.name(), " reads a result: operation not permitted when stream is capturing");
        arguments.assign(stack->end() - schema.arguments().size(), stack->end());
        for (size_t i = 0; i < arguments.size(); i++) {
            const auto *alias = schema.arguments()[i].alias_info();
            if (alias && alias->isWrite()) of_tensors(arguments[i], [&](const Tensor &tensor) {
                if (tensor.defined() && tensor.is_cuda()) {
                    if (tensor.layout() != c10::kStrided && schema.name() == "aten::_coalesced_") return tensor; // a mark
                    TORCH_CHECK(tensor.layout() == c10::kStrided,
                                schema.name(), " writes to a sparse tensor: operation not permitted when stream is capturing");
                    c10::Storage at = tensor.storage();
                    fresh = true;
                    if (memory.owner(at.data_ptr()) != captured.get()) before[at.unsafeGetStorageImpl()] = {at, std::string((const char *)at.data(), at.nbytes())};
                }
                return tensor;
            });
        }
    }
    bool to_card = to_cpu(schema, stack, tensors);
    op.redispatchBoxed(cpu, stack);
    tensors.settle();
    size_t first = stack->size() - schema.returns().size();
    for (size_t i = first; i < stack->size(); i++)
        of_tensors((*stack)[i], [&](const Tensor &tensor) { return tensors.out(tensor, to_card, &fresh); });
    if (!captured || !fresh) return;
    for (auto &[key, held] : before)
        if (held.first.nbytes() == held.second.size()) memcpy(held.first.mutable_data(), held.second.data(), held.second.size());
    c10::Stack results(stack->begin() + first, stack->end());
    for (c10::Stack *kept : {&arguments, &results})
        for (c10::IValue &value : *kept) of_tensors(value, OnCpu::kept);
    later([op, arguments, results, cpu] {
        OnCpu again;
        c10::Stack doing = arguments;
        to_cpu(op.schema(), &doing, again);
        op.redispatchBoxed(cpu, &doing);
        for (size_t i = 0; i < results.size(); i++) {
            if (results[i].isTensor()) again.into(results[i].toTensor(), doing[i].toTensor());
            if (!results[i].isTensorList()) continue;
            std::vector<Tensor> to = results[i].toTensorVector(), from = doing[i].toTensorVector();
            for (size_t k = 0; k < to.size(); k++) again.into(to[k], from[k]);
        }
    });
}

/* What makes tensors, and gives them storage. */
static Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                    std::optional<Device> device, std::optional<bool>, std::optional<at::MemoryFormat> format) {
    if (device) Guard::check(*device);
    c10::DispatchKeySet key(c10::DispatchKey::CUDA);
    return at::detail::empty_generic(size, &memory, key, c10::dtype_or_default(dtype), format);
}

static Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> dtype,
                            std::optional<at::Layout>, std::optional<Device> device, std::optional<bool>) {
    if (device) Guard::check(*device);
    c10::DispatchKeySet key(c10::DispatchKey::CUDA);
    return at::detail::empty_strided_generic(size, stride, &memory, key, c10::dtype_or_default(dtype));
}

static Tensor zeros(at::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                    std::optional<Device> device, std::optional<bool> pinned) {
    return empty(size, dtype, layout, device, pinned, std::nullopt).zero_();
}

static const Tensor &resize_(const Tensor &self, at::IntArrayRef size, std::optional<at::MemoryFormat> format) {
    c10::TensorImpl *impl = self.unsafeGetTensorImpl();
    impl->set_sizes_contiguous(size);
    if (format) impl->empty_tensor_restride(*format);
    c10::StorageImpl *storage = impl->unsafe_storage().unsafeGetStorageImpl();
    size_t needed = (self.numel() + self.storage_offset()) * self.itemsize();
    if (self.numel() && needed > storage->nbytes()) set_room(storage, needed, storage->data(), storage->nbytes());
    return self;
}

static Tensor &set_to(Tensor &self, at::Storage storage, int64_t offset, at::IntArrayRef size, at::IntArrayRef stride) {
    c10::TensorImpl *impl = self.unsafeGetTensorImpl();
    impl->set_storage_keep_dtype(std::move(storage));
    if (stride.data() || size.empty()) {
        impl->set_sizes_and_strides(size, stride, offset);
    } else {
        impl->set_sizes_contiguous(size);
        impl->set_storage_offset(offset);
    }
    return self;
}

static Tensor &set_storage(Tensor &self, at::Storage storage) {
    int64_t count = storage.nbytes() / self.itemsize();
    return set_to(self, std::move(storage), 0, {count}, {1});
}

static Tensor &set_tensor(Tensor &self, const Tensor &source) {
    return set_to(self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

static Tensor &set_empty(Tensor &self) {
    c10::Storage none(c10::Storage::use_byte_size_t(), 0, memory.allocate(0), &memory, true);
    return set_to(self, std::move(none), 0, {0}, {1});
}

/* Matrix products, of batches [b, m, k] and [b, k, n], by hipBLAS: its matrices are column-major, so it computes
   C^T = B^T A^T. */
struct Factor { Tensor tensor; int operation; int leading; };

static Factor factor(const Tensor &given) {
    Tensor tensor = given.resolve_conj().resolve_neg();
    int64_t rows = tensor.size(1), columns = tensor.size(2), down = tensor.stride(1), across = tensor.stride(2);
    if (across == 1 && down >= std::max<int64_t>(columns, 1)) return {tensor, 111, (int)down};
    if (down == 1 && across >= std::max<int64_t>(rows, 1)) return {tensor, 112, (int)across};
    return {tensor.contiguous(), 111, (int)std::max<int64_t>(columns, 1)};
}

static int hip_type(at::ScalarType type) {
    switch (type) {
        case at::kFloat: return 0;
        case at::kDouble: return 1;
        case at::kHalf: return 2;
        case at::kComplexFloat: return 4;
        case at::kComplexDouble: return 5;
        case at::kBFloat16: return 14;
        default: return -1;
    }
}

/* out = beta out + alpha a b; out is contiguous. */
static void product(Tensor &out, const Tensor &a, const Tensor &b, const at::Scalar &beta, const at::Scalar &alpha) {
    int type = hip_type(out.scalar_type());
    if (type < 0 || out.numel() == 0 || a.size(2) == 0) {
        auto sum = [to = OnCpu::kept(out), a = OnCpu::kept(a), b = OnCpu::kept(b), beta, alpha] {
            OnCpu cpu;
            Tensor on_cpu = cpu.in(to);
            at::baddbmm_out(on_cpu, on_cpu, cpu.in(a), cpu.in(b), beta, alpha);
        };
        return captured ? later(sum) : sum();
    }
    static void *const handle = [] { void *made = nullptr; checked("hipblasCreate", &made); return made; }();
    checked("hipblasSetStream", handle, (void *)current_stream);
    Factor left = factor(b), right = factor(a);
    int m = out.size(1), n = out.size(2), k = a.size(2), count = out.size(0);
    c10::complex<double> z[2] = {alpha.toComplexDouble(), beta.toComplexDouble()};
    double d[2] = {z[0].real(), z[1].real()};
    float f[2] = {(float)d[0], (float)d[1]};
    c10::complex<float> c[2] = {{f[0], (float)z[0].imag()}, {f[1], (float)z[1].imag()}};
    char *scalars = type == 1 ? (char *)d : type == 4 ? (char *)c : type == 5 ? (char *)z : (char *)f;
    size_t step = type == 1 ? 8 : type == 4 ? 8 : type == 5 ? 16 : 4;
    checked("hipblasGemmStridedBatchedEx", handle, left.operation, right.operation, n, m, k, (void *)scalars,
            left.tensor.data_ptr(), type, left.leading, left.tensor.stride(0), right.tensor.data_ptr(), type,
            right.leading, right.tensor.stride(0), (void *)(scalars + step), out.data_ptr(), type, n,
            (int64_t)m * n, count, 2, 160);
}

/* beta self + alpha a b, of matrices or of batches of them. */
static Tensor products(const Tensor &self, Tensor a, Tensor b, int64_t dim, const at::Scalar &beta, const at::Scalar &alpha) {
    TORCH_CHECK(a.dim() == dim && b.dim() == dim && a.size(-1) == b.size(-2) && (dim == 2 || a.size(0) == b.size(0)),
                "matrices of ", a.sizes(), " and ", b.sizes(), " cannot be multiplied");
    TORCH_CHECK(a.scalar_type() == b.scalar_type(), "expected m1 and m2 to have the same dtype, but got: ", a.dtype(),
                " != ", b.dtype());
    at::DimVector shape(a.sizes());
    shape.back() = b.size(-1);
    Tensor sum = at::empty(shape, a.options());
    if (beta.toComplexDouble() != 0.0) sum.copy_(self.expand(shape)); else sum.zero_();
    Tensor batch = dim == 3 ? sum : sum.unsqueeze(0);
    product(batch, dim == 3 ? a : a.unsqueeze(0), dim == 3 ? b : b.unsqueeze(0), beta, alpha);
    return sum;
}

static Tensor &put(Tensor &out, const Tensor &result) {
    TORCH_CHECK(out.scalar_type() == result.scalar_type(), "expected out of ", result.dtype(), ", got ", out.dtype());
    if (out.sizes() != result.sizes()) out.resize_(result.sizes());
    return out.copy_(result);
}

template <int dim> struct Products {
    using T = const Tensor &;
    using S = const at::Scalar &;
    static Tensor plain(T a, T b) { return products(a, a, b, dim, 0, 1); }
    static Tensor &plain_out(T a, T b, Tensor &out) { return put(out, plain(a, b)); }
    static Tensor added(T self, T a, T b, S beta, S alpha) { return products(self, a, b, dim, beta, alpha); }
    static Tensor &added_out(T self, T a, T b, S beta, S alpha, Tensor &out) { return put(out, added(self, a, b, beta, alpha)); }
    static Tensor &added_to(Tensor &self, T a, T b, S beta, S alpha) { return put(self, added(self, a, b, beta, alpha)); }

    static void declare(torch::Library &m, std::string plain_name, std::string added_name) {
        m.impl(plain_name.c_str(), plain);
        m.impl((plain_name + ".out").c_str(), plain_out);
        m.impl(added_name.c_str(), added);
        m.impl((added_name + ".out").c_str(), added_out);
        m.impl((added_name + "_").c_str(), added_to);
    }
};

static int64_t plain_attention(const Tensor &, const Tensor &, const Tensor &, const std::optional<Tensor> &, double, bool,
                               std::optional<double>, bool) {
    return 0;
}

namespace at::native {
REGISTER_CUDA_DISPATCH(_fused_sdp_choice_stub, &plain_attention)
}

C10_REGISTER_GUARD_IMPL(CUDA, Guard)

TORCH_LIBRARY_IMPL(_, CUDA, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>()); }
TORCH_LIBRARY_IMPL(_, SparseCUDA, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>()); }
TORCH_LIBRARY_IMPL(_, SparseCsrCUDA, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>()); }

/* A kernel for every device comes before a fallback, but not before one that the CPU has of its own for sparse tensors. */
static void as_the_cpu(torch::Library &m, Key key) {
    for (const c10::OperatorName &op : c10::Dispatcher::singleton().getRegistrationsForDispatchKey(key)) {
        std::string name = op.name.substr(op.name.find("::") + 2) + (op.overload_name.empty() ? "" : "." + op.overload_name);
        if (op.name.rfind("aten::", 0) == 0) m.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
    }
}

TORCH_LIBRARY_IMPL(aten, SparseCUDA, m) { as_the_cpu(m, Key::SparseCPU); }
TORCH_LIBRARY_IMPL(aten, SparseCsrCUDA, m) { as_the_cpu(m, Key::SparseCsrCPU); }

TORCH_LIBRARY_IMPL(aten, CUDA, m) {
    m.impl("empty.memory_format", empty);
    m.impl("empty_strided", empty_strided);
    m.impl("_efficientzerotensor", zeros);
    m.impl("resize_", resize_);
    m.impl("set_.source_Storage_storage_offset", set_to);
    m.impl("set_.source_Storage", set_storage);
    m.impl("set_.source_Tensor", set_tensor);
    m.impl("set_", set_empty);
    Products<2>::declare(m, "mm", "addmm");
    Products<3>::declare(m, "bmm", "baddbmm");
    /* These have a kernel for every device, which asks for one of CUDA's own. */
    for (const char *name : {"copy_", "convolution", "convolution_backward"})
        m.impl(name, torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
}

/* For Python (hipgemm_torch). */
#define EXPORT extern "C" __attribute__((visibility("default")))
EXPORT int64_t hipgemm_current_stream() { return current_stream; }
EXPORT void hipgemm_set_stream(int64_t stream) { current_stream = stream; }
EXPORT void hipgemm_set_generator(c10::GeneratorImpl *generator) {
    default_generator = at::Generator(c10::intrusive_ptr<c10::GeneratorImpl>::unsafe_reclaim_from_nonowning(generator));
}
EXPORT int64_t hipgemm_memory(int what, int which) {
    Tally &of = tallies[what];
    return which == 0 ? of.used : which == 1 ? of.peak : of.ever;
}
EXPORT void hipgemm_capture(std::shared_ptr<Graph> **begun) {
    captured = begun ? std::make_shared<Graph>() : nullptr;
    if (begun) *begun = new std::shared_ptr<Graph>(captured);
}
EXPORT void hipgemm_forget(std::shared_ptr<Graph> *graph) {
    (*graph)->work.clear(); // which holds memory that holds the graph
    delete graph;
}
EXPORT void hipgemm_reset_peak() {
    for (Tally &of : tallies) of.peak = of.used.load();
}

/* `import torch` has made the object of hooks already, of the interface itself; neither has more than its functions. */
__attribute__((constructor)) static void at_home() {
    c10::SetAllocator(c10::kCUDA, &memory);
    static_assert(sizeof(Hooks) == sizeof(at::CUDAHooksInterface));
    new ((void *)&at::detail::getCUDAHooks()) Hooks;
}
