// Tiles of heads in shared memory, and products of them by tensor cores. A warp has 16 UNITS rows of its own, as the left
// operand in registers or as sums; the rows of a tile, which all warps read, are the right operand.
//
// Of a matrix of sums [16 x 8] a lane has four numbers: rows lane / 4 and 8 below it, columns lane % 4 * 2 and the next.
#pragma once
#include "attention.cuh"
#include "tensor_cores.cuh"

constexpr int OWN_NUMBERS = 8192;  // of a block's own rows
constexpr int TILE_NUMBERS = 4096; // of a tile
constexpr int CORE_SIDE = 16;      // rows and columns of a left operand of tensor cores

// The tiles that a block works on and those that it loads meanwhile. Own rows are in here before the first tiles and after
// the last.
typedef u16 Tiles[2][2][TILE_NUMBERS];

// Of 16 lines of 16 neighbours, the lines `whole` places apart, a lane has half a line: a bit for each, whether it stays.
DEVICE u32 eight_staying(const Mask &mask, i64 first, i64 whole) {
    int lane = thread_index() % WARP;
    i64 place = first + lane / 2 * whole + lane % 2 * 8;
    int beyond = (int) (place & 3);
    u32 bits = 0;
#pragma unroll 1
    for (int i = 0; i < (beyond == 0 ? 2 : 3); i++) {
        Word4 words = mask.words(((u64) place >> 2) + i);
#pragma unroll
        for (u32 word = 0; word < 4; word++) {
            bits |= mask.stays(words, word) << (i * 4 + word);
        }
    }
    return bits >> beyond & 255;
}

