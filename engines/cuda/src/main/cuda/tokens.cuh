// Kernels that read token ids. Letters: N rows, T sequence length, C hidden size, V vocabulary size.
#pragma once
#include "spans.cuh"

constexpr int NOT_IN_SHARD = -1;
constexpr int NOT_COUNTED = -2;
constexpr int TOKEN_THREADS = 128;

// A row of y is what comes out of one of the token table and, where there is a table of positions, one of that.
template <typename T> DEVICE void embedding(const int *tokens, const float *tokenTable, const float *positionTable,
        int sequenceLength, T *y, int c) {
    constexpr int W = WIDTH<T>;
    i64 row = block_index();
    i64 token = tokens[row];
    i64 place = row % sequenceLength;
    of_row<W>(c, aligned(tokenTable, positionTable, y), thread_index(), TOKEN_THREADS, [=](Span<W> at) {
        float values[W] = {};
        if (token != NOT_IN_SHARD) {
            at.load(tokenTable + token * c, values);
        }
        if (positionTable) {
            float added[W];
            at.load(positionTable + place * c, added);
#pragma unroll
            for (int k = 0; k < W; k++) {
                values[k] += added[k];
            }
        }
        at.store(y + row * c, values);
    });
}

// Of at most this many rows a block looks at all.
constexpr int MOST_EMBEDDED = 2048;

// The block of the first row with a token adds all rows of that token, in their order; the other blocks have nothing to do.
template <typename T> DEVICE void embedding_backward(const int *tokens, const T *dy, float *dTokenTable, int n, int c) {
    constexpr int W = WIDTH<float>;
    __shared__ int rows[MOST_EMBEDDED + 1]; // those of the token, and last how many they are
    int row = block_index();
    int lane = lane_index();
    i64 token = tokens[row];
    if (token == NOT_IN_SHARD) {
        return;
    }
    for (int first = 0; first < row; first += WARP) {
        int other = first + lane;
        if (votes(other < row && tokens[lesser(other, row)] == token)) {
            return;
        }
    }
    if (thread_index() < WARP) {
        int count = 0;
        for (int first = row / WARP * WARP; first < n; first += WARP) {
            int other = first + lane;
            u32 same = votes(other >= row && other < n && tokens[lesser(other, n - 1)] == token);
            for (int k = 0; same >> k; k++) {
                if (same >> k & 1) {
                    if (lane == 0) {
                        rows[count] = first + k;
                    }
                    count++;
                }
            }
        }
        if (lane == 0) {
            rows[MOST_EMBEDDED] = count;
        }
    }
    barrier();
    int count = rows[MOST_EMBEDDED];
    float *sums = dTokenTable + token * c;
    of_row<W>(c, aligned(dTokenTable, dy), thread_index(), TOKEN_THREADS, [=](Span<W> at) {
        float values[W];
        at.load(sums, values);
        for (int i = 0; i < count; i++) {
            float added[W];
            at.load(dy + (i64) rows[i] * c, added);
#pragma unroll
            for (int k = 0; k < W; k++) {
                values[k] += added[k];
            }
        }
        at.store(sums, values);
    });
}

// A block a place: the rows of that place in all sequences, in their order.
template <typename T> DEVICE void position_backward(const T *dy, int sequenceLength, float *dPositionTable, int n, int c) {
    constexpr int W = WIDTH<float>;
    int place = block_index();
    float *sums = dPositionTable + (i64) place * c;
    of_row<W>(c, aligned(dPositionTable, dy), thread_index(), TOKEN_THREADS, [=](Span<W> at) {
        float values[W];
        at.load(sums, values);
        for (i64 row = place; row < n; row += sequenceLength) {
            float added[W];
            at.load(dy + row * c, added);
#pragma unroll
            for (int k = 0; k < W; k++) {
                values[k] += added[k];
            }
        }
        at.store(sums, values);
    });
}

// Combines what the warps of a block found; the same in all threads.
template <bool SUM> DEVICE float of_block(float value) {
    __shared__ float found[TOKEN_THREADS / WARP];
    value = SUM ? warp_sum(value) : warp_highest(value);
    barrier();
    if (lane_index() == 0) {
        found[thread_index() / WARP] = value;
    }
    barrier();
    value = found[0];
#pragma unroll
    for (int warp = 1; warp < TOKEN_THREADS / WARP; warp++) {
        value = SUM ? value + found[warp] : larger(value, found[warp]);
    }
    return value;
}

// The gradient of a row of logits.
template <typename T> DEVICE void logits_gradient(const T *own, int target, float logSum, float scale, T *gradient,
        int v, bool isAligned) {
    constexpr int W = WIDTH<T>;
    of_row<W>(v, isAligned, thread_index(), TOKEN_THREADS, [=](Span<W> at) {
        float values[W];
        at.load(own, values);
#pragma unroll
        for (int k = 0; k < W; k++) {
            float probability = exponential(values[k] - logSum);
            float error = at.index(k) == target ? probability - 1 : probability;
            values[k] = target == NOT_COUNTED ? 0.0f : scale * error;
        }
        at.store(gradient, values);
    });
}

