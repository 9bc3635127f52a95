// Kernels that read token ids. Letters: N rows, T sequence length, C hidden size, V vocabulary size.
#pragma once
#include "prelude.cuh"

constexpr int NOT_IN_SHARD = -1;
constexpr int NOT_COUNTED = -2;
constexpr int TOKEN_THREADS = 128;

template <typename T> DEVICE void embedding(const int *tokens, const float *tokenTable, const float *positionTable,
        int sequenceLength, T *y, int c) {
    i64 row = block_index();
    i64 token = tokens[row];
    i64 place = row % sequenceLength;
    for (int j = thread_index(); j < c; j += TOKEN_THREADS) {
        float value = token == NOT_IN_SHARD ? 0.0f : tokenTable[token * c + j];
        y[row * c + j] = narrowed<T>(positionTable ? value + positionTable[place * c + j] : value);
    }
}

// The block of the first row with a token adds all rows of that token, in their order; the other blocks have nothing to do.
template <typename T> DEVICE void embedding_backward(const int *tokens, const T *dy, float *dTokenTable, int n, int c) {
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
    for (int first = row / WARP * WARP; first < n; first += WARP) {
        int other = first + lane;
        u32 same = votes(other >= row && other < n && tokens[lesser(other, n - 1)] == token);
        for (int k = 0; k < WARP; k++) {
            if (same >> k & 1) {
                for (int j = thread_index(); j < c; j += TOKEN_THREADS) {
                    dTokenTable[token * c + j] += widened(dy[(i64) (first + k) * c + j]);
                }
            }
        }
    }
}

// A block a place: the rows of that place in all sequences, in their order.
template <typename T> DEVICE void position_backward(const T *dy, int sequenceLength, float *dPositionTable, int n, int c) {
    int place = block_index();
    for (int j = thread_index(); j < c; j += TOKEN_THREADS) {
        float sum = dPositionTable[(i64) place * c + j];
        for (i64 row = place; row < n; row += sequenceLength) {
            sum += widened(dy[row * c + j]);
        }
        dPositionTable[(i64) place * c + j] = sum;
    }
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

template <typename T> DEVICE void cross_entropy(const T *logits, const int *targets, float *rowLoss,
        float *rowLogSumExp, int v) {
    i64 row = block_index();
    const T *own = logits + row * v;
    float highest = -INFINITE;
    for (int j = thread_index(); j < v; j += TOKEN_THREADS) {
        highest = larger(highest, widened(own[j]));
    }
    highest = of_block<false>(highest);
    float sum = 0;
    for (int j = thread_index(); j < v; j += TOKEN_THREADS) {
        sum += exponential(widened(own[j]) - highest);
    }
    sum = of_block<true>(sum);
    if (thread_index() == 0) {
        float logSum = highest + logarithm(sum);
        int target = targets[row];
        rowLogSumExp[row] = logSum;
        rowLoss[row] = target < 0 ? 0.0f : logSum - widened(own[target]);
    }
}

template <typename T> DEVICE void cross_entropy_backward(const T *logits, const int *targets,
        const float *rowLogSumExp, float scale, T *dLogits, int v) {
    i64 row = block_index();
    int target = targets[row];
    float logSum = rowLogSumExp[row];
    for (int j = thread_index(); j < v; j += TOKEN_THREADS) {
        float probability = exponential(widened(logits[row * v + j]) - logSum);
        float error = j == target ? probability - 1 : probability;
        dLogits[row * v + j] = narrowed<T>(target == NOT_COUNTED ? 0.0f : scale * error);
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
    KERNEL(TOKEN_THREADS) cross_entropy_##name(const T *logits, const int *targets, float *rowLoss, \
            float *rowLogSumExp, int v) { \
        cross_entropy<T>(logits, targets, rowLoss, rowLogSumExp, v); \
    } \
    KERNEL(TOKEN_THREADS) cross_entropy_backward_##name(const T *logits, const int *targets, \
            const float *rowLogSumExp, float scale, T *dLogits, int v) { \
        cross_entropy_backward<T>(logits, targets, rowLogSumExp, scale, dLogits, v); \
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
