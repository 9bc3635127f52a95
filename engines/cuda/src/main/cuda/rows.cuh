// Kernels of rows: norms, sums of columns, turns by angles. Letters: N rows, C size of a row.
#pragma once
#include "spans.cuh"

constexpr int ROW_THREADS = 128;
constexpr int ROWS_OF_BLOCK = ROW_THREADS / WARP; // a warp a row

DEVICE int lane_index() {
    return thread_index() % WARP;
}
// The row of this warp.
DEVICE i64 row_index() {
    return (i64) block_index() * ROWS_OF_BLOCK + thread_index() / WARP;
}

// Calls the body for the spans of this lane of a row.
template <typename T, typename Body> DEVICE void of_lane(int c, bool isAligned, Body body) {
    of_row<WIDTH<T>>(c, isAligned, lane_index(), WARP, body);
}

// A span of a row, to which the residual's is added first, where there is one.
template <typename T> DEVICE void joined(Span<WIDTH<T>> at, const T *residual, T *x, float (&values)[WIDTH<T>]) {
    at.load(x, values);
    if (residual) {
        float passing[WIDTH<T>];
        at.load(residual, passing);
#pragma unroll
        for (int k = 0; k < WIDTH<T>; k++) {
            values[k] = rounded<T>(passing[k] + values[k]);
        }
        at.store(x, values);
    }
}

// The sum of the squares of a row's offsets from a number, in all lanes.
template <typename T> DEVICE float squared_offsets(const T *x, float centre, int c, bool isAligned) {
    float squares = 0;
    of_lane<T>(c, isAligned, [&](Span<WIDTH<T>> at) {
        float values[WIDTH<T>];
        at.load(x, values);
#pragma unroll
        for (int k = 0; k < WIDTH<T>; k++) {
            float offset = values[k] - centre;
            squares = at.has(k) ? fused(offset, offset, squares) : squares;
        }
    });
    return warp_sum(squares);
}

template <typename T> DEVICE void layer_norm(const T *residual, T *x, const float *gamma, const float *beta,
        float epsilon, T *y, float *mean, float *reciprocal, int n, int c) {
    constexpr int W = WIDTH<T>;
    i64 row = row_index();
    if (row >= n) {
        return;
    }
    bool isAligned = aligned(residual, x, gamma, beta, y);
    i64 begin = row * c;
    float sum = 0;
    of_lane<T>(c, isAligned, [&](Span<W> at) {
        float values[W];
        joined(at, residual ? residual + begin : residual, x + begin, values);
#pragma unroll
        for (int k = 0; k < W; k++) {
            sum += values[k];
        }
    });
    float centre = warp_sum(sum) / c;
    float r = 1 / root(squared_offsets(x + begin, centre, c, isAligned) / c + epsilon);
    of_lane<T>(c, isAligned, [=](Span<W> at) {
        float values[W], factor[W], added[W];
        at.load(x + begin, values);
        at.load(gamma, factor);
        at.load(beta, added);
#pragma unroll
        for (int k = 0; k < W; k++) {
            values[k] = fused((values[k] - centre) * r, factor[k], added[k]);
        }
        at.store(y + begin, values);
    });
    if (lane_index() == 0) {
        mean[row] = centre;
        reciprocal[row] = r;
    }
}

// What the gradient of a row is made of, in the hands of a lane: g = dy gamma, and xhat = (x - mean) r.
template <typename T> DEVICE void gradient_terms(Span<WIDTH<T>> at, const T *dy, const T *x, const float *gamma,
        float centre, float r, float (&g)[WIDTH<T>], float (&normalized)[WIDTH<T>]) {
    float factor[WIDTH<T>];
    at.load(dy, g);
    at.load(x, normalized);
    at.load(gamma, factor);
#pragma unroll
    for (int k = 0; k < WIDTH<T>; k++) {
        g[k] *= factor[k];
        normalized[k] = (normalized[k] - centre) * r;
    }
}

