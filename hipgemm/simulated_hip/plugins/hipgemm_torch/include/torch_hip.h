/* What C++ extensions include of ROCm's torch (c10/hip, ATen/hip, and the same by CUDA's names): streams, guards and
   checks, by torch's interface for any device. hipgemm_torch puts this file under each of those names. */
#pragma once

#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>
#include <hip/hip_runtime.h>

namespace c10::hip {

class HIPStream {
    Stream stream_;

  public:
    explicit HIPStream(Stream stream) : stream_(stream) {}
    hipStream_t stream() const { return (hipStream_t)stream_.id(); }
    operator hipStream_t() const { return stream(); }
    operator Stream() const { return stream_; }
    Stream unwrap() const { return stream_; }
    StreamId id() const { return stream_.id(); }
    DeviceIndex device_index() const { return 0; }
    Device device() const { return stream_.device(); }
    bool query() const { return stream_.query(); }
    void synchronize() const { stream_.synchronize(); }
    bool operator==(const HIPStream &other) const { return stream_ == other.stream_; }
};

inline const impl::DeviceGuardImplInterface *card() { return impl::getDeviceGuardImpl(kCUDA); }
inline HIPStream getCurrentHIPStream(DeviceIndex = -1) { return HIPStream(card()->getStream(Device(kCUDA, 0))); }
inline HIPStream getDefaultHIPStream(DeviceIndex = -1) { return HIPStream(card()->getDefaultStream(Device(kCUDA, 0))); }
inline HIPStream getStreamFromPool(bool high = false, DeviceIndex = -1) {
    return HIPStream(card()->getStreamFromGlobalPool(Device(kCUDA, 0), high));
}
inline void setCurrentHIPStream(HIPStream stream) { card()->exchangeStream(stream); }
inline DeviceIndex device_count() { return 1; }
inline DeviceIndex current_device() { return 0; }
inline void set_device(DeviceIndex device) { card()->setDevice(Device(kCUDA, device)); }

struct HIPGuard : DeviceGuard {
    explicit HIPGuard(DeviceIndex index) : DeviceGuard(Device(kCUDA, index)) {}
    explicit HIPGuard(Device device) : DeviceGuard(device) {}
};
using OptionalHIPGuard = OptionalDeviceGuard;
using HIPStreamGuard = StreamGuard;

} // namespace c10::hip

namespace c10::cuda {
using namespace hip;
using CUDAStream = HIPStream;
using CUDAGuard = HIPGuard;
using OptionalCUDAGuard = OptionalHIPGuard;
using CUDAStreamGuard = HIPStreamGuard;
inline CUDAStream getCurrentCUDAStream(DeviceIndex = -1) { return getCurrentHIPStream(); }
inline CUDAStream getDefaultCUDAStream(DeviceIndex = -1) { return getDefaultHIPStream(); }
inline void setCurrentCUDAStream(CUDAStream stream) { setCurrentHIPStream(stream); }
} // namespace c10::cuda

namespace at::cuda {
using namespace c10::cuda;
inline hipDeviceProp_t *getCurrentDeviceProperties() {
    static hipDeviceProp_t found = [] { hipDeviceProp_t card; (void)hipGetDeviceProperties(&card, 0); return card; }();
    return &found;
}
inline int warp_size() { return getCurrentDeviceProperties()->warpSize; }
} // namespace at::cuda

namespace at::hip {
using namespace c10::hip;
using at::cuda::getCurrentDeviceProperties;
} // namespace at::hip

#define C10_HIP_CHECK(call)                                                                                            \
    do {                                                                                                               \
        hipError_t code = call;                                                                                        \
        TORCH_CHECK(code == hipSuccess, "HIP error: ", hipGetErrorString(code));                                       \
    } while (0)
#define C10_HIP_KERNEL_LAUNCH_CHECK() C10_HIP_CHECK(hipGetLastError())
#define C10_CUDA_CHECK C10_HIP_CHECK
#define AT_CUDA_CHECK C10_HIP_CHECK
#define C10_CUDA_KERNEL_LAUNCH_CHECK C10_HIP_KERNEL_LAUNCH_CHECK
