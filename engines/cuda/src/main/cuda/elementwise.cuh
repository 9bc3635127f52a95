// Kernels that take elements one by one, and sums over all elements.
#pragma once
#include "prelude.cuh"

constexpr int FLAT_THREADS = 256;
constexpr int FLAT_ELEMENTS = 4; // of a thread

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

#define ELEMENTWISE(name, T) \
    KERNEL(FLAT_THREADS) add_##name(const T *left, const T *right, T *sum, i64 count) { \
        each(count, [=](i64 i) { sum[i] = narrowed<T>(widened(left[i]) + widened(right[i])); }); \
    } \
    KERNEL(FLAT_THREADS) gelu_##name(const T *x, T *y, i64 count) { \
        each(count, [=](i64 i) { y[i] = narrowed<T>(gelu_of(widened(x[i]))); }); \
    } \
    KERNEL(FLAT_THREADS) gelu_backward_##name(const T *x, const T *dy, T *dx, i64 count) { \
        each(count, [=](i64 i) { dx[i] = narrowed<T>(widened(dy[i]) * gelu_slope(widened(x[i]))); }); \
    } \
    KERNEL(FLAT_THREADS) swiglu_##name(const T *gate, const T *up, T *y, i64 count) { \
        each(count, [=](i64 i) { \
            float x = widened(gate[i]); \
            y[i] = narrowed<T>(x * sigmoid(x) * widened(up[i])); \
        }); \
    } \
    KERNEL(FLAT_THREADS) swiglu_backward_##name(const T *gate, const T *up, const T *dy, T *dGate, T *dUp, i64 count) { \
        each(count, [=](i64 i) { \
            float x = widened(gate[i]); \
            float s = sigmoid(x); \
            float gradient = widened(dy[i]); \
            float ofGate = gradient * widened(up[i]) * (s + x * s * (1 - s)); \
            dUp[i] = narrowed<T>(gradient * (x * s)); \
            dGate[i] = narrowed<T>(ofGate); \
        }); \
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
    each(count, [=](i64 i) { target[i] = narrowed<bf16>(source[i]); });
}
KERNEL(FLAT_THREADS) widen(const bf16 *source, float *target, i64 count) {
    each(count, [=](i64 i) { target[i] = widened(source[i]); });
}
KERNEL(FLAT_THREADS) scale(float *tensor, float factor, i64 count) {
    each(count, [=](i64 i) { tensor[i] *= factor; });
}
KERNEL(FLAT_THREADS) sgd(float *weights, float *gradients, float rate, float decay, float gradientScale, i64 count) {
    each(count, [=](i64 i) {
        float weight = weights[i];
        weights[i] = weight - rate * (gradientScale * gradients[i] + decay * weight);
        gradients[i] = 0;
    });
}
// With momentum, in the order of operations of torch.optim.
KERNEL(FLAT_THREADS) sgd_momentum(float *weights, float *gradients, float *velocity, float rate, float momentum,
        u32 nesterov, float decay, float gradientScale, i64 count) {
    each(count, [=](i64 i) {
        float weight = weights[i];
        float gradient = gradientScale * gradients[i] + decay * weight;
        float speed = momentum * velocity[i] + gradient;
        gradients[i] = 0;
        velocity[i] = speed;
        weights[i] = weight - rate * (nesterov ? gradient + momentum * speed : speed);
    });
}
// AdamW (Loshchilov and Hutter 2019) in the order of operations of torch.optim.
KERNEL(FLAT_THREADS) adamw(float *weights, float *gradients, float *firstMoment, float *secondMoment,
        float gradientScale, float firstRest, float beta2, float secondRest, float correctionRoot, float epsilon,
        float keep, float stepSize, i64 count) {
    each(count, [=](i64 i) {
        float gradient = gradientScale * gradients[i];
        gradients[i] = 0;
        float first = firstMoment[i];
        first += firstRest * (gradient - first);
        float second = beta2 * secondMoment[i] + secondRest * gradient * gradient;
        firstMoment[i] = first;
        secondMoment[i] = second;
        weights[i] = weights[i] * keep - stepSize * (first / (root(second) / correctionRoot + epsilon));
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
        const T *more[] = {s1, s2, s3, s4, s5, s6, s7}; \
        T *targets[] = {t0, t1, t2, t3, t4, t5, t6, t7}; \
        each(count, [=](i64 i) { \
            float result = widened(s0[i]); \
            _Pragma("unroll") \
            for (int k = 0; k < 7; k++) { \
                if (more[k]) { \
                    float next = widened(more[k][i]); \
                    result = largest ? maximum(result, next) : result + next; \
                } \
            } \
            T stored = narrowed<T>(result); \
            _Pragma("unroll") \
            for (int k = 0; k < 8; k++) { \
                if (targets[k]) { \
                    targets[k][i] = stored; \
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
    i64 stride = (i64) block_count() * FLAT_THREADS;
    for (i64 i = (i64) block_index() * FLAT_THREADS + thread_index(); i < count; i += stride) {
        double element = tensor[i];
        sum += squares ? element * element : element;
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
