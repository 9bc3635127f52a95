package dev.troupe.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.bench.kernels.KernelWork;
import dev.troupe.bench.kernels.Workbench;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.fallback.FallbackEngine;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KernelReportTest {
    /** Measured only under the names of its uses. */
    private static final String MATMUL = "matmul";
    /** Kernels that are defined by other kernels of the engine. */
    private static final Set<String> COMPOSED = Set.of("crossEntropyBoth", "layerNormBackward", "linearGelu",
            "rmsNormBackward", "segmentMatmul", "segmentMatmulBackward");
    /** Kernels of experts, which on the device still fall back. */
    private static final Set<String> ON_THE_HOST_OF_CUDA = Set.of("route", "routeBackward", "routingTables",
            "gatherRows", "combineRows", "combineRowsBackward", "addLoads", "placeChoices", "routerZLoss",
            "routerZLossBackward");
    private static final Pattern CALL = Pattern.compile("\\.(\\w+)\\(");

    @Test
    void shouldHoldProductsToOneLimitAndTheRestToTheOther() {
        KernelReport report = new KernelReport("cpu", "reference", 100, 10, 5);
        report.row(new KernelWork("F", "linear", "[2]", 80_000, 0), 1000, 50_000);
        report.row(new KernelWork("F", "add", "[3]", 0, 2000), 1000, 2000);
        report.row(new KernelWork("F", "scale", "[4]", 0, 1 << 24), 1 << 24, 1 << 24);
        List<String> lines = report.toString().lines().toList();
        assertEquals("| `linear` | [2] | 1.0 | 50 | 50.0 | 80 GFLOP/s | 80 % |", lines.get(lines.size() - 3));
        assertEquals("| `add` | [3] | 1.0 | 2 | 2.0 | 2.0 GB/s | 20 % |",
                lines.get(lines.size() - 2));
        assertTrue(lines.getLast().endsWith("| 1.0 GB/s | 20 % |"), lines.getLast());
    }

    @Test
    void shouldMeasureEveryKernelThatTrainingCalls() throws Exception {
        Set<String> kernels = new TreeSet<>();
        for (Method method : Engine.class.getMethods()) {
            List<Class<?>> takes = List.of(method.getParameterTypes());
            if (method.getReturnType().isPrimitive() && takes.contains(Tensor.class)
                    && !takes.contains(MemorySegment.class)) {
                kernels.add(method.getName());
            }
        }
        kernels.retainAll(called());
        Set<String> methods = KernelWork.all().stream().map(KernelWork::method).collect(Collectors.toSet());
        Set<String> measured = methods.stream().map(method -> kernels.stream().filter(method::startsWith)
                .max(Comparator.comparingInt(String::length)).orElse(method))
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(kernels, measured);
        // A kernel that is measured in several ways has a row under its own name too.
        kernels.removeAll(methods);
        assertEquals(Set.of(MATMUL), kernels);
    }

    /** The names of methods that stages and the runtime call. */
    private static Set<String> called() throws IOException {
        Set<String> called = new HashSet<>();
        for (String folder : List.of("stages", "runtime")) {
            try (Stream<Path> files = Files.walk(Path.of("..").resolve(folder))) {
                for (Path file : files.filter(path -> path.toString().matches(".*/src/main/.*\\.java")).toList()) {
                    CALL.matcher(Files.readString(file)).results().map(call -> call.group(1)).forEach(called::add);
                }
            }
        }
        return called;
    }

    /** A kernel that falls back copies its operands to the host and computes there. */
    @ParameterizedTest
    @ValueSource(strings = {"cpu.CpuEngine", "cuda.CudaEngine"})
    void shouldCallNoKernelInTrainingThatFallsBack(String engine) throws Exception {
        Set<String> fallbacks = Arrays.stream(Class.forName("dev.troupe.engine." + engine).getMethods())
                .filter(method -> method.getDeclaringClass().getPackage() == FallbackEngine.class.getPackage())
                .map(Method::getName).collect(Collectors.toCollection(TreeSet::new));
        fallbacks.retainAll(Arrays.stream(Kernel.values()).map(Kernel::method).toList());
        fallbacks.retainAll(called());
        fallbacks.removeAll(COMPOSED);
        if (engine.startsWith("cuda")) {
            fallbacks.removeAll(ON_THE_HOST_OF_CUDA);
        }
        assertEquals(Set.of(), fallbacks);
    }

    @Test
    void shouldHaveACallForEveryRow() {
        Set<String> names = new HashSet<>(List.of(KernelWork.limit("product"), KernelWork.limit("copyNarrow"),
                KernelWork.limit("copyWide")));
        KernelWork.all().forEach(work -> assertTrue(names.add(work.benchmark()), work.benchmark()));
        Map<String, List<String>> families = names.stream()
                .collect(Collectors.groupingBy(name -> name.substring(0, name.indexOf('.'))));
        families.values().forEach(family -> {
            Workbench bench = new Workbench();
            bench.engineKind = "cpu";
            bench.kernel = family.getFirst();
            bench.open();
            for (String name : family) {
                bench.choose(name);
                bench.call();
            }
            bench.close();
        });
    }

    @Test
    void shouldBeKnownToJmh() throws Exception {
        try (InputStream list = KernelBenchmark.class.getResourceAsStream("/META-INF/BenchmarkList")) {
            assertTrue(new String(list.readAllBytes(), StandardCharsets.UTF_8).contains(Workbench.class.getName()));
        }
    }
}
