// The backward of attention of bfloat16 by tensor cores: a kernel for queries and one for keys and values, each of which
// makes the probabilities again.
#pragma once
#include "attention_cores.cuh"

// The gradient for queries, which lies as these do.
template <int WIDTH>
DEVICE void attention_cores_queries(const u16 *queries, const u16 *keys, const u16 *values, const u16 *dy,
        const float *state, const float *deltas, u16 *dQueries, const Places &places, const Mask &mask) {
    using Of = Head<WIDTH>;
    constexpr int UNITS = Of::UNITS;
    constexpr int KEYS = Of::ROWS;
    alignas(256) __shared__ Tiles tiles;
    auto [sequence, head, firstQuery, count, firstOwn] = queries_of_block<UNITS * CORE_SIDE>(places);
    bool isAligned = begin_at_16(queries, keys, values, dy) && begin_at_16(dQueries, dQueries, dQueries, dQueries);
    int lane = thread_index() % WARP;
    int end = firstQuery + count;
    int tile = places.start(sequence, firstQuery) / KEYS;
    auto load = [&](int of) {
        Of::load_keys(tiles[of & 1], keys, values, places, sequence, head, of * KEYS, end, isAligned);
    };
    Of::template load<Of::OWN>(tiles[0][0], queries + places.query(sequence, head, firstQuery), places.queryColumns, count,
            places.d, isAligned);
    Of::template load<Of::OWN>(tiles[1][0], dy + places.output(sequence, head, firstQuery), (i64) places.heads * places.d,
            count, places.d, isAligned);
    close_copies();
    await_copies<0>();
    barrier();
    typename Of::Left rows;
    typename Of::Left gradients;
    Of::take(rows, tiles[0][0]);
    Of::take(gradients, tiles[1][0]);
    barrier();
    load(tile);
    typename Of::Sums sums = {};
    float factor = places.scale * LOG2_E;
    float logSum[UNITS][2];
    float delta[UNITS][2];
#pragma unroll
    for (int i = 0; i < UNITS; i++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int query = lesser(firstOwn + i * CORE_SIDE + half * 8 + lane / 4, places.q - 1);
            logSum[i][half] = state[places.state(sequence, head, query)] * -LOG2_E;
            delta[i][half] = deltas[places.state(sequence, head, query)];
        }
    }
    int lastOwn = firstOwn < places.q ? firstOwn + UNITS * CORE_SIDE - 1 : -1;
#pragma unroll 1
    for (; tile * KEYS < end; tile++) {
        await_copies<0>();
        barrier();
        if ((tile + 1) * KEYS < end) {
            load(tile + 1);
        }
#pragma unroll 1
        for (int chunk = 0; chunk < KEYS; chunk += CORE_SIDE) {
            int firstKey = tile * KEYS + chunk;
            if (firstKey > lastOwn) {
                break;
            }
            typename Of::Results weights;
            typename Of::Results slopes;
            u32 along = Of::below(Of::along(tiles[tile & 1][0]), chunk);
            u32 down = Of::below(Of::down(tiles[tile & 1][0]), chunk);
            Of::template products_of<0>(weights, rows, along);
            Of::template products_of<1>(slopes, gradients, along);
            if (places.starts || firstKey + CORE_SIDE - 1 > firstOwn) {
                Of::hide(weights, places, sequence, firstOwn, firstKey);
            }
            if (mask.drops) {
                i64 place = places.dropped(sequence, head, firstOwn) + firstKey;
                Of::drop(slopes, mask, Of::staying(mask, place, (i64) places.wholePlaces));
            }
#pragma unroll
            for (int i = 0; i < UNITS; i++) {
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    float &weight = weights[i][j / 4][j % 4];
                    int half = j / 2 % 2;
                    weight = power(fused(weight, factor, logSum[i][half]))
                            * (slopes[i][j / 4][j % 4] - delta[i][half]);
                }
            }
            typename Of::Weights rounded;
            Of::round(rounded, weights);
            Of::template add_weighted<0>(sums, rounded, down);
        }
    }
    float factors[UNITS][2];
