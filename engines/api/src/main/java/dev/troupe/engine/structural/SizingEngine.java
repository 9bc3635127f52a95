package dev.troupe.engine.structural;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * A substitute for an engine that computes nothing and only counts bytes: {@link #allocatedBytes} is the memory that the
 * engine would have allocated, including the scratch memory of its products. Tensors too large for any engine are refused.
 */
public final class SizingEngine extends StructuralEngine {
    private final Engine model;
    /** The largest scratch memory of any product so far; one thread calls kernels. */
    private long scratchBytes;
    // The ranges of which the engine would keep a packed copy: right sides of products so far, plain and transposed.
    private final Set<Tensor> plain = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<Tensor> transposed = Collections.newSetFromMap(new IdentityHashMap<>());

    private SizingEngine(Engine model) {
        super(model.parameterType(), model.computeType());
        this.model = model;
    }

    /**
     * Returns a substitute for an engine.
     *
     * @param model must stay open while the substitute is used; the caller closes it
     */
    public static Engine like(Engine model) {
        return new SizingEngine(model);
    }

    @Override
    public String kind() {
        return model.kind();
    }

    @Override
    public Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads) {
        return model.attentionStateShape(microbatchSize, sequenceLength, heads);
    }

    @Override
    public long packedCopyBytes(Shape range, long rows) {
        return model.packedCopyBytes(range, rows);
    }

    @Override
    public long productScratchBytes(long m, long k, long n, boolean isRange, DataType product) {
        return model.productScratchBytes(m, k, n, isRange, product);
    }

    @Override
    public long allocatedBytes() {
        return super.allocatedBytes() + scratchBytes;
    }

    /** Counts the packed copy of a product's right side, if the engine would keep one, and the product's scratch memory. */
    @Override
    protected void work(Kernel kernel, Cost cost) {
        if (cost instanceof Cost.Product product) {
            boolean isRange = isRange(product.right());
            if (isRange && (product.transposeRight() ? transposed : plain).add(product.right())) {
                keep(packedCopyBytes(product.right().shape(), product.m()));
            }
            scratchBytes = Math.max(scratchBytes,
                    productScratchBytes(product.m(), product.k(), product.n(), isRange, product.type()));
        }
    }
}
