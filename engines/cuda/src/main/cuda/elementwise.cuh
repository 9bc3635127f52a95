// Kernels that take elements one by one, and sums over all elements.
#pragma once
#include "spans.cuh"

constexpr int FLAT_THREADS = 256;
constexpr int FLAT_ELEMENTS = 8; // of a thread

// Calls the body for each element of this thread; neighbours in a warp have neighbouring elements.
template <typename Body> DEVICE void each(i64 count, Body body) {
    i64 first = (i64) block_index() * (FLAT_THREADS * FLAT_ELEMENTS) + thread_index();
#pragma unroll
    for (int k = 0; k < FLAT_ELEMENTS; k++) {
        i64 i = first + k * FLAT_THREADS;
        if (i < count) {
            body(i);
        }
    }
}
// Calls the body for the elements of this thread, W of them at a time.
template <int W, typename Body> DEVICE void spans(i64 count, bool isAligned, Body body) {
#pragma unroll
    for (int k = 0; k < FLAT_ELEMENTS / W; k++) {
        i64 tile = ((i64) block_index() * (FLAT_ELEMENTS / W) + k) * (FLAT_THREADS * W);
        i64 first = tile + thread_index() * (isAligned ? W : 1);
        if (first < count) {
            body(Span<W>{first, count, isAligned ? 1 : FLAT_THREADS, isAligned && first + W <= count});
        }
    }
}
// y = f(x) and y = f(a, b), element by element, of which the widest has 16 bytes.
template <typename X, typename Y, typename F> DEVICE void map(const X *x, Y *y, i64 count, F f) {
    constexpr int W = sizeof(X) > sizeof(Y) ? WIDTH<X> : WIDTH<Y>;
    spans<W>(count, aligned(x, y), [=](Span<W> at) {
        float values[W];
        at.load(x, values);
#pragma unroll
        for (int k = 0; k < W; k++) {
            values[k] = f(values[k]);
        }
        at.store(y, values);
    });
}
template <typename T, typename F> DEVICE void map(const T *a, const T *b, T *y, i64 count, F f) {
    constexpr int W = WIDTH<T>;
    spans<W>(count, aligned(a, b, y), [=](Span<W> at) {
        float left[W], right[W];
        at.load(a, left);
        at.load(b, right);
#pragma unroll
        for (int k = 0; k < W; k++) {
            left[k] = f(left[k], right[k]);
        }
        at.store(y, left);
    });
}

constexpr float GELU_ROOT = 0.797884561f; // sqrt(2 / pi)
constexpr float GELU_CUBIC = 0.044715f;

// x/2 (1 + tanh(u)) is x s(2u) with the sigmoid s, u = r (x + c x^3).
DEVICE float gelu_of(float x) {
    return x * sigmoid(2 * GELU_ROOT * (x + GELU_CUBIC * x * x * x));
}
DEVICE float gelu_slope(float x) {
    float s = sigmoid(2 * GELU_ROOT * (x + GELU_CUBIC * x * x * x));
    return s + 2 * x * (s * (1 - s)) * GELU_ROOT * (1 + 3 * GELU_CUBIC * x * x);
}

template <typename T> DEVICE void swiglu_backward(const T *gate, const T *up, const T *dy, T *dGate, T *dUp,
        i64 count) {
    constexpr int W = WIDTH<T>;
    spans<W>(count, aligned(gate, up, dy, dGate, dUp), [=](Span<W> at) {
        float x[W], factor[W], gradient[W];
        at.load(gate, x);
        at.load(up, factor);
        at.load(dy, gradient);
#pragma unroll
        for (int k = 0; k < W; k++) {
            float s = sigmoid(x[k]);
            factor[k] = gradient[k] * factor[k] * (s + x[k] * s * (1 - s));
            gradient[k] = gradient[k] * (x[k] * s);
        }
        at.store(dUp, gradient);
        at.store(dGate, factor);
    });
}

