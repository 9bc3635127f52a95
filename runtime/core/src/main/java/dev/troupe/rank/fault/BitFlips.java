package dev.troupe.rank.fault;

import dev.troupe.config.fault.FaultKind;
import dev.troupe.config.fault.FaultMessage;
import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * The bit flips of a rank's faults, in its results and messages. The fault's seed determines the result of an action and a
 * number in it. The flip hits the largest of the {@value #NEAR} numbers from there, in the second bit of its exponent. So
 * later results change, and the difference is not rounded away. Thread rule: the rank's thread; {@link #send} on any.
 */
final class BitFlips {
    private static final int NEAR = 256;

    private final FaultInjector faults;
    private final int rank;
    /** The number of results of a kind in an action of a stage, as counted in the first such action. */
    private final Map<Counted, Integer> counts = new HashMap<>();
    private final Map<FaultKind, Integer> calls = new EnumMap<>(FaultKind.class);
    /** The action in progress; null between actions. */
    private FaultSite site;

    private record Counted(FaultKind kind, FaultPoint point, int stage) {
    }

    BitFlips(FaultInjector faults, int rank) {
        this.faults = faults;
        this.rank = rank;
    }

    void begin(FaultPoint point, int stage, long step, int microbatch) {
        site = new FaultSite(point, rank, stage, step, microbatch, Optional.empty());
        calls.clear();
    }

    void end() {
        calls.forEach((kind, count) -> counts.put(new Counted(kind, site.point(), site.stage()), count));
        site = null;
    }

    /** Handles a result that a kernel of the current action has written; faults of this kind may strike it. */
    void made(FaultKind kind, Engine engine, Tensor result) {
        if (site == null) {
            return;
        }
        int call = calls.merge(kind, 1, Integer::sum) - 1;
        int count = counts.getOrDefault(new Counted(kind, site.point(), site.stage()), 1);
        faults.flip(kind, site, fault -> call == new SplittableRandom(fault.seed()).nextInt(count))
                .ifPresent(fault -> flip(engine, result, fault));
    }

    /** Handles the update of a stage's weights, at the end of the action in progress. */
    void updated(Engine engine, List<Tensor> weights) {
        faults.flip(FaultKind.FLIP_BIT, site, _ -> true).ifPresent(fault -> flip(engine,
                weights.get(new SplittableRandom(fault.seed()).nextInt(weights.size())), fault));
    }

    /** Handles a message before it leaves. */
    void send(Engine engine, int stage, long step, int microbatch, FaultMessage message, Tensor tensor) {
        faults.flip(FaultKind.FLIP_BIT,
                new FaultSite(FaultPoint.SEND, rank, stage, step, microbatch, Optional.of(message)), _ -> true)
                .ifPresent(fault -> flip(engine, tensor, fault));
    }

    private static void flip(Engine engine, Tensor tensor, FaultSpec fault) {
        int bytes = tensor.dataType().elementBytes();
        long count = tensor.shape().elementCount();
        long drawn = new SplittableRandom(~fault.seed()).nextLong(count);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(tensor.byteCount(), Long.BYTES);
            engine.copyToHost(tensor, 0, values);
            long largest = drawn;
            for (long near = 1; near < Math.min(NEAR, count); near++) {
                long other = (drawn + near) % count;
                if (magnitude(tensor.dataType(), values, other) > magnitude(tensor.dataType(), values, largest)) {
                    largest = other;
                }
            }
            // The byte of the sign contains the first seven bits of the exponent, which has eight bits, or eleven in
            // float64.
            long last = (largest + 1) * bytes - 1;
            MemorySegment struck = values.asSlice(largest * bytes, bytes);
            values.set(ValueLayout.JAVA_BYTE, last, (byte) (values.get(ValueLayout.JAVA_BYTE, last) ^ 1 << 5));
            engine.copyFromHost(struck, tensor, largest * bytes);
        }
    }

    /** Returns a number that grows with the absolute value. */
    private static long magnitude(DataType type, MemorySegment values, long element) {
        return switch (type) {
            case FLOAT32, INT32 -> values.getAtIndex(ValueLayout.JAVA_INT, element) & Integer.MAX_VALUE;
            case FLOAT64 -> values.getAtIndex(ValueLayout.JAVA_LONG, element) & Long.MAX_VALUE;
            case BFLOAT16 -> values.getAtIndex(ValueLayout.JAVA_SHORT, element) & Short.MAX_VALUE;
        };
    }
}
