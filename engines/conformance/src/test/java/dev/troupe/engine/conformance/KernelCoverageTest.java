package dev.troupe.engine.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Memory;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.check.KernelHook;
import dev.troupe.engine.structural.Cost;
import dev.troupe.engine.structural.StructuralEngine;
import java.lang.foreign.Arena;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A check that each kernel of the contract has a name, conformance cases and a cost. */
@Tag("parity")
class KernelCoverageTest {
    /** Calls that take time and are no kernels; {@link MemoryConformance} tests them. */
    private static final Set<String> MEMORY = Set.of("allocate", "copyToHost", "copyFromHost");
    /** Kernels with a number or a digest as result; {@link MemoryConformance} tests them too. */
    private static final Set<String> SUMS = Set.of("sum", "squaredSum", "digest");

    /** The methods of the groups of kernels that take tensors. */
    private static Set<String> kernels() {
        return Arrays.stream(Engine.class.getInterfaces())
                .filter(group -> group != Memory.class && group != AutoCloseable.class)
                .flatMap(group -> Arrays.stream(group.getMethods()))
                .filter(method -> Arrays.asList(method.getParameterTypes()).contains(Tensor.class))
                .map(Method::getName).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void shouldNameEveryKernel() {
        assertEquals(union(kernels(), MEMORY),
                Arrays.stream(Kernel.values()).map(Kernel::method).collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void shouldHaveACaseForEveryKernel() {
        assertEquals(kernels(), union(SUMS, EngineConformance.cases(true).map(KernelCase::method)
                .collect(Collectors.toSet())));
    }

    /** A kernel that multiplies, by the report of its checks, has the cost of a product; another has some other cost. */
    @Test
    void shouldHaveACostForEveryKernel() {
        Map<String, KernelCase> cases = new HashMap<>();
        EngineConformance.cases(true).forEach(kernelCase -> cases.put(kernelCase.method(), kernelCase));
        Costs costs = new Costs();
        Calls calls = new Calls();
        try (CheckedEngine engine = new CheckedEngine(costs)) {
            engine.observe(calls);
            cases.values().forEach(kernelCase -> {
                try (Trial trial = new Trial(engine, kernelCase)) {
                    costs.found.clear();
                    calls.clear();
                    trial.run();
                    assertFalse(costs.found.isEmpty(), kernelCase.toString());
                    assertEquals(calls.multiplied, costs.found.stream().anyMatch(Cost.Product.class::isInstance),
                            kernelCase.toString());
                }
            });
        }
    }

    /** An observer is notified of each call once, with a tensor that the call wrote. */
    @Test
    void shouldReportEveryCallToTheObserver() {
        Map<String, KernelCase> cases = new HashMap<>();
        EngineConformance.cases(true).forEach(kernelCase -> cases.put(kernelCase.method(), kernelCase));
        Calls calls = new Calls();
        try (CheckedEngine engine = new CheckedEngine(new Costs())) {
            engine.observe(calls);
            cases.forEach((method, kernelCase) -> {
                try (Trial trial = new Trial(engine, kernelCase)) {
                    calls.clear();
                    trial.run();
                    assertEquals(List.of(method), calls.ended.stream().map(Kernel::method).toList());
                    Tensor result = calls.results.getFirst();
                    assertTrue(IntStream.range(0, kernelCase.operands().size())
                            .anyMatch(operand -> trial.tensor(operand) == result), kernelCase.toString());
                }
            });
            try (Tensor numbers = engine.allocate(DataType.FLOAT32, Shape.of(8));
                    Tensor sums = engine.allocate(DataType.FLOAT64, Shape.of(1));
                    Tensor digests = engine.allocate(DataType.INT32, Shape.of(1, 2));
                    Arena arena = Arena.ofConfined()) {
                calls.clear();
                engine.sum(numbers, sums, 0);
                engine.squaredSum(numbers, sums, 0);
                engine.digest(numbers, digests, 0);
                engine.copyToHost(numbers, 0, arena.allocate(numbers.byteCount(), Long.BYTES));
                engine.copyFromHost(arena.allocate(numbers.byteCount(), Long.BYTES), numbers, 0);
                engine.allocate(DataType.FLOAT32, Shape.of(1)).close();
                assertEquals(List.of(Kernel.SUM, Kernel.SQUARED_SUM, Kernel.DIGEST, Kernel.COPY_TO_HOST,
                        Kernel.COPY_FROM_HOST, Kernel.ALLOCATE), calls.ended);
            }
        }
    }

    /** The calls that have ended, in their order, and the tensors that they wrote. */
    private static final class Calls implements KernelHook {
        private final List<Kernel> ended = new ArrayList<>();
        private final List<Tensor> results = new ArrayList<>();
        private boolean multiplied;

        void clear() {
            ended.clear();
            results.clear();
            multiplied = false;
        }

        @Override
        public void multiplied(Kernel kernel, Tensor product, int terms) {
            multiplied = true;
        }

        @Override
        public long begins(Kernel kernel) {
            return kernel.ordinal() + 1L;
        }

        @Override
        public void ended(Kernel kernel, long begun, Tensor result) {
            assertEquals(kernel.ordinal() + 1L, begun);
            ended.add(kernel);
            results.add(result);
        }
    }

    private static Set<String> union(Set<String> some, Set<String> others) {
        return Stream.concat(some.stream(), others.stream()).collect(Collectors.toCollection(TreeSet::new));
    }

    private static final class Costs extends StructuralEngine {
        private final List<Cost> found = new ArrayList<>();

        Costs() {
            super(DataType.FLOAT32, DataType.FLOAT32);
        }

        @Override
        public String kind() {
            return "costs";
        }

        @Override
        public Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads) {
            return Shape.of(microbatchSize, heads, sequenceLength);
        }

        @Override
        protected void work(Kernel kernel, Cost cost) {
            found.add(cost);
        }
    }
}