#define ELEMENTWISE(name, T) \
    KERNEL(FLAT_THREADS) add_##name(const T *left, const T *right, T *sum, i64 count) { \
        map(left, right, sum, count, [](float a, float b) { return a + b; }); \
    } \
    KERNEL(FLAT_THREADS) gelu_##name(const T *x, T *y, i64 count) { \
        map(x, y, count, gelu_of); \
    } \
    KERNEL(FLAT_THREADS) gelu_backward_##name(const T *x, const T *dy, T *dx, i64 count) { \
        map(x, dy, dx, count, [](float before, float gradient) { return gradient * gelu_slope(before); }); \
    } \
    KERNEL(FLAT_THREADS) swiglu_##name(const T *gate, const T *up, T *y, i64 count) { \
        map(gate, up, y, count, [](float x, float factor) { return x * sigmoid(x) * factor; }); \
    } \
    KERNEL(FLAT_THREADS) swiglu_backward_##name(const T *gate, const T *up, const T *dy, T *dGate, T *dUp, i64 count) { \
        swiglu_backward(gate, up, dy, dGate, dUp, count); \
    } \
    /* A block a row: the place of a row's first element is reckoned once. */ \
    KERNEL(128) dropout_##name(const T *x, T *y, i64 columns, i64 firstRow, i64 length, i64 wholeLength, \
            i64 wholeColumns, i64 firstColumn, MASK_PARAMETERS) { \
        i64 row = block_index(); \
        i64 here = firstRow + row; \
        i64 place = (here / length * wholeLength + here % length) * wholeColumns + firstColumn; \
        for (i64 j = thread_index(); j < columns; j += 128) { \
            float value = widened(x[row * columns + j]); \
            y[row * columns + j] = narrowed<T>(drops ? value * (MASK).factor(place + j) : value); \
        } \
    }
ELEMENTWISE(f32, float)
ELEMENTWISE(bf16, bf16)

KERNEL(FLAT_THREADS) narrow(const float *source, bf16 *target, i64 count) {
    map(source, target, count, [](float x) { return x; });
}
KERNEL(FLAT_THREADS) widen(const bf16 *source, float *target, i64 count) {
    map(source, target, count, [](float x) { return x; });
}
KERNEL(FLAT_THREADS) scale(float *tensor, float factor, i64 count) {
    map(tensor, tensor, count, [=](float x) { return x * factor; });
}

// Updates of optimizers also write what products read of the weights, where that is of another type and not null.
constexpr int UPDATE_WIDTH = WIDTH<float>;
typedef Span<UPDATE_WIDTH> UpdateSpan;

DEVICE void updated(UpdateSpan at, float *weights, float *gradients, bf16 *operands,
        const float (&values)[UPDATE_WIDTH]) {
    float zeros[UPDATE_WIDTH] = {};
    at.store(gradients, zeros);
    at.store(weights, values);
    if (operands) {
        at.store(operands, values);
    }
}
KERNEL(FLAT_THREADS) sgd(float *weights, float *gradients, bf16 *operands, float rate, float decay,
        float gradientScale, i64 count) {
    spans<UPDATE_WIDTH>(count, aligned(weights, gradients, operands), [=](UpdateSpan at) {
        float weight[UPDATE_WIDTH], gradient[UPDATE_WIDTH];
        at.load(weights, weight);
        at.load(gradients, gradient);
#pragma unroll
        for (int k = 0; k < UPDATE_WIDTH; k++) {
            weight[k] = weight[k] - rate * (gradientScale * gradient[k] + decay * weight[k]);
        }
        updated(at, weights, gradients, operands, weight);
    });
}
// With momentum, in the order of operations of torch.optim.
KERNEL(FLAT_THREADS) sgd_momentum(float *weights, float *gradients, float *velocity, bf16 *operands, float rate,
        float momentum, u32 nesterov, float decay, float gradientScale, i64 count) {
    spans<UPDATE_WIDTH>(count, aligned(weights, gradients, velocity, operands), [=](UpdateSpan at) {
        float weight[UPDATE_WIDTH], gradient[UPDATE_WIDTH], speed[UPDATE_WIDTH];
        at.load(weights, weight);
        at.load(gradients, gradient);
        at.load(velocity, speed);
#pragma unroll
        for (int k = 0; k < UPDATE_WIDTH; k++) {
            float push = gradientScale * gradient[k] + decay * weight[k];
            speed[k] = momentum * speed[k] + push;
            weight[k] = weight[k] - rate * (nesterov ? push + momentum * speed[k] : speed[k]);
        }
        at.store(velocity, speed);
        updated(at, weights, gradients, operands, weight);
    });
}
// AdamW (Loshchilov and Hutter 2019) in the order of operations of torch.optim.
KERNEL(FLAT_THREADS) adamw(float *weights, float *gradients, float *firstMoment, float *secondMoment, bf16 *operands,
        float gradientScale, float firstRest, float beta2, float secondRest, float correctionRoot, float epsilon,
        float keep, float stepSize, i64 count) {
    bool isAligned = aligned(weights, gradients, firstMoment, secondMoment, operands);
    spans<UPDATE_WIDTH>(count, isAligned, [=](UpdateSpan at) {
        float weight[UPDATE_WIDTH], gradient[UPDATE_WIDTH], first[UPDATE_WIDTH], second[UPDATE_WIDTH];
        at.load(weights, weight);
        at.load(gradients, gradient);
        at.load(firstMoment, first);
        at.load(secondMoment, second);
#pragma unroll
        for (int k = 0; k < UPDATE_WIDTH; k++) {
            float scaled = gradientScale * gradient[k];
            first[k] += firstRest * (scaled - first[k]);
            second[k] = beta2 * second[k] + secondRest * scaled * scaled;
            weight[k] = weight[k] * keep - stepSize * (first[k] / (root(second[k]) / correctionRoot + epsilon));
        }
        at.store(firstMoment, first);
        at.store(secondMoment, second);
        updated(at, weights, gradients, operands, weight);
    });
}

