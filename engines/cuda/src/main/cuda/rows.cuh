// Kernels of rows: norms, sums of columns, turns by angles. Letters: N rows, C size of a row.
#pragma once
#include "prelude.cuh"

constexpr int ROW_THREADS = 128;
constexpr int ROWS_OF_BLOCK = ROW_THREADS / WARP; // a warp a row

DEVICE int lane_index() {
    return thread_index() % WARP;
}
// The row of this warp.
DEVICE i64 row_index() {
    return (i64) block_index() * ROWS_OF_BLOCK + thread_index() / WARP;
}

// An element of a row, to which the residual's is added first, where there is one.
template <typename T> DEVICE float joined(const T *residual, T *x, i64 i) {
    float value = widened(x[i]);
    if (residual) {
        value = rounded<T>(widened(residual[i]) + value);
        x[i] = narrowed<T>(value);
    }
    return value;
}

template <typename T> DEVICE void layer_norm(const T *residual, T *x, const float *gamma, const float *beta,
        float epsilon, T *y, float *mean, float *reciprocal, int n, int c) {
    i64 row = row_index();
    if (row >= n) {
        return;
    }
    i64 at = row * c;
    float sum = 0;
    for (int j = lane_index(); j < c; j += WARP) {
        sum += joined(residual, x, at + j);
    }
    float centre = warp_sum(sum) / c;
    float squares = 0;
    for (int j = lane_index(); j < c; j += WARP) {
        float offset = widened(x[at + j]) - centre;
        squares += offset * offset;
    }
    float r = 1 / root(warp_sum(squares) / c + epsilon);
    for (int j = lane_index(); j < c; j += WARP) {
        y[at + j] = narrowed<T>((widened(x[at + j]) - centre) * r * gamma[j] + beta[j]);
    }
    if (lane_index() == 0) {
        mean[row] = centre;
        reciprocal[row] = r;
    }
}

// dx (+)= r (g - mean(g) - xhat mean(g xhat)) with g = dy gamma
template <typename T> DEVICE void layer_norm_backward(const T *dy, const T *x, const float *gamma, const float *mean,
        const float *reciprocal, T *dx, u32 accumulate, int n, int c) {
    i64 row = row_index();
    if (row >= n) {
        return;
    }
    i64 at = row * c;
    float centre = mean[row];
    float r = reciprocal[row];
    float gradients = 0;
    float products = 0;
    for (int j = lane_index(); j < c; j += WARP) {
        float g = widened(dy[at + j]) * gamma[j];
        gradients += g;
        products += g * ((widened(x[at + j]) - centre) * r);
    }
    gradients = warp_sum(gradients) / c;
    products = warp_sum(products) / c;
    for (int j = lane_index(); j < c; j += WARP) {
        float g = widened(dy[at + j]) * gamma[j];
        float normalized = (widened(x[at + j]) - centre) * r;
        float gradient = r * (g - gradients - normalized * products);
        dx[at + j] = narrowed<T>(accumulate ? widened(dx[at + j]) + gradient : gradient);
    }
}

template <typename T> DEVICE void rms_norm(const T *residual, T *x, const float *gamma, float epsilon, T *y,
        float *reciprocal, int n, int c) {
    i64 row = row_index();
    if (row >= n) {
        return;
    }
    i64 at = row * c;
    float squares = 0;
    for (int j = lane_index(); j < c; j += WARP) {
        float value = joined(residual, x, at + j);
        squares += value * value;
    }
    float r = 1 / root(warp_sum(squares) / c + epsilon);
    for (int j = lane_index(); j < c; j += WARP) {
        y[at + j] = narrowed<T>(gamma[j] * widened(x[at + j]) * r);
    }
    if (lane_index() == 0) {
        reciprocal[row] = r;
    }
}

// dx (+)= r (g - x r mean(g x r)) with g = dy gamma
template <typename T> DEVICE void rms_norm_backward(const T *dy, const T *x, const float *gamma, const float *reciprocal,
        T *dx, u32 accumulate, int n, int c) {
    i64 row = row_index();
    if (row >= n) {
        return;
    }
    i64 at = row * c;
    float r = reciprocal[row];
    float products = 0;
    for (int j = lane_index(); j < c; j += WARP) {
        products += widened(dy[at + j]) * gamma[j] * (widened(x[at + j]) * r);
    }
    products = warp_sum(products) / c;
    for (int j = lane_index(); j < c; j += WARP) {
        float gradient = r * (widened(dy[at + j]) * gamma[j] - widened(x[at + j]) * r * products);
        dx[at + j] = narrowed<T>(accumulate ? widened(dx[at + j]) + gradient : gradient);
    }
}

