// Causal attention of heads that may share keys and values, over documents. Letters: B microbatch size, T places of a
// sequence, Q queries of a sequence (its last places), H heads of queries, D size of a head.
//
// A warp has some queries (or keys, in the backward for these), a lane one place of a tile of 32 on the other side, or
// D / 32 columns of what is summed. No sum is divided among blocks, so its order is always the same.
#pragma once
#include "prelude.cuh"

constexpr int ATTENTION_THREADS = 128;
constexpr int ATTENTION_WARPS = ATTENTION_THREADS / WARP;

// What all kernels of attention are told; rows of queries and of keys may lie in a wider matrix.
struct Places {
    const int *starts;
    int t, q, heads, sharing, d;
    int queryColumns, keyColumns;
    float scale;
    u64 wholeHeads, firstHead, wholePlaces;

    // Where the numbers of a head begin.
    DEVICE i64 query(int sequence, int head, int index) const {
        return ((i64) sequence * q + index) * queryColumns + (i64) head * d;
    }
    DEVICE i64 key(int sequence, int head, int place) const {
        return ((i64) sequence * t + place) * keyColumns + (i64) (head / sharing) * d;
    }
    DEVICE i64 output(int sequence, int head, int index) const {
        return (((i64) sequence * q + index) * heads + head) * d;
    }
    DEVICE i64 state(int sequence, int head, int index) const {
        return ((i64) sequence * heads + head) * q + index;
    }
    DEVICE int start(int sequence, int place) const {
        return starts ? starts[(i64) sequence * t + place] : 0;
    }
    // The place in the dropout of a query's first probability.
    DEVICE i64 dropped(int sequence, int head, int place) const {
        return (i64) (((sequence * wholeHeads + firstHead + head) * wholePlaces + place) * wholePlaces);
    }
};
#define PLACES_PARAMETERS const int *starts, int t, int q, int heads, int sharing, int d, int queryColumns, \
        int keyColumns, float scale, u64 wholeHeads, u64 firstHead, u64 wholePlaces
#define PLACES Places{starts, t, q, heads, sharing, d, queryColumns, keyColumns, scale, wholeHeads, firstHead, wholePlaces}

// Loads rows of D numbers to shared memory, zeros beyond `count` rows and beyond D.
template <typename T, int ROWS, int WIDTH, int STRIDE>
DEVICE void load_tile(float (&tile)[ROWS][STRIDE], const T *first, i64 columns, int count, int d, float factor) {
#pragma unroll 1
    for (int i = thread_index(); i < ROWS * WIDTH; i += ATTENTION_THREADS) {
        int row = i / WIDTH;
        int column = i % WIDTH;
        tile[row][column] = row < count && column < d ? widened(first[row * columns + column]) * factor : 0.0f;
    }
}

// The same, when all threads have done with the tile before, and for all of them to read.
template <typename T, int WIDTH>
DEVICE void next_tile(float (&tile)[WARP][WIDTH + 1], const T *first, i64 columns, int count, int d, float factor) {
    barrier();
    load_tile<T, WARP, WIDTH>(tile, first, columns, count, d, factor);
    barrier();
}

// results[i] = the warp's row i of `rows` times the lane's row of `tile`
template <int OWN, int ROWS, int WIDTH>
DEVICE void products_of(float (&results)[OWN], float (&rows)[ROWS][WIDTH], float (&tile)[WARP][WIDTH + 1], int d) {
    int lane = thread_index() % WARP;
    int first = thread_index() / WARP * OWN;
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        results[i] = 0;
    }
#pragma unroll 2
    for (int j = 0; j < d; j++) {
        float other = tile[lane][j];
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            results[i] = fused(rows[first + i][j], other, results[i]);
        }
    }
}

// sums[i] += the weights of the warp's row i, a lane each, times the rows of `tile`
template <int OWN, int PARTS, int WIDTH>
DEVICE void add_weighted(float (&sums)[OWN][PARTS], float (&weights)[OWN], float (&tile)[WARP][WIDTH + 1]) {
    int lane = thread_index() % WARP;
#pragma unroll 1
    for (int j = 0; j < WARP; j++) {
        float row[PARTS];
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            row[part] = tile[j][part * WARP + lane];
        }
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            float weight = of_lane(weights[i], j);
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                sums[i][part] = fused(weight, row[part], sums[i][part]);
            }
        }
    }
}

// Does for each of a lane's columns below D, by its number among them and its place in the row.
template <int PARTS, typename Write> DEVICE void for_columns(int lane, int d, const Write &write) {
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        int column = part * WARP + lane;
        if (column < d) {
            write(part, column);
        }
    }
}