// The larger of two, as Math.max of Java has it: no number if one is none, and 0 above -0.
DEVICE float maximum(float a, float b) {
    return a > b || a != a ? a : a == b && a == 0 ? a + b : b;
}

// Reduces the same elements of several tensors in their order, in float32, and writes them to several.
#define REDUCTION(name, T) \
    KERNEL(FLAT_THREADS) reduce_##name(const T *s0, const T *s1, const T *s2, const T *s3, const T *s4, const T *s5, \
            const T *s6, const T *s7, T *t0, T *t1, T *t2, T *t3, T *t4, T *t5, T *t6, T *t7, u32 largest, i64 count) { \
        constexpr int W = WIDTH<T>; \
        const T *more[] = {s1, s2, s3, s4, s5, s6, s7}; \
        T *targets[] = {t0, t1, t2, t3, t4, t5, t6, t7}; \
        bool isAligned = aligned(s0, s1, s2, s3, s4, s5, s6, s7) && aligned(t0, t1, t2, t3, t4, t5, t6, t7); \
        spans<W>(count, isAligned, [=](Span<W> at) { \
            float result[W]; \
            at.load(s0, result); \
            _Pragma("unroll") \
            for (int member = 0; member < 7; member++) { \
                if (more[member]) { \
                    float next[W]; \
                    at.load(more[member], next); \
                    _Pragma("unroll") \
                    for (int k = 0; k < W; k++) { \
                        result[k] = largest ? maximum(result[k], next[k]) : result[k] + next[k]; \
                    } \
                } \
            } \
            _Pragma("unroll") \
            for (int member = 0; member < 8; member++) { \
                if (targets[member]) { \
                    at.store(targets[member], result); \
                } \
            } \
        }); \
    }
REDUCTION(f32, float)
REDUCTION(bf16, bf16)

// Adds up what the threads of a block of FLAT_THREADS hold, in an order of its own; in thread 0.
DEVICE double block_sum(double value) {
    __shared__ double sums[FLAT_THREADS];
    int thread = thread_index();
    sums[thread] = value;
#pragma unroll 1
    for (int half = FLAT_THREADS / 2; half > 0; half /= 2) {
        barrier();
        if (thread < half) {
            sums[thread] += sums[thread + half];
        }
    }
    return sums[0];
}
// A part of the sum from each block, in float64, of the elements or of their squares; their order follows from the count.
KERNEL(FLAT_THREADS) partial_sums(const float *tensor, u32 squares, double *partial, i64 count) {
    double sum = 0;
    bool isAligned = aligned(tensor);
    i64 stride = (i64) block_count() * FLAT_THREADS * WIDTH<float>;
    i64 first = ((i64) block_index() * FLAT_THREADS + thread_index()) * WIDTH<float>;
    for (i64 i = first; i < count; i += stride) {
        float elements[WIDTH<float>];
        Span<WIDTH<float>>{i, count, 1, isAligned && i + WIDTH<float> <= count}.load(tensor, elements);
#pragma unroll
        for (int k = 0; k < WIDTH<float>; k++) {
            double element = elements[k];
            sum += squares ? element * element : element;
        }
    }
    sum = block_sum(sum);
    if (thread_index() == 0) {
        partial[block_index()] = sum;
    }
}
KERNEL(FLAT_THREADS) total(const double *partial, int parts, double *result) {
    double sum = 0;
    for (int i = thread_index(); i < parts; i += FLAT_THREADS) {
        sum += partial[i];
    }
    sum = block_sum(sum);
    if (thread_index() == 0) {
        *result = sum;
    }
}