// Turns numbers j and D/2 + j of each head by the angle of the row's place in its document.
template <typename T> DEVICE void rotary(const T *x, const int *starts, int sequenceLength, const float *cosines,
        const float *sines, int half, u32 back, T *y, int columns) {
    i64 row = block_index();
    int place = (int) (row % sequenceLength) - (starts ? starts[row] : 0);
    for (int pair = thread_index(); pair < columns / 2; pair += ROW_THREADS) {
        int j = pair % half;
        i64 at = row * columns + (i64) (pair / half) * 2 * half + j;
        float cosine = cosines[(i64) place * half + j];
        float sine = sines[(i64) place * half + j];
        sine = back ? -sine : sine;
        float first = widened(x[at]);
        float second = widened(x[at + half]);
        y[at] = narrowed<T>(first * cosine - second * sine);
        y[at + half] = narrowed<T>(second * cosine + first * sine);
    }
}

constexpr int COLUMN_THREADS = 256;
constexpr int ROWS_OF_CHUNK = 256;

// The sums of 32 columns over one chunk of rows, to partial [chunks x C]. Each warp takes every eighth row.
template <typename Term> DEVICE void column_sums(int n, int c, float *partial, Term term) {
    constexpr int WARPS = COLUMN_THREADS / WARP;
    __shared__ float sums[WARPS][WARP];
    int lane = lane_index();
    int warp = thread_index() / WARP;
    int column = block_index() * WARP + lane;
    int first = block_row() * ROWS_OF_CHUNK;
    int end = lesser(n, first + ROWS_OF_CHUNK);
    float sum = 0;
    if (column < c) {
        for (int row = first + warp; row < end; row += WARPS) {
            sum += term(row, (i64) row * c + column);
        }
    }
    sums[warp][lane] = sum;
    barrier();
    if (warp == 0 && column < c) {
#pragma unroll
        for (int other = 1; other < WARPS; other++) {
            sum += sums[other][lane];
        }
        partial[(i64) block_row() * c + column] = sum;
    }
}
// Adds the chunks' sums to the gradient, in their order.
KERNEL(FLAT_THREADS) add_chunks(const float *partial, int chunks, float *gradient, int c) {
    int column = block_index() * FLAT_THREADS + thread_index();
    if (column < c) {
        float sum = 0;
        for (int chunk = 0; chunk < chunks; chunk++) {
            sum += partial[(i64) chunk * c + column];
        }
        gradient[column] += sum;
    }
}

#define ROWS(name, T) \
    KERNEL(ROW_THREADS) layer_norm_##name(const T *residual, T *x, const float *gamma, const float *beta, \
            float epsilon, T *y, float *mean, float *reciprocal, int n, int c) { \
        layer_norm<T>(residual, x, gamma, beta, epsilon, y, mean, reciprocal, n, c); \
    } \
    KERNEL(ROW_THREADS) layer_norm_backward_##name(const T *dy, const T *x, const float *gamma, const float *mean, \
            const float *reciprocal, T *dx, u32 accumulate, int n, int c) { \
        layer_norm_backward<T>(dy, x, gamma, mean, reciprocal, dx, accumulate, n, c); \
    } \
    KERNEL(ROW_THREADS) rms_norm_##name(const T *residual, T *x, const float *gamma, float epsilon, T *y, \
            float *reciprocal, int n, int c) { \
        rms_norm<T>(residual, x, gamma, epsilon, y, reciprocal, n, c); \
    } \
    KERNEL(ROW_THREADS) rms_norm_backward_##name(const T *dy, const T *x, const float *gamma, const float *reciprocal, \
            T *dx, u32 accumulate, int n, int c) { \
        rms_norm_backward<T>(dy, x, gamma, reciprocal, dx, accumulate, n, c); \
    } \
    KERNEL(ROW_THREADS) rotary_##name(const T *x, const int *starts, int sequenceLength, const float *cosines, \
            const float *sines, int half, u32 back, T *y, int columns) { \
        rotary<T>(x, starts, sequenceLength, cosines, sines, half, back, y, columns); \
    } \
    KERNEL(COLUMN_THREADS) bias_chunks_##name(const T *dy, float *partial, int n, int c) { \
        column_sums(n, c, partial, [=](int, i64 i) { return widened(dy[i]); }); \
    } \
    KERNEL(COLUMN_THREADS) layer_norm_chunks_##name(const T *dy, const T *x, const float *mean, \
            const float *reciprocal, float *partial, int n, int c) { \
        column_sums(n, c, partial, [=](int row, i64 i) { \
            return widened(dy[i]) * ((widened(x[i]) - mean[row]) * reciprocal[row]); \
        }); \
    } \
    KERNEL(COLUMN_THREADS) rms_norm_chunks_##name(const T *dy, const T *x, const float *reciprocal, float *partial, \
            int n, int c) { \
        column_sums(n, c, partial, [=](int row, i64 i) { \
            return widened(dy[i]) * widened(x[i]) * reciprocal[row]; \
        }); \
    }
ROWS(f32, float)
ROWS(bf16, bf16)