// Heads of up to WIDTH numbers. Row r of a tile has its piece p of 16 bytes at place p ^ r % 8, so that the same piece of
// eight rows lies in all banks.
template <int WIDTH> struct Head {
    static constexpr int PIECES = WIDTH / 8;
    static constexpr int DEPTHS = WIDTH / CORE_SIDE;
    static constexpr int ROWS = TILE_NUMBERS / WIDTH;
    static constexpr int OWN = OWN_NUMBERS / WIDTH;
    static constexpr int UNITS = OWN / ATTENTION_WARPS / CORE_SIDE;

    typedef u32 Left[UNITS][DEPTHS][4];       // own rows
    typedef float Results[UNITS][2][4];       // own rows times 16 of a tile
    typedef u32 Weights[UNITS][4];            // the same, rounded
    typedef float Sums[UNITS][2 * DEPTHS][4]; // weights times rows of tiles

    DEVICE static int place(int row, int piece) {
        return row * WIDTH + (piece ^ row % 8) * 8;
    }

    // Begins to load rows of D numbers, zeros beyond `count` rows and beyond D: as copies where rows begin at 16 bytes, else
    // two numbers at a time.
    template <int COUNT> DEVICE static void load(u16 *tile, const u16 *rows, i64 columns, int count, int d, bool isAligned) {
        if (isAligned) {
            constexpr int STEP = ATTENTION_THREADS / PIECES; // a multiple of 8, so a lane's places are STEP rows apart
            int row = thread_index() / PIECES;
            int piece = thread_index() % PIECES;
            u32 to = shared_address(tile + place(row, piece));
            const u16 *from = rows + row * columns + piece * 8;
            bool lies = piece * 8 < d;
#pragma unroll
            for (int i = 0; i < COUNT; i += STEP) {
                begin_copy(to + i * WIDTH * 2, from, lies && row + i < count);
                from += STEP * columns;
            }
        } else {
#pragma unroll 1
            for (int i = thread_index(); i < COUNT * WIDTH / 2; i += ATTENTION_THREADS) {
                int row = i / (WIDTH / 2);
                int column = i % (WIDTH / 2) * 2;
                const u16 *from = rows + row * columns + column;
                u32 pair = row < count && column < d ? from[0] | from[1] << 16 : 0;
                *(u32 *) (tile + place(row, column / 8) + column % 8) = pair;
            }
        }
    }

    // Begins to load a tile of keys and one of values, zeros from place `end` on.
    DEVICE static void load_keys(u16 (&pair)[2][TILE_NUMBERS], const u16 *keys, const u16 *values, const Places &places,
            int sequence, int head, int first, int end, bool isAligned) {
        i64 from = places.key(sequence, head, first);
        load<ROWS>(pair[0], keys + from, places.keyColumns, end - first, places.d, isAligned);
        load<ROWS>(pair[1], values + from, places.keyColumns, end - first, places.d, isAligned);
        close_copies();
    }

    // Where this lane finds the first piece of its row of a left operand, or of a right one that lies row by row [k x n].
    DEVICE static u32 down(const u16 *tile) {
        int lane = thread_index() % WARP;
        return shared_address(tile + place(lane % 16, lane / 16));
    }
    // The same of a right operand that lies column by column [n x k].
    DEVICE static u32 along(const u16 *tile) {
        int lane = thread_index() % WARP;
        return shared_address(tile + place(lane / 16 * 8 + lane % 8, lane / 8 % 2));
    }
    // Where it finds the piece of its row that is 16 `depth` numbers on. Tiles begin at a multiple of a row's bytes, so a
    // piece's number is bits of its address, and those of a piece 2 `depth` on are flipped in the same way.
    DEVICE static u32 at(u32 address, int depth) {
        return address ^ depth * 2 * CORE_SIDE;
    }
    // The same of rows further down by a multiple of 8.
    DEVICE static u32 below(u32 address, int rows) {
        return address + rows * WIDTH * 2;
    }

    // Own rows as a left operand.
    DEVICE static void take(Left &rows, const u16 *tile) {
        int first = thread_index() / WARP * UNITS * CORE_SIDE;
#pragma unroll
        for (int i = 0; i < UNITS; i++) {
#pragma unroll
            for (int depth = 0; depth < DEPTHS; depth++) {
                load_matrices<false>(rows[i][depth], below(at(down(tile), depth), first + i * CORE_SIDE));
            }
        }
    }

    // results = own rows times 16 rows of tile PART of a pair, from along() of the pair
    template <int PART>
    DEVICE static void products_of(Results &results, const Left &rows, u32 tile) {
#pragma unroll
        for (int i = 0; i < UNITS; i++) {
#pragma unroll
            for (int j = 0; j < 8; j++) {
                results[i][j / 4][j % 4] = 0;
            }
        }
#pragma unroll
        for (int depth = 0; depth < DEPTHS; depth++) {
            u32 others[4];
            load_matrices<false>(others, at(tile, depth) + PART * TILE_NUMBERS * 2);
#pragma unroll
            for (int i = 0; i < UNITS; i++) {
                multiply(results[i][0], rows[i][depth], others[0], others[1]);
                multiply(results[i][1], rows[i][depth], others[2], others[3]);
            }
        }
    }

    // What was made of results, rounded, as a left operand.
    DEVICE static void round(Weights &rounded, const Results &results) {
#pragma unroll
        for (int i = 0; i < UNITS; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                rounded[i][j] = packed(results[i][j / 2][j % 2 * 2], results[i][j / 2][j % 2 * 2 + 1]);
            }
        }
    }

    // sums += weights times 16 rows of tile PART of a pair, from down() of the pair
    template <int PART>
    DEVICE static void add_weighted(Sums &sums, const Weights &weights, u32 tile) {
#pragma unroll
        for (int depth = 0; depth < DEPTHS; depth++) {
            u32 others[4];
            load_matrices<true>(others, at(tile, depth) + PART * TILE_NUMBERS * 2);
#pragma unroll
            for (int i = 0; i < UNITS; i++) {
                multiply(sums[i][2 * depth], weights[i], others[0], others[1]);
                multiply(sums[i][2 * depth + 1], weights[i], others[2], others[3]);
            }
        }
    }

    // Hides what a query may not see of 16 keys: rows are places of a sequence, columns are keys.
    DEVICE static void hide(Results &results, const Places &places, int sequence, int firstPlace, int firstKey) {
        int lane = thread_index() % WARP;
#pragma unroll
        for (int i = 0; i < UNITS * 2; i++) {
            int place = lesser(firstPlace + i * 8 + lane / 4, places.t - 1);
            int start = places.start(sequence, place);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                int key = firstKey + j / 2 * 8 + lane % 4 * 2 + j % 2;
                float &result = results[i / 2][j / 2][i % 2 * 2 + j % 2];
                result = key <= place && key >= start ? result : -INFINITE;
            }
        }
    }
    // The same where rows are keys, and columns are places.
    DEVICE static void hide_transposed(Results &results, const Places &places, int sequence, int firstKey, int firstPlace) {
        int lane = thread_index() % WARP;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int place = lesser(firstPlace + j / 2 * 8 + lane % 4 * 2 + j % 2, places.t - 1);
            int start = places.start(sequence, place);
#pragma unroll
            for (int i = 0; i < UNITS * 2; i++) {
                int key = firstKey + i * 8 + lane / 4;
                float &result = results[i / 2][j / 2][i % 2 * 2 + j % 2];
                result = key <= place && key >= start ? result : -INFINITE;
            }
        }
    }

    // A bit for each of a lane's probabilities: whether it stays. `first` is the place in the dropout of the warp's first
    // row and column, `whole` that of the next row behind a row's.
    DEVICE static u32 staying(const Mask &mask, i64 first, i64 whole) {
        int lane = thread_index() % WARP;
        u32 bits = 0;
#pragma unroll 1
        for (int unit = 0; unit < UNITS; unit++) {
            u32 own = eight_staying(mask, first + unit * CORE_SIDE * whole, whole);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int from = (lane / 4 + i % 2 * 8) * 2 + i / 2;
                bits |= (of_lane(own, from) >> lane % 4 * 2 & 3) << (unit * 8 + i * 2);
            }
        }
        return bits;
    }
    // The same where rows are keys: `whole` is between columns.
    DEVICE static u32 staying_transposed(const Mask &mask, i64 first, i64 whole) {
        int lane = thread_index() % WARP;
        u32 bits = 0;
#pragma unroll 1
        for (int unit = 0; unit < UNITS; unit++) {
            u32 own = eight_staying(mask, first + unit * CORE_SIDE, whole);
#pragma unroll
            for (int i = 0; i < 8; i++) {
                int from = (i / 4 * 8 + lane % 4 * 2 + i % 2) * 2 + i / 2 % 2;
                bits |= (of_lane(own, from) >> lane / 4 & 1) << (unit * 8 + i);
            }
        }
        return bits;
    }
    // Takes away the numbers whose bit is 0, and raises the others.
    DEVICE static void drop(Results &results, const Mask &mask, u32 stay) {
#pragma unroll
        for (int i = 0; i < UNITS * 8; i++) {
            results[i / 8][i / 4 % 2][i % 4] *= (stay >> i & 1) != 0 ? mask.raise : 0.0f;
        }
    }

    // Puts a warp's sums, each row by its factor, to its own rows.
    DEVICE static void put(u16 *tile, const Sums &sums, const float (&factors)[UNITS][2]) {
        int lane = thread_index() % WARP;
        int first = thread_index() / WARP * UNITS * CORE_SIDE + lane / 4;
#pragma unroll
        for (int i = 0; i < UNITS; i++) {
#pragma unroll
            for (int piece = 0; piece < PIECES; piece++) {
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    *(u32 *) (tile + place(first + i * CORE_SIDE + half * 8, piece) + lane % 4 * 2) = packed(
                            sums[i][piece][half * 2] * factors[i][half], sums[i][piece][half * 2 + 1] * factors[i][half]);
                }
            }
        }
    }

    // Stores the first `count` own rows.
    DEVICE static void store(u16 *rows, i64 columns, const u16 *tile, int count, int d, bool isAligned) {
        if (isAligned) {
#pragma unroll 1
            for (int i = thread_index(); i < OWN * PIECES; i += ATTENTION_THREADS) {
                int row = i / PIECES;
                int piece = i % PIECES;
                if (row < count && piece * 8 < d) {
                    Word4 words = *(const Word4 *) (tile + place(row, piece));
                    *(Word4 *) (rows + row * columns + piece * 8) = Word4{words.x, words.y, words.z, words.w};
                }
            }
        } else {
#pragma unroll 1
            for (int i = thread_index(); i < OWN * WIDTH; i += ATTENTION_THREADS) {
                int row = i / WIDTH;
                int column = i % WIDTH;
                if (row < count && column < d) {
                    rows[row * columns + column] = tile[place(row, column / 8) + column % 8];
                }
            }
        }
    }
};

DEVICE bool begin_at_16(const void *a, const void *b, const void *c, const void *d) {
    return (((u64) a | (u64) b | (u64) c | (u64) d) & 15) == 0;
}

// 2^x, without numbers below the smallest normal one.
DEVICE float power(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
constexpr float LOG2_E = 1.44269502f;
