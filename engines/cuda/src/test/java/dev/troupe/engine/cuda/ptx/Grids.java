package dev.troupe.engine.cuda.ptx;

import dev.troupe.engine.cuda.device.LaunchArguments;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** A runner of a module's kernels on grids of blocks, in a random order for each; one grid at a time. */
final class Grids {
    private static final int LARGEST_SHARED_MEMORY = 48 << 10;

    private final PtxModule module;
    private final DeviceMemory memory;
    private final Random random;

    Grids(PtxModule module, DeviceMemory memory, Random random) {
        this.module = module;
        this.memory = memory;
        this.random = random;
    }

    /** The bytes of the arguments, in the layout of the kernel's parameters. */
    byte[] parameters(String name, LaunchArguments arguments) {
        PtxKernel kernel;
        synchronized (module) {
            kernel = module.kernel(name);
        }
        if (arguments.count() != kernel.parameterBytes().length) {
            throw new PtxFault("%s has %d parameters, but found %d arguments".formatted(name,
                    kernel.parameterBytes().length, arguments.count()));
        }
        return bytes(kernel, arguments);
    }

    void launch(String name, int columns, int rows, int threads, byte[] parameters) {
        synchronized (module) {
            PtxKernel kernel = module.kernel(name);
            if (kernel.sharedBytes() > LARGEST_SHARED_MEMORY) {
                throw new PtxFault(name + " needs " + kernel.sharedBytes() + " bytes of shared memory, above 48 KiB");
            }
            if (threads % Warp.LANES != 0 || threads < 1 || columns < 1 || rows < 1 || rows > 65535) {
                throw new PtxFault(
                        "%s: no grid is %d x %d blocks of %d threads".formatted(name, columns, rows, threads));
            }
            Block block = new Block(kernel, memory, parameters, threads, columns);
            List<Integer> places = new ArrayList<>();
            for (int i = 0; i < columns * rows; i++) {
                places.add(i);
            }
            Collections.shuffle(places, random);
            places.forEach(place -> block.run(place % columns, place / columns, random));
        }
    }

    private static byte[] bytes(PtxKernel kernel, LaunchArguments arguments) {
        byte[] bytes = new byte[8 * arguments.count()];
        int at = 0;
        for (int i = 0; i < arguments.count(); i++) {
            int size = kernel.parameterBytes()[i];
            at = Math.ceilDiv(at, size) * size;
            for (int part = 0; part < size; part++) {
                bytes[at + part] = (byte) (arguments.bits(i) >>> 8 * part);
            }
            at += size;
        }
        return bytes;
    }
}