#pragma unroll
    for (int i = 0; i < UNITS; i++) {
        factors[i][0] = factors[i][1] = places.scale;
    }
    barrier();
    Of::put(tiles[0][0], sums, factors);
    barrier();
    Of::store(dQueries + places.query(sequence, head, firstQuery), places.queryColumns, tiles[0][0], count, places.d,
            isAligned);
}

// Behind the last tile of queries that see a key up to `lastKey`, of those from tile `first` on, which does.
DEVICE int end_of_seeing(const Places &places, int sequence, int first, int rows, int lastKey) {
    int seeing = first;
    int beyond = (places.t + rows - 1) / rows;
    while (places.starts && beyond - seeing > 1) {
        int middle = (seeing + beyond) / 2;
        if (places.start(sequence, middle * rows) <= lastKey) {
            seeing = middle;
        } else {
            beyond = middle;
        }
    }
    return beyond;
}

// The gradients for keys and values, which lie as these do: the heads that share them one after another.
template <int WIDTH>
DEVICE void attention_cores_keys(const u16 *queries, const u16 *keys, const u16 *values, const u16 *dy,
        const float *state, const float *deltas, u16 *dKeys, u16 *dValues, const Places &places, const Mask &mask) {
    using Of = Head<WIDTH>;
    constexpr int UNITS = Of::UNITS;
    constexpr int QUERIES = Of::ROWS;
    alignas(256) __shared__ Tiles tiles;
    alignas(16) __shared__ float logSums[2][QUERIES];
    alignas(16) __shared__ float means[2][QUERIES];
    int blocks = (places.t + Of::OWN - 1) / Of::OWN;
    int unit = block_index() / blocks;
    int groups = places.heads / places.sharing;
    int sequence = unit / groups;
    int firstHead = unit % groups * places.sharing;
    int firstKey = block_index() % blocks * Of::OWN;
    int count = lesser(Of::OWN, places.t - firstKey);
    int lane = thread_index() % WARP;
    int firstOwn = firstKey + thread_index() / WARP * UNITS * CORE_SIDE;
    bool isAligned = begin_at_16(queries, keys, values, dy) && begin_at_16(dKeys, dValues, dKeys, dValues);
    int firstTile = firstKey / QUERIES;
    int endTile = end_of_seeing(places, sequence, firstTile, QUERIES, firstKey + count - 1);
    auto load = [&](int stage, int head, int tile) {
        int first = tile * QUERIES;
        Of::template load<QUERIES>(tiles[stage][0], queries + places.query(sequence, head, first), places.queryColumns,
                places.t - first, places.d, isAligned);
        Of::template load<QUERIES>(tiles[stage][1], dy + places.output(sequence, head, first),
                (i64) places.heads * places.d, places.t - first, places.d, isAligned);
        int row = thread_index();
        if (row < QUERIES) {
            bool lies = first + row < places.t;
            i64 at = places.state(sequence, head, lies ? first + row : first);
            begin_word(shared_address(&logSums[stage][row]), state + at, lies);
            begin_word(shared_address(&means[stage][row]), deltas + at, lies);
        }
        close_copies();
    };
    i64 from = places.key(sequence, firstHead, firstKey);
    Of::template load<Of::OWN>(tiles[0][0], keys + from, places.keyColumns, count, places.d, isAligned);
    Of::template load<Of::OWN>(tiles[1][0], values + from, places.keyColumns, count, places.d, isAligned);
    close_copies();
    await_copies<0>();
    barrier();
    typename Of::Left ownKeys;
    typename Of::Left ownValues;
    Of::take(ownKeys, tiles[0][0]);
    Of::take(ownValues, tiles[1][0]);
    barrier();
    load(0, firstHead, firstTile);
    typename Of::Sums keySums = {};
    typename Of::Sums valueSums = {};
    float factor = places.scale * LOG2_E;
#pragma unroll 1
    for (int head = firstHead, tile = firstTile, stage = 0; head < firstHead + places.sharing; stage ^= 1) {
        int nextHead = tile + 1 < endTile ? head : head + 1;
        int nextTile = tile + 1 < endTile ? tile + 1 : firstTile;
        await_copies<0>();
        barrier();
        if (nextHead < firstHead + places.sharing) {
            load(stage ^ 1, nextHead, nextTile);
        }
#pragma unroll 1
        for (int chunk = 0; chunk < QUERIES; chunk += CORE_SIDE) {
            int first = tile * QUERIES + chunk;
            if (first + CORE_SIDE <= firstOwn || first >= places.t) {
                continue;
            }
            u32 stay = mask.drops
                    ? Of::staying_transposed(mask, places.dropped(sequence, head, first) + firstOwn,
                            (i64) places.wholePlaces)
                    : 0;
            typename Of::Results weights;
            typename Of::Results slopes;
            u32 along = Of::below(Of::along(tiles[stage][0]), chunk);
            u32 down = Of::below(Of::down(tiles[stage][0]), chunk);
            Of::template products_of<0>(weights, ownKeys, along);
            Of::template products_of<1>(slopes, ownValues, along);
            if (places.starts || first < firstOwn + UNITS * CORE_SIDE - 1) {
                Of::hide_transposed(weights, places, sequence, firstOwn, first);
            }
            if (mask.drops) {
                Of::drop(slopes, mask, stay);
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                int column = chunk + j / 2 * 8 + lane % 4 * 2 + j % 2;
                float logSum = logSums[stage][column] * -LOG2_E;
                float mean = means[stage][column];
#pragma unroll
                for (int i = 0; i < UNITS * 2; i++) {
                    float &weight = weights[i / 2][j / 2][i % 2 * 2 + j % 2];
                    float &slope = slopes[i / 2][j / 2][i % 2 * 2 + j % 2];
                    weight = power(fused(weight, factor, logSum));
                    slope = weight * (slope - mean);
                }
            }
            typename Of::Weights roundedSlopes;
            Of::round(roundedSlopes, slopes);
            if (mask.drops) {
                Of::drop(weights, mask, stay);
            }
            typename Of::Weights rounded;
            Of::round(rounded, weights);
            Of::template add_weighted<1>(valueSums, rounded, down);
            Of::template add_weighted<0>(keySums, roundedSlopes, down);
        }
        head = nextHead;
        tile = nextTile;
    }
    float factors[UNITS][2];
    float ones[UNITS][2];
#pragma unroll
    for (int i = 0; i < UNITS; i++) {
        factors[i][0] = factors[i][1] = places.scale;
        ones[i][0] = ones[i][1] = 1;
    }
    barrier();
    Of::put(tiles[0][0], keySums, factors);
    Of::put(tiles[1][0], valueSums, ones);
    barrier();
    Of::store(dKeys + from, places.keyColumns, tiles[0][0], count, places.d, isAligned);
    Of::store(dValues + from, places.keyColumns, tiles[1][0], count, places.d, isAligned);
}

