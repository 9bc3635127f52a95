package dev.troupe.engine.cpu;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.ProductLibraries;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.bytedeco.javacpp.Loader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProductLibrariesTest {
    private static final int N = 260;
    /** More terms than libraries add up in one block, so that they differ in bits. */
    private static final int K = 1000;
    private static final int M = 1111;
    private static final int CALLS = 1000;
    /** After them everything is compiled, and all joined threads have left the list. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** Bytes of a call: the checked engine's and the pool's, which the long test of all kernels holds to as much a step. */
    private static final int MOST_GARBAGE = 200;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final String CALLER = "asks-for-blas";

    private final CpuEngineProvider provider = new CpuEngineProvider();
    private final ProductLibraries libraries = provider.productLibraries().orElseThrow();

    @TempDir
    private Path folder;

    @Test
    void shouldGiveTheSameBytesForAnyNumberOfThreads() {
        byte[] alone = product("openblas", 1);
        assertArrayEquals(alone, product("openblas", 3));
        assertArrayEquals(alone, product("large=openblas gradient=onednn small=onednn attention=onednn", 2));
        assertFalse(Arrays.equals(alone, product("onednn", 1)));
    }

    /** A named library is loaded anew: its threads would have the name of the loading thread. */
    @Test
    void shouldLeaveNoThreadOfANamedLibrary() throws Exception {
        byte[] expected = product("openblas", 1); // which also loads what the library needs
        Path file = Files.copy(openBlas(), folder.resolve("libmine.so"));
        AtomicReference<byte[]> product = new AtomicReference<>();
        AtomicReference<Long> named = new AtomicReference<>();
        Thread caller = new Thread(() -> {
            product.set(product(file.toString(), 1));
            named.set(namedOnceTheyHaveEnded());
        }, CALLER);
        caller.start();
        caller.join();
        assertArrayEquals(expected, product.get());
        assertEquals(1, named.get());
    }

    @Test
    void shouldLeaveNoGarbage() {
        try (Engine engine = open("openblas", 1);
                Tensor a = tensor(engine, 64, 64);
                Tensor b = tensor(engine, 64, 64);
                Tensor c = tensor(engine, 64, 64)) {
            long perCall = Long.MAX_VALUE;
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (perCall > MOST_GARBAGE && System.nanoTime() - deadline < 0) {
                long before = THREADS.getCurrentThreadAllocatedBytes();
                for (int call = 0; call < CALLS; call++) {
                    engine.matmul(a, false, b, false, c, false);
                }
                perCall = (THREADS.getCurrentThreadAllocatedBytes() - before) / CALLS;
            }
            assertTrue(perCall <= MOST_GARBAGE, "a product leaves " + perCall + " bytes of garbage");
        }
    }

    @Test
    void shouldReportWhatIsWrongWithAChoice() throws IOException {
        String advice = "; set engine.products = onednn, or correct the path";
        Path absent = folder.resolve("libabsent.so");
        Path text = Files.writeString(folder.resolve("text.so"), "text");
        assertEquals("engine.products = " + absent + ": the BLAS " + absent + " is missing, or not a file" + advice,
                obstacle("" + absent, DataType.FLOAT32));
        assertEquals("engine.products = " + text + ": the BLAS " + text
                + " is not a shared library" + advice,
                obstacle("" + text, DataType.FLOAT32));
        Path fortran = openBlas().resolveSibling("libgfortran.so.5");
        assertEquals("engine.products = " + fortran + ": the BLAS " + fortran
                + " has no function cblas_sgemm: name a BLAS with the C interface and 32-bit integers" + advice,
                obstacle("" + fortran, DataType.FLOAT32));
        String forms = "large=openblas small=onednn";
        assertEquals(
                "engine.products must be auto, onednn, openblas, the absolute path of a BLAS, or a library for each"
                        + " form of product such as \"large=onednn gradient=onednn small=onednn attention=onednn\", but is \""
                        + forms + "\"",
                obstacle(forms, DataType.FLOAT32));
        assertEquals("engine.products = openblas, but only oneDNN multiplies BFLOAT16: set engine.products = onednn, or"
                + " training.precision = float32", obstacle("openblas", DataType.BFLOAT16));
        assertTrue(libraries.obstacle("onednn", DataType.BFLOAT16).isEmpty());
    }

    @Test
    void shouldRecognizeOnlyItsOwnChoices() {
        assertTrue(libraries.knows("openblas") && libraries.knows("/opt/libblas.so")
                && libraries.knows("large=openblas gradient=onednn small=onednn attention=onednn"));
        assertFalse(libraries.knows("cublaslt") || libraries.knows("own"));
    }

    @Test
    void shouldNameVersions() {
        assertTrue(libraries.identity("openblas").matches("openblas \\(OpenBLAS [0-9.]+-[0-9.]+\\)"),
                libraries.identity("openblas"));
    }

    private String obstacle(String choice, DataType type) {
        return libraries.obstacle(choice, type).orElseThrow();
    }

    private static Path openBlas() throws IOException {
        String there = "/org/bytedeco/openblas/" + Loader.Detector.getPlatform() + "/";
        Loader.cacheResource(ProductLibrariesTest.class.getResource(there + "libgfortran.so.5"));
        return Loader.cacheResource(ProductLibrariesTest.class.getResource(there + "libopenblas.so.0")).toPath();
    }

    /** A joined thread may be in the list a moment longer. */
    private static long namedOnceTheyHaveEnded() {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        long count = Long.MAX_VALUE;
        while (count > 1 && System.nanoTime() - deadline < 0) {
            count = tasks().filter(CALLER::equals).count();
        }
        return count;
    }

    /** The names of the threads of this process. */
    private static Stream<String> tasks() {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            return tasks.map(ProductLibrariesTest::name).toList().stream();
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static String name(Path task) {
        try {
            return Files.readString(task.resolve("comm")).strip();
        } catch (IOException _) {
            return "has ended";
        }
    }

    private Engine open(String products, int threads) {
        return provider.open(new EngineSettings(DataType.FLOAT32, threads).withProducts(products));
    }

    private byte[] product(String products, int threads) {
        try (Engine engine = open(products, threads);
                Tensor a = tensor(engine, N, K);
                Tensor b = tensor(engine, K, M);
                Tensor c = tensor(engine, N, M)) {
            engine.matmul(a, false, b, false, c, false);
            MemorySegment bytes = MemorySegment.ofArray(new byte[N * M * Float.BYTES]);
            engine.copyToHost(c, 0, bytes);
            return (byte[]) bytes.heapBase().orElseThrow();
        }
    }

    private static Tensor tensor(Engine engine, int rows, int columns) {
        Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(rows, columns));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(ValueLayout.JAVA_FLOAT, (long) rows * columns);
            for (int i = 0; i < rows * columns; i++) {
                values.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) Math.sin(i));
            }
            engine.copyFromHost(values, tensor, 0);
        }
        return tensor;
    }
}
