// Digests of the bits of numbers, as dev.troupe.engine.digest.BitHash has them.
#pragma once
#include "elementwise.cuh"

constexpr int DIGEST_THREADS = 128;
constexpr int DIGEST_PLACES = 16; // words of a block, a lane each
constexpr int DIGEST_CHUNK = 1 << 14; // bytes
constexpr int BLOCK_BYTES = DIGEST_PLACES * 8;
constexpr int DIGEST_AT_ONCE = 8; // blocks
constexpr u64 GOLDEN = 0x9E3779B97F4A7C15ull;

// The finish of SplitMix64.
DEVICE u64 finish(u64 number) {
    u64 mixed = (number ^ number >> 30) * 0xBF58476D1CE4E5B9ull;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBull;
    return mixed ^ mixed >> 31;
}
DEVICE u64 spread(u64 state, u64 factor) {
    return (state ^ state >> 32) * factor;
}
DEVICE u64 across(u64 value, int distance) {
    u32 low = (u32) across((int) (u32) value, distance);
    u32 high = (u32) across((int) (u32) (value >> 32), distance);
    return (u64) high << 32 | low;
}
// The word at a byte, of numbers of two bytes or more that begin at any of their own; what lies behind the end is 0.
DEVICE u64 word_at(const u16 *numbers, i64 at, i64 end) {
    u64 word = 0;
#pragma unroll
    for (int part = 0; part < 4; part++) {
        if (at + 2 * part < end) {
            word |= (u64) numbers[at / 2 + part] << 16 * part;
        }
    }
    return word;
}

// For each chunk two words: its hash, mixed with its place, and how many of its lanes have a number that is not finite.
KERNEL(DIGEST_THREADS) digest_chunks(const u16 *numbers, i64 byteCount, u64 exponents, u64 lowest, u64 signs, u64 *hashes) {
    u32 thread = (u32) thread_index();
    u32 lane = thread % DIGEST_PLACES;
    i64 chunk = (i64) block_index() * (DIGEST_THREADS / DIGEST_PLACES) + thread / DIGEST_PLACES;
    i64 first = chunk * DIGEST_CHUNK;
    i64 end = first + DIGEST_CHUNK < byteCount ? first + DIGEST_CHUNK : byteCount;
    u64 state = GOLDEN * (lane + 1);
    u64 sum = 0;
    u64 carries = 0;
    auto take = [&](u64 word) {
        state = (state << 23 | state >> 41) + word + GOLDEN;
        sum += word;
        carries |= (word & exponents) + lowest;
    };
    i64 at = first + lane * 8;
#pragma unroll 1
    for (int half = 0; half < 2; half++) {
        i64 last = first + DIGEST_CHUNK / 2 * (half + 1);
        last = last < end ? last : end;
        if (half && at < end) {
            state = spread(state, GOLDEN);
            sum = spread(sum, GOLDEN);
        }
        if ((u64) numbers % 8 == 0) {
#pragma unroll 1
            for (; at + (DIGEST_AT_ONCE - 1) * BLOCK_BYTES + 8 <= last; at += DIGEST_AT_ONCE * BLOCK_BYTES) {
                const u64 *words = (const u64 *) (numbers + at / 2);
#pragma unroll
                for (int block = 0; block < DIGEST_AT_ONCE; block++) {
                    take(words[block * DIGEST_PLACES]);
                }
            }
        }
#pragma unroll 1
        for (; at < last; at += BLOCK_BYTES) {
            take(word_at(numbers, at, end));
        }
    }
    u64 hash = spread(state + finish(sum), finish(GOLDEN * (lane + 1)) | 1);
#pragma unroll
    for (int distance = DIGEST_PLACES / 2; distance > 0; distance /= 2) {
        hash += across(hash, distance);
    }
    u32 found = votes((carries & signs) != 0) >> thread % WARP / DIGEST_PLACES * DIGEST_PLACES & 0xFFFF;
    if (lane == 0 && first < byteCount) {
        hashes[2 * chunk] = finish(hash + GOLDEN * (u64) (chunk + 1));
        hashes[2 * chunk + 1] = found ? 1 : 0;
    }
}
// Whole numbers, so their order is of no account.
KERNEL(FLAT_THREADS) digest_total(const u64 *hashes, i64 chunks, i64 byteCount, u32 *digest) {
    __shared__ u64 totals[FLAT_THREADS];
    __shared__ u64 counts[FLAT_THREADS];
    int thread = thread_index();
    u64 total = 0;
    u64 notFinite = 0;
    for (i64 chunk = thread; chunk < chunks; chunk += FLAT_THREADS) {
        total += hashes[2 * chunk];
        notFinite += hashes[2 * chunk + 1];
    }
    totals[thread] = total;
    counts[thread] = notFinite;
#pragma unroll 1
    for (int half = FLAT_THREADS / 2; half > 0; half /= 2) {
        barrier();
        if (thread < half) {
            totals[thread] += totals[thread + half];
            counts[thread] += counts[thread + half];
        }
    }
    if (thread == 0) {
        u64 bits = (finish(finish(totals[0] + GOLDEN) + (u64) byteCount) & ~1ull) | (counts[0] ? 1 : 0);
        bits = bits ? bits : 2; // 0 stands for none
        digest[0] = (u32) bits;
        digest[1] = (u32) (bits >> 32);
    }
}
