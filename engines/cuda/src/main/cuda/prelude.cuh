// What the kernels need of CUDA, without its headers: clang and nvcc take the same source, and neither needs a library.
#pragma once

#if defined(__clang__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(threads) __attribute__((launch_bounds(threads)))
#endif
#define DEVICE __device__ inline __attribute__((always_inline))
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// The upper half of a float.
struct bf16 {
    u16 bits;
};
struct alignas(16) Float4 {
    float x, y, z, w;
};
struct alignas(16) Word4 {
    u32 x, y, z, w;
};

DEVICE int thread_index() {
    u32 value;
    asm("mov.u32 %0, %%tid.x;" : "=r"(value));
    return (int) value;
}
DEVICE int block_index() {
    u32 value;
    asm("mov.u32 %0, %%ctaid.x;" : "=r"(value));
    return (int) value;
}
DEVICE int block_row() {
    u32 value;
    asm("mov.u32 %0, %%ctaid.y;" : "=r"(value));
    return (int) value;
}
DEVICE int block_count() {
    u32 value;
    asm("mov.u32 %0, %%nctaid.x;" : "=r"(value));
    return (int) value;
}
// Holds up each thread of the block until all are here.
DEVICE void barrier() {
    asm volatile("bar.sync 0;" ::: "memory");
}

// Numbers of either type as floats, and back with one rounding, to the nearest and to even.
DEVICE float widened(float number) {
    return number;
}
DEVICE float widened(bf16 number) {
    return __builtin_bit_cast(float, (u32) number.bits << 16);
}
template <typename T> DEVICE T narrowed(float number);
template <> DEVICE float narrowed<float>(float number) {
    return number;
}
template <> DEVICE bf16 narrowed<bf16>(float number) {
    bf16 result;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(number));
    return result;
}
template <typename T> DEVICE float rounded(float number) {
    return widened(narrowed<T>(number));
}

DEVICE float fused(float a, float b, float c) {
    float result;
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(result) : "f"(a), "f"(b), "f"(c));
    return result;
}
DEVICE float larger(float a, float b) {
    return a > b ? a : b;
}
DEVICE int lesser(int a, int b) {
    return a < b ? a : b;
}
DEVICE float root(float x) {
    float result;
    asm("sqrt.rn.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
// e^x. What x log2(e) loses by its rounding is given back, so that only the 2^-22 of the instruction is left.
DEVICE float exponential(float x) {
    float scaled = x * 1.44269502f;
    float lost = fused(x, 1.92596303e-8f, fused(x, 1.44269502f, -scaled));
    float power;
    asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(scaled));
    // Beyond the range the power is 0 or infinite, and what was lost may be no number.
    return scaled > -150.0f && scaled < 128.0f ? fused(power, lost * 0.693147182f, power) : power;
}
DEVICE float logarithm(float x) {
    float result;
    asm("lg2.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result * 0.693147182f;
}
// 1 / (1 + e^-x)
DEVICE float sigmoid(float x) {
    return 1.0f / (1.0f + exponential(-x));
}

constexpr int WARP = 32;
constexpr float INFINITE = __builtin_huge_valf();

// What another lane of the warp holds. All lanes of the warp call it.
DEVICE float of_lane(float value, int lane) {
    float result;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;" : "=f"(result) : "f"(value), "r"(lane));
    return result;
}
DEVICE u32 of_lane(u32 value, int lane) {
    u32 result;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;" : "=r"(result) : "r"(value), "r"(lane));
    return result;
}
DEVICE float across(float value, int distance) {
    float result;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;" : "=f"(result) : "f"(value), "r"(distance));
    return result;
}
DEVICE int across(int value, int distance) {
    int result;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;" : "=r"(result) : "r"(value), "r"(distance));
    return result;
}
// Sums and highest numbers of a warp are the same in all lanes: the order of a butterfly is fixed, and sums commute.
DEVICE float warp_sum(float value) {
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += across(value, distance);
    }
    return value;
}
DEVICE float warp_highest(float value) {
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value = larger(value, across(value, distance));
    }
    return value;
}
DEVICE int warp_lowest(int value) {
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value = lesser(value, across(value, distance));
    }
    return value;
}
// A bit for each lane whose condition holds.
DEVICE u32 votes(bool condition) {
    u32 result;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, -1; }"
            : "=r"(result) : "r"((u32) condition));
    return result;
}

// Which elements drop out (Philox4x32-10, Salmon et al. 2011), as dev.troupe.engine.Dropout has it.
struct Mask {
    u32 drops, threshold;
    float raise;
    u64 seed;
    u32 site, microbatch, step;

    // The random words of four neighbours, the first of them at a place divisible by 4.
    DEVICE Word4 words(u64 block) const {
        u32 c0 = (u32) block;
        u32 c1 = ((u32) (block >> 32) & 0xFFFF) | site << 16;
        u32 c2 = microbatch;
        u32 c3 = step;
        u32 k0 = (u32) seed;
        u32 k1 = (u32) (seed >> 32);
#pragma unroll 1
        for (int round = 0; round < 10; round++) {
            u64 first = (u64) 0xD2511F53u * c0;
            u64 second = (u64) 0xCD9E8D57u * c2;
            c0 = (u32) (second >> 32) ^ c1 ^ k0;
            c1 = (u32) second;
            c2 = (u32) (first >> 32) ^ c3 ^ k1;
            c3 = (u32) first;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        return Word4{c0, c1, c2, c3};
    }
    // Whether the neighbour at a place modulo 4 stays: 1, or 0.
    DEVICE u32 stays(const Word4 &words, u32 place) const {
        u32 chosen = place < 2 ? (place == 0 ? words.x : words.y) : (place == 2 ? words.z : words.w);
        return chosen < threshold ? 0 : 1;
    }
    // What the element at this place is multiplied by.
    DEVICE float factor(i64 place) const {
        return stays(words((u64) place >> 2), (u32) place & 3) ? raise : 0.0f;
    }
};
#define MASK_PARAMETERS u32 drops, u32 threshold, float raise, u64 seed, u32 site, u32 microbatch, u32 step
#define MASK Mask{drops, threshold, raise, seed, site, microbatch, step}
