// Attention of bfloat16 by tensor cores, in the form of FlashAttention-2 (Dao 2023): a block has rows of queries, or of
// keys in the backward for these, in registers, and goes over tiles of the other side, of which the next is loaded
// meanwhile. What is multiplied twice is rounded between; all sums are float32, and none is divided among blocks.
#pragma once
#include "attention_tiles.cuh"

// y = dropout(softmax(scale q k^T)) v with a running softmax; `state`, where given, has each row's log of the sum of
// exponentials, [B x H x Q].
template <int WIDTH>
DEVICE void attention_cores_forward(const u16 *queries, const u16 *keys, const u16 *values, u16 *y, float *state,
        const Places &places, const Mask &mask) {
    using Of = Head<WIDTH>;
    constexpr int UNITS = Of::UNITS;
    constexpr int KEYS = Of::ROWS;
    constexpr int CHUNKS = KEYS / CORE_SIDE;
    alignas(256) __shared__ Tiles tiles;
    auto [sequence, head, firstQuery, count, firstOwn] = queries_of_block<UNITS * CORE_SIDE>(places);
    bool isAligned = begin_at_16(queries, keys, values, y);
    int lane = thread_index() % WARP;
    int offset = places.t - places.q;
    int end = offset + firstQuery + count;
    int tile = places.start(sequence, offset + firstQuery) / KEYS;
    auto load = [&](int of) {
        Of::load_keys(tiles[of & 1], keys, values, places, sequence, head, of * KEYS, end, isAligned);
    };
    u16 *own = tiles[~tile & 1][0];
    Of::template load<Of::OWN>(own, queries + places.query(sequence, head, firstQuery), places.queryColumns, count,
            places.d, isAligned);
    close_copies();
    load(tile);
    await_copies<1>();
    barrier();
    typename Of::Left rows;
    Of::take(rows, own);
    typename Of::Sums sums = {};
    float factor = places.scale * LOG2_E;
    float highest[UNITS][2];
    float total[UNITS][2] = {};
#pragma unroll
    for (int i = 0; i < UNITS; i++) {
        highest[i][0] = highest[i][1] = -INFINITE;
    }
    int firstPlace = offset + firstOwn;
    int lastPlace = firstOwn < places.q ? firstPlace + UNITS * CORE_SIDE - 1 : -1;
#pragma unroll 1
    for (; tile * KEYS < end; tile++) {
        await_copies<0>();
        barrier();
        if ((tile + 1) * KEYS < end) {
            load(tile + 1);
        }
        int firstKey = tile * KEYS;
        if (firstKey > lastPlace) {
            continue;
        }
        u32 along = Of::along(tiles[tile & 1][0]);
        u32 down = Of::down(tiles[tile & 1][0]);
        typename Of::Results weights[CHUNKS];
#pragma unroll
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            Of::template products_of<0>(weights[chunk], rows, Of::below(along, chunk * CORE_SIDE));
        }
        if (places.starts || firstKey + KEYS - 1 > firstPlace) {
#pragma unroll
            for (int chunk = 0; chunk < CHUNKS; chunk++) {
                Of::hide(weights[chunk], places, sequence, firstPlace, firstKey + chunk * CORE_SIDE);
            }
        }
#pragma unroll
        for (int i = 0; i < UNITS; i++) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                float found = highest[i][half];
#pragma unroll
                for (int j = 0; j < KEYS / 4; j++) {
                    found = __builtin_fmaxf(found, weights[j / 4][i][j / 2 % 2][half * 2 + j % 2]);
                }
                found = __builtin_fmaxf(found, across(found, 1));
                found = __builtin_fmaxf(found, across(found, 2));
                float base = found == -INFINITE ? 0.0f : found * factor;
                float shrink = power(fused(highest[i][half], factor, -base));
                highest[i][half] = found;
                float sum = 0;
#pragma unroll
                for (int j = 0; j < KEYS / 4; j++) {
                    float &weight = weights[j / 4][i][j / 2 % 2][half * 2 + j % 2];
                    weight = power(fused(weight, factor, -base));
                    sum += weight;
                }
                total[i][half] = fused(total[i][half], shrink, sum);
#pragma unroll
                for (int j = 0; j < WIDTH / 4; j++) {
                    sums[i][j / 2][half * 2 + j % 2] *= shrink;
                }
            }
        }
        if (mask.drops) {
            u64 stay = 0;
#pragma unroll 1
            for (int chunk = CHUNKS - 1; chunk >= 0; chunk--) {
                i64 place = places.dropped(sequence, head, firstPlace) + firstKey + chunk * CORE_SIDE;
                stay = stay << UNITS * 8 | Of::staying(mask, place, (i64) places.wholePlaces);
            }
#pragma unroll
            for (int chunk = 0; chunk < CHUNKS; chunk++) {
                Of::drop(weights[chunk], mask, (u32) (stay >> chunk * UNITS * 8));
            }
        }
#pragma unroll
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            typename Of::Weights rounded;
            Of::round(rounded, weights[chunk]);
            Of::template add_weighted<1>(sums, rounded, Of::below(down, chunk * CORE_SIDE));
        }
    }
    float factors[UNITS][2];
#pragma unroll
    for (int i = 0; i < UNITS; i++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float sum = total[i][half];
            sum += across(sum, 1);
            sum += across(sum, 2);
            factors[i][half] = 1.0f / sum;
            int query = firstOwn + i * CORE_SIDE + half * 8 + lane / 4;
            if (state && lane % 4 == 0 && query < places.q) {
                state[places.state(sequence, head, query)] = fused(highest[i][half], places.scale, logarithm(sum));
            }
        }
    }
    barrier();
    Of::put(tiles[0][0], sums, factors);
    barrier();
    Of::store(y + places.output(sequence, head, firstQuery), (i64) places.heads * places.d, tiles[0][0], count, places.d,
            isAligned);
}
