package dev.troupe.engine.cuda;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cuda.device.DeviceStream;
import dev.troupe.engine.cuda.device.LaunchArguments;
import java.util.HashMap;
import java.util.Map;

/**
 * The launch in preparation: a kernel and its arguments, in the order of its parameters in {@code src/main/cuda}. It also
 * owns the scratch memory of kernels, which grows to the largest need and keeps that size.
 *
 * <p>Thread rule: one thread.
 */
final class Launch implements AutoCloseable {
    /** Threads of a block, and elements of each, in elementwise kernels. */
    private static final int FLAT_THREADS = 256;
    private static final int FLAT_ELEMENTS = 8;

    private final DeviceStream stream;
    private final String suffix;
    private final Map<String, String> names = new HashMap<>();
    private final LaunchArguments arguments = new LaunchArguments();
    private String kernel;
    private long scratch;
    private long scratchBytes;

    /** Launches on a stream; the suffix selects among kernels with a variant for each type. */
    Launch(DeviceStream stream, String suffix) {
        this.stream = stream;
        this.suffix = suffix;
    }

    /** Begins a launch of a kernel without variants. */
    Launch of(String name) {
        kernel = name;
        arguments.clear();
        return this;
    }

    /** Begins a launch of a kernel with a variant for each type of products. */
    Launch ofType(String name) {
        return of(names.computeIfAbsent(name, any -> any + "_" + suffix));
    }

    Launch with(Tensor tensor) {
        return wide(tensor == null ? 0 : CudaTensor.of(tensor).address());
    }

    Launch with(Tensor tensor, long element) {
        CudaTensor own = CudaTensor.of(tensor);
        return wide(own.address() + element * own.dataType().elementBytes());
    }

    Launch wide(long value) {
        arguments.addWide(value);
        return this;
    }

    Launch integer(int value) {
        arguments.addInteger(value);
        return this;
    }

    Launch flag(boolean value) {
        return integer(value ? 1 : 0);
    }

    Launch real(double value) {
        arguments.addReal((float) value);
        return this;
    }

    /** Adds the parameters of a dropout: {@code MASK_PARAMETERS} of the prelude. */
    Launch with(Dropout dropout) {
        return flag(dropout.drops()).integer((int) dropout.threshold()).real(dropout.raise()).wide(dropout.seed())
                .integer(dropout.site()).integer((int) dropout.microbatch()).integer((int) dropout.step());
    }

    void run(long blocks, int threads) {
        run(blocks, 1, threads);
    }

    void run(long columns, int rows, int threads) {
        stream.launch(kernel, Math.toIntExact(columns), rows, threads, arguments);
    }

    /** Adds the number of elements, and runs an elementwise kernel. */
    void runFlat(long count) {
        wide(count).run(Math.ceilDiv(count, FLAT_THREADS * FLAT_ELEMENTS), FLAT_THREADS);
    }

    /** The address of scratch memory of at least this size, the same until a larger size is requested. */
    long scratch(long bytes) {
        if (bytes > scratchBytes) {
            if (scratchBytes > 0) {
                stream.free(scratch);
            }
            scratchBytes = 0; // in case the allocation fails
            scratch = stream.allocate(bytes);
            scratchBytes = bytes;
        }
        return scratch;
    }

    @Override
    public void close() {
        if (scratchBytes > 0) {
            stream.free(scratch);
            scratchBytes = 0;
        }
        arguments.close();
    }
}
