package dev.troupe.bench.profile;

import dev.troupe.engine.Engine;
import dev.troupe.engine.forward.ForwardingEngine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;

/** An engine that computes on another one, and adds up the cost of each kernel. */
final class MeasuredEngine extends ForwardingEngine {
    private final KernelTimes times;
    private final ThreadLocal<KernelEvent> events = new ThreadLocal<>();

    MeasuredEngine(Engine engine, KernelTimes times) {
        super(engine);
        this.times = times;
    }

    @Override
    protected long begins(Kernel kernel) {
        KernelEvent event = new KernelEvent();
        events.set(event);
        event.begin();
        return System.nanoTime();
    }

    @Override
    protected void ends(Kernel kernel, long begun) {
        times.add(kernel.method(), System.nanoTime() - begun);
        KernelEvent event = events.get();
        event.kernel = kernel.method();
        event.commit();
    }

    @Override
    public void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        super.matmul(left, transposeLeft, right, transposeRight, product, accumulate);
        multiplied(Kernel.MATMUL, product, left.shape().size(transposeLeft ? 0 : 1));
    }

    @Override
    public void linear(Tensor x, Tensor weight, boolean transposeWeight, Tensor bias, Tensor y) {
        super.linear(x, weight, transposeWeight, bias, y);
        multiplied(Kernel.LINEAR, y, x.shape().size(1));
    }

    @Override
    public void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        super.linearGelu(x, weight, bias, preActivation, y);
        multiplied(Kernel.LINEAR_GELU, y, x.shape().size(1));
    }

    /** Two operations for each product of two numbers. */
    private void multiplied(Kernel kernel, Tensor product, int terms) {
        times.addOperations(kernel.method(), 2 * product.shape().elementCount() * terms);
    }
}