// Queries of one sequence and head: those of a block, and the first of those of this thread's warp.
struct BlockQueries {
    int sequence, head, first, count, firstOwn;
};

// The longest rows first, so that the last blocks to run are short.
template <int OWN> DEVICE BlockQueries queries_of_block(const Places &places) {
    constexpr int ROWS = ATTENTION_WARPS * OWN;
    int tiles = (places.q + ROWS - 1) / ROWS;
    int unit = block_index() / tiles;
    int first = (tiles - 1 - block_index() % tiles) * ROWS;
    return {unit / places.heads, unit % places.heads, first, lesser(ROWS, places.q - first),
            first + thread_index() / WARP * OWN};
}

// The first tile of keys that a query of this block may see: that where the earliest of their documents begins.
DEVICE int first_tile(const Places &places, int sequence, int firstQuery, int count) {
    if (!places.starts) {
        return 0;
    }
    int own = firstQuery + lesser(thread_index() % WARP, count - 1);
    return warp_lowest(places.start(sequence, places.t - places.q + own)) / WARP;
}

// y = dropout(softmax(scale q k^T)) v with a running softmax; `state`, where given, has each row's log of the sum of
// exponentials, [B x H x Q].
template <typename T, int PARTS, int OWN>
DEVICE void attention_forward(const T *queries, const T *keys, const T *values, T *y, float *state, const Places &places,
        const Mask &mask) {
    constexpr int WIDTH = PARTS * WARP;
    constexpr int ROWS = ATTENTION_WARPS * OWN;
    __shared__ float own[ROWS][WIDTH];
    __shared__ float tile[WARP][WIDTH + 1];
    auto [sequence, head, firstQuery, count, firstOwn] = queries_of_block<OWN>(places);
    int offset = places.t - places.q;
    int lane = thread_index() % WARP;
    load_tile<T, ROWS, WIDTH>(own, queries + places.query(sequence, head, firstQuery), places.queryColumns, count,
            places.d, places.scale);
    float sums[OWN][PARTS] = {};
    float highest[OWN];
    float total[OWN];
    int start[OWN];
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        highest[i] = -INFINITE;
        total[i] = 0;
        start[i] = places.start(sequence, offset + lesser(firstOwn + i, places.q - 1));
    }
    int end = offset + firstQuery + count;
#pragma unroll 1
    for (int first = first_tile(places, sequence, firstQuery, count) * WARP; first < end; first += WARP) {
        next_tile<T, WIDTH>(tile, keys + places.key(sequence, head, first), places.keyColumns, end - first,
                places.d, 1.0f);
        float weights[OWN];
        products_of<OWN, ROWS, WIDTH>(weights, own, tile, places.d);
        next_tile<T, WIDTH>(tile, values + places.key(sequence, head, first), places.keyColumns, end - first,
                places.d, 1.0f);
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            int place = offset + firstOwn + i;
            bool isSeen = first + lane <= place && first + lane >= start[i];
            float score = isSeen ? weights[i] : -INFINITE;
            float found = larger(highest[i], warp_highest(score));
            float probability = isSeen ? exponential(score - found) : 0.0f;
            float shrink = highest[i] == -INFINITE ? 0.0f : exponential(highest[i] - found);
            total[i] = total[i] * shrink + warp_sum(probability);
            highest[i] = found;
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                sums[i][part] *= shrink;
            }
            weights[i] = mask.drops
                    ? probability * mask.factor(places.dropped(sequence, head, place) + first + lane)
                    : probability;
        }
        add_weighted<OWN, PARTS, WIDTH>(sums, weights, tile);
    }
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        if (firstOwn + i < places.q) {
            i64 at = places.output(sequence, head, firstOwn + i);
            for_columns<PARTS>(lane, places.d, [&](int part, int column) {
                y[at + column] = narrowed<T>(sums[i][part] / total[i]);
            });
            if (state && lane == 0) {
                state[places.state(sequence, head, firstOwn + i)] = highest[i] + logarithm(total[i]);
            }
        }
    }
}

// deltas [B x H x T] = dy y of each row and head, a warp each
template <typename T> DEVICE void attention_deltas(const T *dy, const T *y, float *deltas, const Places &places, int units) {
    int unit = (int) (block_index() * ATTENTION_WARPS) + thread_index() / WARP;
    if (unit >= units) {
        return;
    }
    int index = unit % places.q;
    int head = unit / places.q % places.heads;
    i64 at = places.output(unit / places.q / places.heads, head, index);
    float sum = 0;
    for (int j = thread_index() % WARP; j < places.d; j += WARP) {
        sum += widened(dy[at + j]) * widened(y[at + j]);
    }
    sum = warp_sum(sum);
    if (thread_index() % WARP == 0) {
        deltas[unit] = sum;
    }
}