DEVICE float log_of_sum(float highest, float sum) {
    return highest + logarithm(sum);
}

// The logarithm of the sum of a row's exponentials, in all threads. Exponentials are below the highest logit so far, so that a
// row is read once; what was added before a higher one is made smaller.
template <typename T> DEVICE float log_sum_exp(const T *own, int v, bool isAligned) {
    constexpr int W = WIDTH<T>;
    float highest = -INFINITE;
    float sum = 0;
    of_row<W>(v, isAligned, thread_index(), TOKEN_THREADS, [&](Span<W> at) {
        float logits[W];
        at.load(own, logits);
        float before = highest;
#pragma unroll
        for (int k = 0; k < W; k++) {
            highest = at.has(k) ? larger(highest, logits[k]) : highest;
        }
        sum = highest > before ? sum * exponential(before - highest) : sum;
#pragma unroll
        for (int k = 0; k < W; k++) {
            sum += at.has(k) ? exponential(logits[k] - highest) : 0.0f;
        }
    });
    float ofAll = of_block<false>(highest);
    sum = of_block<true>(ofAll > highest ? sum * exponential(highest - ofAll) : sum);
    return log_of_sum(ofAll, sum);
}

// The loss of a row and its logarithm, and with GRADIENT its logits become their gradient.
template <typename T, bool GRADIENT> DEVICE void cross_entropy(T *logits, const int *targets, float *rowLoss,
        float *rowLogSumExp, float scale, int v) {
    i64 row = block_index();
    T *own = logits + row * v;
    int target = targets[row];
    float ofTarget = target < 0 ? 0.0f : widened(own[target]); // before any thread writes a gradient
    float logSum = log_sum_exp(own, v, aligned(logits));
    if (thread_index() == 0) {
        rowLogSumExp[row] = logSum;
        rowLoss[row] = target < 0 ? 0.0f : logSum - ofTarget;
    }
    if (GRADIENT) {
        logits_gradient(own, target, logSum, scale, own, v, aligned(logits));
    }
}

#define TOKENS(name, T) \
    KERNEL(TOKEN_THREADS) embedding_##name(const int *tokens, const float *tokenTable, const float *positionTable, \
            int sequenceLength, T *y, int c) { \
        embedding<T>(tokens, tokenTable, positionTable, sequenceLength, y, c); \
    } \
    KERNEL(TOKEN_THREADS) embedding_backward_##name(const int *tokens, const T *dy, float *dTokenTable, int n, int c) { \
        embedding_backward<T>(tokens, dy, dTokenTable, n, c); \
    } \
    KERNEL(TOKEN_THREADS) position_backward_##name(const T *dy, int sequenceLength, float *dPositionTable, int n, \
            int c) { \
        position_backward<T>(dy, sequenceLength, dPositionTable, n, c); \
    } \
    KERNEL(TOKEN_THREADS) cross_entropy_##name(T *logits, const int *targets, float *rowLoss, float *rowLogSumExp, \
            int v) { \
        cross_entropy<T, false>(logits, targets, rowLoss, rowLogSumExp, 0, v); \
    } \
    KERNEL(TOKEN_THREADS) cross_entropy_both_##name(T *logits, const int *targets, float *rowLoss, \
            float *rowLogSumExp, float scale, int v) { \
        cross_entropy<T, true>(logits, targets, rowLoss, rowLogSumExp, scale, v); \
    } \
    KERNEL(TOKEN_THREADS) cross_entropy_backward_##name(const T *logits, const int *targets, \
            const float *rowLogSumExp, float scale, T *dLogits, int v) { \
        i64 row = block_index(); \
        logits_gradient(logits + row * v, targets[row], rowLogSumExp[row], scale, dLogits + row * v, v, \
                aligned(logits, dLogits)); \
    }
TOKENS(f32, float)
TOKENS(bf16, bf16)

// What a shard of the vocabulary has of the sum of exponentials of the whole (Shoeybi et al. 2019, section 3).
KERNEL(FLAT_THREADS) shard_sum(const float *rowLogSumExp, const float *highest, float *sums, i64 count) {
    each(count, [=](i64 i) { sums[i] = exponential(rowLogSumExp[i] - highest[i]); });
}
// From a shard to the whole, whose sums of exponentials are there.
KERNEL(FLAT_THREADS) join_shards(const int *targets, const float *highest, const float *sums, float *rowLoss,
        float *rowLogSumExp, i64 count) {
    each(count, [=](i64 i) {
        float whole = highest[i] + logarithm(sums[i]);
        if (targets[i] >= 0) {
            rowLoss[i] += whole - rowLogSumExp[i];
        }
        rowLogSumExp[i] = whole;
    });
}
