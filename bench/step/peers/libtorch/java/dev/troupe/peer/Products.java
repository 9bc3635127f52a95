package dev.troupe.peer;

import java.util.Locale;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** The libraries that libtorch multiplies with, and the speed of one product of the wide model. */
final class Products {
    private static final int ROWS = 1024;
    private static final int INNER = 512;
    private static final int COLUMNS = 2048;
    private static final int ROUNDS = 20;

    private Products() {
    }

    /** Such as {@code PyTorch 2.13.0, AVX512, 98 GFLOP/s in float32, 366 in bfloat16}; takes a fraction of a second. */
    static String describe() {
        String config = torch.show_config().getString();
        int version = config.indexOf("TORCH_VERSION=") + "TORCH_VERSION=".length();
        return String.format(Locale.ROOT,
                "PyTorch %s, %s, linked with %s: %d x %d x %d at %.0f GFLOP/s in float32 and %.0f in bfloat16",
                config.substring(version, config.indexOf(',', version)), torch.get_cpu_capability().getString(),
                config.contains("BLAS_INFO=open") ? "OpenBLAS" : "another BLAS", ROWS, INNER, COLUMNS,
                rate(torch.ScalarType.Float), rate(torch.ScalarType.BFloat16));
    }

    /** The fastest of some products, so that other work of the machine counts little. */
    private static double rate(torch.ScalarType type) {
        double best = 0;
        try (PointerScope _ = new PointerScope(); NoGradGuard _ = new NoGradGuard()) {
            Tensor left = torch.ones(ROWS, INNER).to(type);
            Tensor right = torch.ones(COLUMNS, INNER).to(type);
            for (int i = 0; i < ROUNDS; i++) {
                long begin = System.nanoTime();
                torch.linear(left, right).close();
                best = Math.max(best, 2.0 * ROWS * INNER * COLUMNS / (System.nanoTime() - begin));
            }
        }
        return best;
    }
}
