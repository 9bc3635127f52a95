// Matrix products C [M x N] (+)= op(A) [M x K] op(B) [K x N] (+ bias [N]), row-major. An operand that is transposed is
// stored as [K x M] or [N x K]. Each element is summed by one thread or one warp, k in ascending order.
#pragma once
#include "tensor_cores.cuh"

constexpr int PRODUCT_THREADS = 256;

// Where an element goes.
constexpr u32 TO_BF16 = 0;
constexpr u32 TO_FLOATS = 1;
constexpr u32 ADDED = 2;

DEVICE void store_product(void *c, i64 i, int column, const float *bias, u32 target, float value) {
    if (bias) {
        value += bias[column];
    }
    if (target == TO_BF16) {
        ((bf16 *) c)[i] = narrowed<bf16>(value);
    } else {
        ((float *) c)[i] = target == ADDED ? ((float *) c)[i] + value : value;
    }
}

// In float32 by fused multiplications: tiles of 64 x 64 x 16, 4 x 4 elements a thread.
template <bool LEFT, bool RIGHT>
DEVICE void product_f32(const float *a, const float *b, const float *bias, void *c, u32 target, int m, int n, int k) {
    constexpr int TILE = 64;
    constexpr int DEPTH = 16;
    alignas(16) __shared__ float left[DEPTH][TILE + 4];
    alignas(16) __shared__ float right[DEPTH][TILE + 4];
    int tilesOfRow = (n + TILE - 1) / TILE;
    int firstRow = block_index() / tilesOfRow * TILE;
    int firstColumn = block_index() % tilesOfRow * TILE;
    int thread = thread_index();
    int x = thread % 16 * 4;
    int y = thread / 16 * 4;
    float sums[4][4] = {};
#pragma unroll 1
    for (int first = 0; first < k; first += DEPTH) {
        barrier();
#pragma unroll
        for (int i = 0; i < TILE * DEPTH / PRODUCT_THREADS; i++) {
            int part = thread + i * PRODUCT_THREADS;
            // Neighbouring threads read neighbours in memory.
            int row = LEFT ? part % TILE : part / DEPTH;
            int depth = LEFT ? part / TILE : part % DEPTH;
            bool lies = firstRow + row < m && first + depth < k;
            i64 at = LEFT ? (i64) (first + depth) * m + firstRow + row : (i64) (firstRow + row) * k + first + depth;
            left[depth][row] = lies ? a[at] : 0.0f;
            int column = RIGHT ? part / DEPTH : part % TILE;
            depth = RIGHT ? part % DEPTH : part / TILE;
            lies = firstColumn + column < n && first + depth < k;
            at = RIGHT ? (i64) (firstColumn + column) * k + first + depth : (i64) (first + depth) * n + firstColumn + column;
            right[depth][column] = lies ? b[at] : 0.0f;
        }
        barrier();
#pragma unroll 4
        for (int depth = 0; depth < DEPTH; depth++) {
            Float4 u = *(const Float4 *) &left[depth][y];
            Float4 v = *(const Float4 *) &right[depth][x];
            float rows[4] = {u.x, u.y, u.z, u.w};
            float columns[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    sums[i][j] = fused(rows[i], columns[j], sums[i][j]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int row = firstRow + y + i;
            int column = firstColumn + x + j;
            if (row < m && column < n) {
                store_product(c, (i64) row * n + column, column, bias, target, sums[i][j]);
            }
        }
    }
}

constexpr int TILE_SIDE = 128;
constexpr int TILE_DEPTH = 32;
constexpr int TILE_BYTES = TILE_SIDE * (TILE_DEPTH + 8) * 2; // of the larger of the two ways in which a tile lies

// A tile of one operand in shared memory, stored as the operand is: rows along K where OUTER is false, else rows of
// neighbours of the other side. Rows are padded by 16 bytes, so that eight of them meet eight banks.
template <bool OUTER> struct Tile {
    static constexpr int COLUMNS = OUTER ? TILE_SIDE : TILE_DEPTH;
    static constexpr int ROWS = OUTER ? TILE_DEPTH : TILE_SIDE;
    static constexpr int STRIDE = COLUMNS + 8;
    static constexpr int PIECES = ROWS * COLUMNS / 8 / PRODUCT_THREADS;

    // Begins to load the tile at (side, depth) of an operand with so many neighbours of the other side and depth k.
    template <bool ALIGNED> DEVICE static void load(u16 *tile, const u16 *operand, int side, int depth, int sides, int k) {
        int rows = OUTER ? k : sides;
        int columns = OUTER ? sides : k;
        int firstRow = OUTER ? depth : side;
        int firstColumn = OUTER ? side : depth;
#pragma unroll
        for (int i = 0; i < PIECES; i++) {
            int piece = thread_index() + i * PRODUCT_THREADS;
            int row = piece / (COLUMNS / 8);
            int column = piece % (COLUMNS / 8) * 8;
            u16 *to = tile + row * STRIDE + column;
            row += firstRow;
            column += firstColumn;
            const u16 *from = operand + (i64) row * columns + column;
            if (ALIGNED) {
                bool lies = row < rows && column < columns;
                begin_copy(shared_address(to), lies ? from : operand, lies);
            } else {
                u32 words[8];
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    words[j] = row < rows && column + j < columns ? from[j] : 0;
                }
                *(Word4 *) to = Word4{words[0] | words[1] << 16, words[2] | words[3] << 16, words[4] | words[5] << 16,
                        words[6] | words[7] << 16};
            }
        }
    }
};

// In bfloat16 by tensor cores: tiles of 128 x 128 x 32, two in shared memory, 64 x 32 elements a warp. ALIGNED: both
// operands begin at 16 bytes, and so does each of their rows.
template <bool LEFT, bool RIGHT, bool ALIGNED>
DEVICE void product_bf16(const u16 *a, const u16 *b, const float *bias, void *c, u32 target, int m, int n, int k) {
    alignas(16) __shared__ u16 left[2][TILE_BYTES / 2];
    alignas(16) __shared__ u16 right[2][TILE_BYTES / 2];
    int tilesOfRow = (n + TILE_SIDE - 1) / TILE_SIDE;
    int firstRow = block_index() / tilesOfRow * TILE_SIDE;
    int firstColumn = block_index() % tilesOfRow * TILE_SIDE;
    int lane = thread_index() % WARP;
    int warp = thread_index() / WARP;
    int warpRow = warp / 4 * 64;
    int warpColumn = warp % 4 * 32;
    int steps = (k + TILE_DEPTH - 1) / TILE_DEPTH;
    float sums[4][4][4] = {};
    auto load = [&](int step) {
        Tile<LEFT>::template load<ALIGNED>(left[step & 1], a, firstRow, step * TILE_DEPTH, m, k);
        Tile<!RIGHT>::template load<ALIGNED>(right[step & 1], b, firstColumn, step * TILE_DEPTH, n, k);
        close_copies();
    };
    load(0);
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        if (step + 1 < steps) {
            load(step + 1);
            await_copies<1>();
        } else {
            await_copies<0>();
        }
        barrier();
        u32 leftTile = shared_address(left[step & 1]);
        u32 rightTile = shared_address(right[step & 1]);
#pragma unroll
        for (int depth = 0; depth < TILE_DEPTH; depth += 16) {
            u32 rows[4][4];
            u32 columns[2][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                // Matrices in the order (row, depth): (0, 0), (8, 0), (0, 8), (8, 8).
                int row = warpRow + i * 16 + (LEFT ? lane / 8 % 2 * 8 : lane % 16);
                int at = depth + (LEFT ? lane / 16 * 8 + lane % 8 : lane / 16 * 8);
                load_matrices<LEFT>(rows[i], leftTile + 2 * (LEFT
                        ? at * Tile<LEFT>::STRIDE + row
                        : row * Tile<LEFT>::STRIDE + at));
            }
#pragma unroll
            for (int j = 0; j < 2; j++) {
                // Matrices in the order (column, depth): (0, 0), (0, 8), (8, 0), (8, 8).
                int column = warpColumn + j * 16 + (RIGHT ? lane / 16 * 8 + lane % 8 : lane / 16 * 8);
                int at = depth + (RIGHT ? lane / 8 % 2 * 8 : lane % 16);
                load_matrices<!RIGHT>(columns[j], rightTile + 2 * (RIGHT
                        ? column * Tile<!RIGHT>::STRIDE + at
                        : at * Tile<!RIGHT>::STRIDE + column));
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    multiply(sums[i][j], rows[i], columns[j / 2][j % 2 * 2], columns[j / 2][j % 2 * 2 + 1]);
                }
            }
        }
        barrier();
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
#pragma unroll
            for (int part = 0; part < 4; part++) {
                int row = firstRow + warpRow + i * 16 + part / 2 * 8 + lane / 4;
                int column = firstColumn + warpColumn + j * 8 + lane % 4 * 2 + part % 2;
                if (row < m && column < n) {
                    store_product(c, (i64) row * n + column, column, bias, target, sums[i][j][part]);
                }
            }
        }
    }
}

// n: as it is; t: transposed.
#define PRODUCT(name, LEFT, RIGHT) \
    KERNEL(PRODUCT_THREADS) product_f32_##name(const float *a, const float *b, const float *bias, void *c, u32 target, \
            int m, int n, int k) { \
        product_f32<LEFT, RIGHT>(a, b, bias, c, target, m, n, k); \
    } \
    KERNEL(PRODUCT_THREADS) product_bf16_##name(const u16 *a, const u16 *b, const float *bias, void *c, u32 target, \
            int m, int n, int k) { \
        product_bf16<LEFT, RIGHT, true>(a, b, bias, c, target, m, n, k); \
    } \
    KERNEL(PRODUCT_THREADS) product_bf16_##name##_any(const u16 *a, const u16 *b, const float *bias, void *c, \
            u32 target, int m, int n, int k) { \
        product_bf16<LEFT, RIGHT, false>(a, b, bias, c, target, m, n, k); \
    }
PRODUCT(nn, false, false)
PRODUCT(nt, false, true)
PRODUCT(tn, true, false)
PRODUCT(tt, true, true)
