package dev.troupe.bench.profile;

import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.check.KernelHook;

/** An observer of an engine that adds up the cost of each kernel. */
final class MeasuringHook implements KernelHook {
    private final KernelTimes times;
    private final ThreadLocal<KernelEvent> events = new ThreadLocal<>();

    MeasuringHook(KernelTimes times) {
        this.times = times;
    }

    @Override
    public long begins(Kernel kernel) {
        KernelEvent event = new KernelEvent();
        events.set(event);
        event.begin();
        return System.nanoTime();
    }

    /** Two operations for each product of two numbers. */
    @Override
    public void multiplied(Kernel kernel, Tensor product, int terms) {
        times.addOperations(kernel.method(), 2 * product.shape().elementCount() * terms);
    }

    @Override
    public void ended(Kernel kernel, long begun, Tensor result) {
        times.add(kernel.method(), System.nanoTime() - begun);
        KernelEvent event = events.get();
        event.kernel = kernel.method();
        event.commit();
    }
}
