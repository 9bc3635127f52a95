package dev.troupe.engine.fallback;

import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.fallback.loop.MatrixProduct;
import java.util.Arrays;

/** Definitions of matrix products, linear layers, and the gradient of a bias. */
interface FallbackMatrix extends Fallback {
    @Override
    default void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        fallBack(Kernel.MATMUL, host -> {
            double[] sums = accumulate ? host.changed(product) : host.output(product);
            if (!accumulate) {
                Arrays.fill(sums, 0);
            }
            MatrixProduct.add(host.read(left), transposeLeft, host.read(right), transposeRight, sums,
                    product.shape().size(0), left.shape().size(transposeLeft ? 0 : 1), product.shape().size(1));
        });
    }

    @Override
    default void linear(Tensor x, Tensor weight, boolean transposeWeight, Tensor bias, Tensor y) {
        fallBack(Kernel.LINEAR, host -> MatrixProduct.linear(host.read(x), host.read(weight), transposeWeight,
                host.read(bias), host.output(y), x.shape().size(0), x.shape().size(1), y.shape().size(1)));
    }

    @Override
    default void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        linear(x, weight, false, bias, preActivation);
        gelu(preActivation, y);
    }

    @Override
    default void biasBackward(Tensor dy, Tensor dBias) {
        fallBack(Kernel.BIAS_BACKWARD, host -> MatrixProduct.biasBackward(host.read(dy), host.changed(dBias),
                dy.shape().size(0), dy.shape().size(1)));
    }
}
