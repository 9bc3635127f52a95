// Numbers that a thread takes together, so that it moves 16 bytes at once where it can.
#pragma once
#include "prelude.cuh"

// 16 and 8 bytes of numbers of any type.
struct alignas(16) __attribute__((may_alias)) Bytes16 {
    u32 x, y, z, w;
};
struct alignas(8) __attribute__((may_alias)) Bytes8 {
    u32 x, y;
};
// Of a structure of floats the compiler moves half at a time.
typedef float Float4Vector __attribute__((vector_size(16), may_alias));

// Numbers of a type in 16 bytes.
template <typename T> constexpr int WIDTH = 16 / sizeof(T);

// Whether all of these begin at 16 bytes; a null pointer does.
template <typename... P> DEVICE bool aligned(const P *...pointers) {
    return (((u64) pointers | ...) & 15) == 0;
}

DEVICE void unpack(u32 word, float *two) {
    two[0] = __builtin_bit_cast(float, word << 16);
    two[1] = __builtin_bit_cast(float, word & 0xFFFF0000u);
}
DEVICE u32 packed(const float *two) {
    return (u32) narrowed<bf16>(two[0]).bits | (u32) narrowed<bf16>(two[1]).bits << 16;
}
template <int W> DEVICE void load_wide(const float *from, float (&values)[W]) {
#pragma unroll
    for (int k = 0; k < W; k += 4) {
        Float4Vector four = *(const Float4Vector *) (from + k);
        values[k] = four[0];
        values[k + 1] = four[1];
        values[k + 2] = four[2];
        values[k + 3] = four[3];
        // All of them are used here, so that they are loaded together and not with the numbers of the other way.
        asm volatile("" : "+f"(values[k]), "+f"(values[k + 1]), "+f"(values[k + 2]), "+f"(values[k + 3]));
    }
}
template <int W> DEVICE void store_wide(float *to, const float (&values)[W]) {
#pragma unroll
    for (int k = 0; k < W; k += 4) {
        *(Float4Vector *) (to + k) = Float4Vector{values[k], values[k + 1], values[k + 2], values[k + 3]};
    }
}
DEVICE void load_wide(const bf16 *from, float (&values)[4]) {
    Bytes8 four = *(const Bytes8 *) from;
    unpack(four.x, values);
    unpack(four.y, values + 2);
}
DEVICE void load_wide(const bf16 *from, float (&values)[8]) {
    Bytes16 eight = *(const Bytes16 *) from;
    unpack(eight.x, values);
    unpack(eight.y, values + 2);
    unpack(eight.z, values + 4);
    unpack(eight.w, values + 6);
}
DEVICE void store_wide(bf16 *to, const float (&values)[4]) {
    *(Bytes8 *) to = {packed(values), packed(values + 2)};
}
DEVICE void store_wide(bf16 *to, const float (&values)[8]) {
    *(Bytes16 *) to = {packed(values), packed(values + 2), packed(values + 4), packed(values + 6)};
}

// The same number, of which the compiler knows nothing: what follows from it is not reckoned ahead and kept in registers.
DEVICE int opaque(int number) {
    asm volatile("" : "+r"(number));
    return number;
}

// W numbers of one thread, as floats in its hands.
template <int W> struct Span {
    i64 first;   // the index of the first
    i64 end;     // from here on there are none
    int stride;  // from one to the next
    bool isWide; // all are there, are neighbours and begin at 16 bytes

    DEVICE i64 index(int k) const {
        return first + (i64) k * stride;
    }
    DEVICE bool has(int k) const {
        return isWide || index(k) < end;
    }
    // Numbers that are not there are taken as 0.
    template <typename T> DEVICE void load(const T *from, float (&values)[W]) const {
        if (isWide) {
            load_wide(from + first, values);
            return;
        }
        i64 i = first;
        int step = opaque(stride);
#pragma unroll
        for (int k = 0; k < W; k++, i += step) {
            values[k] = i < end ? widened(from[i]) : 0.0f;
        }
    }
    template <typename T> DEVICE void store(T *to, const float (&values)[W]) const {
        if (isWide) {
            store_wide(to + first, values);
            return;
        }
        i64 i = first;
        int step = opaque(stride);
#pragma unroll
        for (int k = 0; k < W; k++, i += step) {
            if (i < end) {
                to[i] = narrowed<T>(values[k]);
            }
        }
    }
};

// Calls the body for the spans of a row of c numbers that one of `threads` threads takes. Where a row is whole spans each
// is of neighbours, wherever it begins, so that sums have one order; of other rows neighbours in a warp have neighbours.
template <int W, typename Body> DEVICE void of_row(int c, bool isAligned, int thread, int threads, Body body) {
    bool takesNeighbours = c % W == 0;
#pragma unroll 1 // other warps hide the wait for memory, and need the registers
    for (int tile = 0; tile < c; tile += threads * W) {
        int first = tile + thread * (takesNeighbours ? W : 1);
        if (first < c) {
            body(Span<W>{first, c, takesNeighbours ? 1 : threads, takesNeighbours && isAligned});
        }
    }
}