// The gradient for queries, which lies as these do.
template <typename T, int PARTS, int OWN>
DEVICE void attention_queries(const T *queries, const T *keys, const T *values, const T *dy, const float *state,
        const float *deltas, T *dQueries, const Places &places, const Mask &mask) {
    constexpr int WIDTH = PARTS * WARP;
    constexpr int ROWS = ATTENTION_WARPS * OWN;
    __shared__ float own[ROWS][WIDTH];
    __shared__ float gradients[ROWS][WIDTH];
    __shared__ float tile[WARP][WIDTH + 1];
    auto [sequence, head, firstQuery, count, firstOwn] = queries_of_block<OWN>(places);
    int lane = thread_index() % WARP;
    load_tile<T, ROWS, WIDTH>(own, queries + places.query(sequence, head, firstQuery), places.queryColumns, count,
            places.d, places.scale);
    load_tile<T, ROWS, WIDTH>(gradients, dy + places.output(sequence, head, firstQuery), (i64) places.heads * places.d,
            count, places.d, 1.0f);
    float sums[OWN][PARTS] = {};
    float logSum[OWN];
    float delta[OWN];
    int start[OWN];
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        int query = lesser(firstOwn + i, places.q - 1);
        logSum[i] = state[places.state(sequence, head, query)];
        delta[i] = deltas[places.state(sequence, head, query)];
        start[i] = places.start(sequence, query);
    }
    int end = firstQuery + count;
#pragma unroll 1
    for (int first = first_tile(places, sequence, firstQuery, count) * WARP; first < end; first += WARP) {
        next_tile<T, WIDTH>(tile, values + places.key(sequence, head, first), places.keyColumns, end - first,
                places.d, 1.0f);
        float slopes[OWN];
        products_of<OWN, ROWS, WIDTH>(slopes, gradients, tile, places.d);
        next_tile<T, WIDTH>(tile, keys + places.key(sequence, head, first), places.keyColumns, end - first,
                places.d, 1.0f);
        float weights[OWN];
        products_of<OWN, ROWS, WIDTH>(weights, own, tile, places.d);
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            int place = firstOwn + i;
            bool isSeen = first + lane <= place && first + lane >= start[i];
            float probability = isSeen ? exponential(weights[i] - logSum[i]) : 0.0f;
            float slope = mask.drops
                    ? slopes[i] * mask.factor(places.dropped(sequence, head, place) + first + lane)
                    : slopes[i];
            weights[i] = probability * (slope - delta[i]);
        }
        add_weighted<OWN, PARTS, WIDTH>(sums, weights, tile);
    }
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        if (firstOwn + i < places.q) {
            i64 at = places.query(sequence, head, firstOwn + i);
            for_columns<PARTS>(lane, places.d, [&](int part, int column) {
                dQueries[at + column] = narrowed<T>(sums[i][part] * places.scale);
            });
        }
    }
}