// Instances by the numbers of a head.
#define ATTENTION_CORES(name, WIDTH) \
    KERNEL(ATTENTION_THREADS) attention_cores_##name(const u16 *queries, const u16 *keys, const u16 *values, u16 *y, \
            float *state, PLACES_PARAMETERS, MASK_PARAMETERS) { \
        attention_cores_forward<WIDTH>(queries, keys, values, y, state, PLACES, MASK); \
    } \
    KERNEL(ATTENTION_THREADS) attention_cores_queries_##name(const u16 *queries, const u16 *keys, const u16 *values, \
            const u16 *dy, const float *state, const float *deltas, u16 *dQueries, PLACES_PARAMETERS, MASK_PARAMETERS) { \
        attention_cores_queries<WIDTH>(queries, keys, values, dy, state, deltas, dQueries, PLACES, MASK); \
    } \
    KERNEL(ATTENTION_THREADS) attention_cores_keys_##name(const u16 *queries, const u16 *keys, const u16 *values, \
            const u16 *dy, const float *state, const float *deltas, u16 *dKeys, u16 *dValues, PLACES_PARAMETERS, \
            MASK_PARAMETERS) { \
        attention_cores_keys<WIDTH>(queries, keys, values, dy, state, deltas, dKeys, dValues, PLACES, MASK); \
    }
ATTENTION_CORES(d64, 64)
ATTENTION_CORES(d128, 128)