// One row: dx (+)= r (g - mean(g) - xhat mean(g xhat)), where mean(g) is left out of a norm that is not centred.
template <typename T, bool CENTRED> DEVICE void norm_backward(const T *dy, const T *x, const float *gamma,
        float centre, float r, T *dx, bool accumulate, int c, bool isAligned) {
    constexpr int W = WIDTH<T>;
    float gradients = 0;
    float products = 0;
    of_lane<T>(c, isAligned, [&](Span<W> at) {
        float g[W], normalized[W];
        gradient_terms(at, dy, x, gamma, centre, r, g, normalized);
#pragma unroll
        for (int k = 0; k < W; k++) {
            if (at.has(k)) {
                gradients += g[k];
                products = fused(g[k], normalized[k], products);
            }
        }
    });
    gradients = CENTRED ? warp_sum(gradients) / c : 0;
    products = warp_sum(products) / c;
    of_lane<T>(c, isAligned, [=](Span<W> at) {
        float g[W], normalized[W], before[W];
        gradient_terms(at, dy, x, gamma, centre, r, g, normalized);
        if (accumulate) {
            at.load(dx, before);
        }
#pragma unroll
        for (int k = 0; k < W; k++) {
            float inner = fused(-normalized[k], products, g[k] - gradients);
            g[k] = accumulate ? fused(r, inner, before[k]) : r * inner;
        }
        at.store(dx, g);
    });
}