// The gradients for keys and values, which lie as these do: the heads that share them one after another.
template <typename T, int PARTS, int OWN>
DEVICE void attention_keys(const T *queries, const T *keys, const T *values, const T *dy, const float *state,
        const float *deltas, T *dKeys, T *dValues, const Places &places, const Mask &mask) {
    constexpr int WIDTH = PARTS * WARP;
    constexpr int ROWS = ATTENTION_WARPS * OWN;
    __shared__ float ownKeys[ROWS][WIDTH];
    __shared__ float ownValues[ROWS][WIDTH];
    __shared__ float tile[WARP][WIDTH + 1];
    int tiles = (places.t + ROWS - 1) / ROWS;
    int unit = block_index() / tiles;
    int groups = places.heads / places.sharing;
    int sequence = unit / groups;
    int firstHead = unit % groups * places.sharing;
    int firstKey = block_index() % tiles * ROWS;
    int count = lesser(ROWS, places.t - firstKey);
    int lane = thread_index() % WARP;
    int firstOwn = firstKey + thread_index() / WARP * OWN;
    i64 from = places.key(sequence, firstHead, firstKey);
    load_tile<T, ROWS, WIDTH>(ownKeys, keys + from, places.keyColumns, count, places.d, places.scale);
    load_tile<T, ROWS, WIDTH>(ownValues, values + from, places.keyColumns, count, places.d, 1.0f);
    float keySums[OWN][PARTS] = {};
    float valueSums[OWN][PARTS] = {};
#pragma unroll 1
    for (int head = firstHead; head < firstHead + places.sharing; head++) {
#pragma unroll 1
        for (int first = firstKey / WARP * WARP; first < places.t; first += WARP) {
            int query = lesser(first + lane, places.t - 1);
            int start = places.start(sequence, query);
            if (warp_lowest(start) >= firstKey + count) {
                continue; // the documents of these queries begin later
            }
            float logSum = state[places.state(sequence, head, query)];
            float delta = deltas[places.state(sequence, head, query)];
            int rows = places.t - first;
            next_tile<T, WIDTH>(tile, queries + places.query(sequence, head, first), places.queryColumns, rows,
                    places.d, 1.0f);
            float weights[OWN];
            products_of<OWN, ROWS, WIDTH>(weights, ownKeys, tile, places.d);
            next_tile<T, WIDTH>(tile, dy + places.output(sequence, head, first), (i64) places.heads * places.d,
                    rows, places.d, 1.0f);
            float slopes[OWN];
            products_of<OWN, ROWS, WIDTH>(slopes, ownValues, tile, places.d);
            float kept[OWN];
#pragma unroll
            for (int i = 0; i < OWN; i++) {
                int key = firstOwn + i;
                bool isSeen = first + lane < places.t && key <= first + lane && key >= start;
                float probability = isSeen ? exponential(weights[i] - logSum) : 0.0f;
                float factor = mask.drops ? mask.factor(places.dropped(sequence, head, first + lane) + key) : 1.0f;
                kept[i] = probability * factor;
                weights[i] = probability * (slopes[i] * factor - delta);
            }
            add_weighted<OWN, PARTS, WIDTH>(valueSums, kept, tile);
            next_tile<T, WIDTH>(tile, queries + places.query(sequence, head, first), places.queryColumns, rows,
                    places.d, places.scale);
            add_weighted<OWN, PARTS, WIDTH>(keySums, weights, tile);
        }
    }
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        if (firstOwn + i < places.t) {
            i64 at = places.key(sequence, firstHead, firstOwn + i);
            for_columns<PARTS>(lane, places.d, [&](int part, int column) {
                dKeys[at + column] = narrowed<T>(keySums[i][part]);
                dValues[at + column] = narrowed<T>(valueSums[i][part]);
            });
        }
    }
}

// Instances by the type and by the columns of a lane; how many rows a warp has follows from the shared memory there is.
#define ATTENTION(name, T, PARTS, FORWARD, BACKWARD) \
    KERNEL(ATTENTION_THREADS) attention_##name(const T *queries, const T *keys, const T *values, T *y, float *state, \
            PLACES_PARAMETERS, MASK_PARAMETERS) { \
        attention_forward<T, PARTS, FORWARD>(queries, keys, values, y, state, PLACES, MASK); \
    } \
    KERNEL(ATTENTION_THREADS) attention_queries_##name(const T *queries, const T *keys, const T *values, const T *dy, \
            const float *state, const float *deltas, T *dQueries, PLACES_PARAMETERS, MASK_PARAMETERS) { \
        attention_queries<T, PARTS, BACKWARD>(queries, keys, values, dy, state, deltas, dQueries, PLACES, MASK); \
    } \
    KERNEL(ATTENTION_THREADS) attention_keys_##name(const T *queries, const T *keys, const T *values, const T *dy, \
            const float *state, const float *deltas, T *dKeys, T *dValues, PLACES_PARAMETERS, MASK_PARAMETERS) { \
        attention_keys<T, PARTS, BACKWARD>(queries, keys, values, dy, state, deltas, dKeys, dValues, PLACES, MASK); \
    }
#define ATTENTION_DELTAS(name, T) \
    KERNEL(ATTENTION_THREADS) attention_deltas_##name(const T *dy, const T *y, float *deltas, PLACES_PARAMETERS, \
            int units) { \
        attention_deltas<T>(dy, y, deltas, PLACES, units); \
    }
ATTENTION(d32_f32, float, 1, 8, 8)
ATTENTION(d64_f32, float, 2, 8, 8)
ATTENTION(d128_f32, float, 4, 8, 4)
ATTENTION(d256_f32, float, 8, 2, 1)
// Of bfloat16 tensor cores have the others.
ATTENTION(d256_bf16, bf16, 8, 2, 1)
ATTENTION_DELTAS(f32, float)
ATTENTION_DELTAS(bf16, bf16)
