package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.emulated.EmulatedEngineProvider;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.Need;
import dev.troupe.engine.provider.Work;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.engine.reference.ReferenceEngineProvider;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Engines of another kind, with gates at which stages wait: a state of the run lasts until the test has seen it. */
public final class GatedEngineProvider extends TestEngineProvider {
    private static final String KIND = "gated";
    /** How often each stage was started. */
    private static final Map<Integer, Integer> STARTS = new ConcurrentHashMap<>();
    private static volatile EngineProvider other = new ReferenceEngineProvider();
    private static volatile List<Gate> gates = List.of();

    /** For {@link java.util.ServiceLoader}. */
    public GatedEngineProvider() {
        super(KIND);
    }

    /**
     * A gate that one stage meets in each step from one on, in front of the step's first forward, until a test opens it.
     *
     * @param stage the stage, the only one of its rank
     * @param start of the stage: 0 is the start of the run, 1 the start after the first failure of its rank
     * @param step the first step with the gate, from the first after the start
     * @param most the longest wait of a step; of less than five seconds, the page does not call the run stalled
     */
    public record Gate(int stage, int start, int step, Duration most, CountDownLatch isOpen) {
        public Gate(int stage, int start, int step, Duration most) {
            this(stage, start, step, most, new CountDownLatch(1));
        }

        /** The stage no longer waits. */
        public void open() {
            isOpen.countDown();
        }

        private void pass() {
            try {
                isOpen.await(most.toNanos(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt(); // the rank is given up
            }
        }
    }

    /** Emulated engines meet the gates from now on; returns the setting that picks them. */
    public static String emulated(List<Gate> met) {
        return over(new EmulatedEngineProvider(), met);
    }

    /** Reference engines meet the gates from now on; returns the setting that picks them. */
    public static String reference(List<Gate> met) {
        return over(new ReferenceEngineProvider(), met);
    }

    private static String over(EngineProvider provider, List<Gate> met) {
        other = provider;
        gates = List.copyOf(met);
        STARTS.clear();
        return "engine.kind=" + KIND;
    }

    /** The clock of a rank with one stage. */
    private static final class GatedClock implements WorkClock {
        private final WorkClock clock;
        private int start = -1;
        private int step;
        private boolean hasBegun;

        GatedClock(WorkClock clock) {
            this.clock = clock;
        }

        @Override
        public void begins(int stage, Work work) {
            if (start < 0) {
                start = STARTS.merge(stage, 1, Integer::sum) - 1;
            }
            if (work == Work.FORWARD && !hasBegun) {
                hasBegun = true;
                gates.stream().filter(gate -> gate.stage() == stage && gate.start() == start && gate.step() <= step)
                        .forEach(Gate::pass);
            } else if (work == Work.UPDATE) {
                hasBegun = false;
                step++;
            }
            clock.begins(stage, work);
        }

        @Override
        public void ends() {
            clock.ends();
        }
    }

    @Override
    public Optional<String> obstacle(Need need) {
        return other.obstacle(need);
    }

    @Override
    public Engine create(EngineSettings settings) {
        return other.create(settings);
    }

    @Override
    public WorkClock clock(EngineSettings settings) {
        return new GatedClock(other.clock(settings));
    }
}