template <typename T> DEVICE void rms_norm(const T *residual, T *x, const float *gamma, float epsilon, T *y,
        float *reciprocal, int n, int c) {
    constexpr int W = WIDTH<T>;
    i64 row = row_index();
    if (row >= n) {
        return;
    }
    bool isAligned = aligned(residual, x, gamma, y);
    i64 begin = row * c;
    if (residual) {
        of_lane<T>(c, isAligned, [=](Span<W> at) {
            float values[W];
            joined(at, residual + begin, x + begin, values);
        });
    }
    float r = 1 / root(squared_offsets(x + begin, 0, c, isAligned) / c + epsilon);
    of_lane<T>(c, isAligned, [=](Span<W> at) {
        float values[W], factor[W];
        at.load(x + begin, values);
        at.load(gamma, factor);
#pragma unroll
        for (int k = 0; k < W; k++) {
            values[k] = factor[k] * values[k] * r;
        }
        at.store(y + begin, values);
    });
    if (lane_index() == 0) {
        reciprocal[row] = r;
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
constexpr int COLUMN_WARPS = COLUMN_THREADS / WARP;

// The sums of the columns of one tile over a chunk of rows, of SUMS terms each, to partial [SUMS x C]: each warp takes every
// eighth row, and the sums of the warps are added in their order. What is read has been read behind it, by all threads.
template <typename T, int SUMS, typename Terms> DEVICE void column_sums(int tile, int firstRow, int endRow, int c,
        bool isAligned, float *partial, Terms terms) {
    constexpr int W = WIDTH<T>;
    __shared__ float found[COLUMN_WARPS][SUMS][WARP * W];
    int lane = lane_index();
    int warp = thread_index() / WARP;
    bool takesNeighbours = isAligned && c % W == 0;
    int first = lane * (takesNeighbours ? W : 1);
    int stride = takesNeighbours ? 1 : WARP;
    Span<W> at{tile + first, c, stride, takesNeighbours};
    float sums[SUMS][W] = {};
    if (at.first < c) {
        for (int row = firstRow + warp; row < endRow; row += COLUMN_WARPS) {
            terms(row, at, sums);
        }
    }
    barrier(); // what was found of the tile before has been read
#pragma unroll
    for (int s = 0; s < SUMS; s++) {
#pragma unroll
        for (int k = 0; k < W; k++) {
            found[warp][s][first + k * stride] = sums[s][k];
        }
    }
    barrier();
    for (int i = thread_index(); i < SUMS * WARP * W; i += COLUMN_THREADS) {
        int s = i / (WARP * W);
        int column = i % (WARP * W);
        if (tile + column < c) {
            float sum = found[0][s][column];
#pragma unroll
            for (int other = 1; other < COLUMN_WARPS; other++) {
                sum += found[other][s][column];
            }
            partial[s * (i64) c + tile + column] = sum;
        }
    }
}

template <typename T> DEVICE void bias_chunk(int tile, int firstRow, int endRow, const T *dy, float *partial, int c) {
    constexpr int W = WIDTH<T>;
    column_sums<T, 1>(tile, firstRow, endRow, c, aligned(dy), partial,
            [=](int row, Span<W> at, float (&sums)[1][W]) {
                float gradient[W];
                at.load(dy + (i64) row * c, gradient);
#pragma unroll
                for (int k = 0; k < W; k++) {
                    sums[0][k] += gradient[k];
                }
            });
}
// The sums for gamma and, of a norm that is centred, for beta.
template <typename T, bool CENTRED> DEVICE void norm_chunk(int tile, int firstRow, int endRow, const T *dy, const T *x,
        const float *mean, const float *reciprocal, float *partial, int c) {
    constexpr int W = WIDTH<T>;
    constexpr int SUMS = CENTRED ? 2 : 1;
    column_sums<T, SUMS>(tile, firstRow, endRow, c, aligned(dy, x), partial,
            [=](int row, Span<W> at, float (&sums)[SUMS][W]) {
                float centre = CENTRED ? mean[row] : 0;
                float r = reciprocal[row];
                float gradient[W], values[W];
                at.load(dy + (i64) row * c, gradient);
                at.load(x + (i64) row * c, values);
#pragma unroll
                for (int k = 0; k < W; k++) {
                    sums[0][k] = fused(gradient[k], (values[k] - centre) * r, sums[0][k]);
                    if (CENTRED) {
                        sums[SUMS - 1][k] += gradient[k];
                    }
                }
            });
}

template <typename T, bool CENTRED> DEVICE void norm_backward_rows(int firstRow, int endRow, const T *dy, const T *x,
        const float *gamma, const float *mean, const float *reciprocal, T *dx, u32 accumulate, int c) {
    bool isAligned = aligned(dy, x, gamma, dx);
#pragma unroll 1
    for (int row = firstRow + thread_index() / WARP; row < endRow; row += COLUMN_WARPS) {
        i64 begin = (i64) row * c;
        norm_backward<T, CENTRED>(dy + begin, x + begin, gamma, CENTRED ? mean[row] : 0, reciprocal[row], dx + begin,
                accumulate, c, isAligned);
    }
}
// A block a chunk of rows: the sums for the weights, and then the gradient for the input, while dy and x are at hand.
template <typename T, bool CENTRED> DEVICE void norm_backward_both(const T *dy, const T *x, const float *gamma,
        const float *mean, const float *reciprocal, T *dx, u32 accumulate, float *partial, int chunkRows, int n, int c) {
    constexpr int SUMS = CENTRED ? 2 : 1;
    int firstRow = block_index() * chunkRows;
    int endRow = lesser(n, firstRow + chunkRows);
#pragma unroll 1
    for (int tile = 0; tile < c; tile += WARP * WIDTH<T>) {
        norm_chunk<T, CENTRED>(tile, firstRow, endRow, dy, x, mean, reciprocal,
                partial + (i64) block_index() * SUMS * c, c);
    }
    norm_backward_rows<T, CENTRED>(firstRow, endRow, dy, x, gamma, mean, reciprocal, dx, accumulate, c);
}

// Adds the chunks' sums to one gradient or to two: each warp takes every so many chunks, and the sums of the warps are
// added in their order.
KERNEL(1024) add_chunks(const float *partial, int chunks, int warps, float *gradient, float *second, int c) {
    __shared__ float found[WARP][WARP];
    int lane = lane_index();
    int warp = thread_index() / WARP;
    int width = second ? 2 * c : c;
    int column = block_index() * WARP + lane;
    float sum = 0;
    if (column < width) {
        for (int chunk = warp; chunk < chunks; chunk += warps) {
            sum += partial[(i64) chunk * width + column];
        }
    }
    found[warp][lane] = sum;
    barrier();
    if (warp == 0 && column < width) {
        for (int other = 1; other < warps; other++) {
            sum += found[other][lane];
        }
        float *to = column < c ? gradient + column : second + (column - c);
        *to += sum;
    }
}

// The chunk of a block that sums up columns, and its tile.
#define CHUNK_OF_BLOCK(T) \
    int firstRow = block_row() * chunkRows; \
    int endRow = lesser(n, firstRow + chunkRows); \
    int tile = block_index() * WARP * WIDTH<T>;

#define ROWS(name, T) \
    KERNEL(ROW_THREADS) layer_norm_##name(const T *residual, T *x, const float *gamma, const float *beta, \
            float epsilon, T *y, float *mean, float *reciprocal, int n, int c) { \
        layer_norm<T>(residual, x, gamma, beta, epsilon, y, mean, reciprocal, n, c); \
    } \
    KERNEL(ROW_THREADS) rms_norm_##name(const T *residual, T *x, const float *gamma, float epsilon, T *y, \
            float *reciprocal, int n, int c) { \
        rms_norm<T>(residual, x, gamma, epsilon, y, reciprocal, n, c); \
    } \
    KERNEL(COLUMN_THREADS) layer_norm_backward_##name(const T *dy, const T *x, const float *gamma, const float *mean, \
            const float *reciprocal, T *dx, u32 accumulate, int n, int c) { \
        int firstRow = block_index() * COLUMN_WARPS; \
        norm_backward_rows<T, true>(firstRow, lesser(n, firstRow + COLUMN_WARPS), dy, x, gamma, mean, reciprocal, dx, \
                accumulate, c); \
    } \
    KERNEL(COLUMN_THREADS) rms_norm_backward_##name(const T *dy, const T *x, const float *gamma, \
            const float *reciprocal, T *dx, u32 accumulate, int n, int c) { \
        int firstRow = block_index() * COLUMN_WARPS; \
        norm_backward_rows<T, false>(firstRow, lesser(n, firstRow + COLUMN_WARPS), dy, x, gamma, nullptr, reciprocal, \
                dx, accumulate, c); \
    } \
    KERNEL(COLUMN_THREADS) layer_norm_backward_both_##name(const T *dy, const T *x, const float *gamma, \
            const float *mean, const float *reciprocal, T *dx, u32 accumulate, float *partial, int chunkRows, int n, \
            int c) { \
        norm_backward_both<T, true>(dy, x, gamma, mean, reciprocal, dx, accumulate, partial, chunkRows, n, c); \
    } \
    KERNEL(COLUMN_THREADS) rms_norm_backward_both_##name(const T *dy, const T *x, const float *gamma, \
            const float *reciprocal, T *dx, u32 accumulate, float *partial, int chunkRows, int n, int c) { \
        norm_backward_both<T, false>(dy, x, gamma, nullptr, reciprocal, dx, accumulate, partial, chunkRows, n, c); \
    } \
    KERNEL(ROW_THREADS) rotary_##name(const T *x, const int *starts, int sequenceLength, const float *cosines, \
            const float *sines, int half, u32 back, T *y, int columns) { \
        rotary<T>(x, starts, sequenceLength, cosines, sines, half, back, y, columns); \
    } \
    KERNEL(COLUMN_THREADS) bias_chunks_##name(const T *dy, float *partial, int chunkRows, int n, int c) { \
        CHUNK_OF_BLOCK(T) \
        bias_chunk<T>(tile, firstRow, endRow, dy, partial + (i64) block_row() * c, c); \
    } \
    KERNEL(COLUMN_THREADS) layer_norm_chunks_##name(const T *dy, const T *x, const float *mean, \
            const float *reciprocal, float *partial, int chunkRows, int n, int c) { \
        CHUNK_OF_BLOCK(T) \
        norm_chunk<T, true>(tile, firstRow, endRow, dy, x, mean, reciprocal, partial + (i64) block_row() * 2 * c, c); \
    } \
    KERNEL(COLUMN_THREADS) rms_norm_chunks_##name(const T *dy, const T *x, const float *reciprocal, float *partial, \
            int chunkRows, int n, int c) { \
        CHUNK_OF_BLOCK(T) \
        norm_chunk<T, false>(tile, firstRow, endRow, dy, x, nullptr, reciprocal, partial + (i64) block_row() * c, c); \
    }
ROWS(f32, float)
ROWS(bf16, bf16)
