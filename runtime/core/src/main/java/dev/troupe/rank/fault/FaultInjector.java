package dev.troupe.rank.fault;

import dev.troupe.config.fault.FaultKind;
import dev.troupe.config.fault.FaultMessage;
import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.engine.provider.LostDeviceException;
import dev.troupe.plan.checkpoint.CheckpointException;
import dev.troupe.plan.error.InjectedFault;
import dev.troupe.protocol.rank.Rows;
import dev.troupe.weights.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The injector of a run's faults on a node. At the points of a step it throws, waits or does damage if a fault is due. Each
 * fault is written to the {@link FaultLog} first. Thread rule: any thread.
 */
public final class FaultInjector implements AutoCloseable {
    /** The injector without faults: every call returns at once. */
    public static final FaultInjector NONE = new FaultInjector(List.of(), Path.of(""), "", new ProcessDamage());

    private static final Logger LOG = LoggerFactory.getLogger(FaultInjector.class);
    private static final Duration SLOW_BEAT = Duration.ofMillis(100);
    /** Kinds that strike when a rank passes a point, and need nothing else of the rank. */
    private static final Set<FaultKind> STRIKING = EnumSet.of(FaultKind.EXCEPTION, FaultKind.OUT_OF_MEMORY,
            FaultKind.HANG, FaultKind.STOP_SCHEDULE_ACTOR, FaultKind.EXIT, FaultKind.KILL, FaultKind.FREEZE,
            FaultKind.COLLECT_GARBAGE, FaultKind.KILL_DRIVER, FaultKind.CUT_CONTROL, FaultKind.CUT_DATA,
            FaultKind.CUT_BOTH,
            FaultKind.KILL_COORDINATOR, FaultKind.DISK_FULL, FaultKind.LOSE_DEVICE, FaultKind.CLOCK_JUMP);
    private static final Set<FaultKind> SLOWING = EnumSet.of(FaultKind.SLOW);
    private static final Set<FaultKind> LATE = EnumSet.of(FaultKind.LATE_DATA);
    private static final Set<FaultKind> OF_CREDITS = EnumSet.of(FaultKind.LATE_CREDIT);
    private static final Set<FaultKind> OF_MESSAGES = EnumSet.of(FaultKind.DROP, FaultKind.DUPLICATE,
            FaultKind.REORDER, FaultKind.DELAY, FaultKind.CORRUPT);

    private final List<FaultSpec> faults;
    private final AtomicIntegerArray usedUp;
    private final FaultLog log;
    private final String node;
    private final NodeDamage damage;
    private final AtomicLong clockAheadNanos = new AtomicLong();
    /** For each rank the latch that ends its hang. */
    private final Map<Integer, CountDownLatch> retired = new ConcurrentHashMap<>();
    /** For each rank the delay of the next credit that it grants. */
    private final Map<Integer, Long> lateCreditNanos = new ConcurrentHashMap<>();
    private final Map<Integer, Consumer<RuntimeException>> stoppers = new ConcurrentHashMap<>();
    private volatile boolean closed;

    private FaultInjector(List<FaultSpec> faults, Path runDirectory, String node, NodeDamage damage) {
        this.faults = List.copyOf(faults);
        this.usedUp = new AtomicIntegerArray(faults.size());
        this.log = new FaultLog(runDirectory);
        this.node = node;
        this.damage = damage;
    }

    /**
     * Creates the injector of a node; {@link #NONE} if there are no faults.
     *
     * @param runDirectory the directory of {@value FaultLog#FILE}; it must exist
     */
    public static FaultInjector of(List<FaultSpec> faults, Path runDirectory, String node, NodeDamage damage) {
        if (faults.isEmpty()) {
            return NONE;
        }
        FaultInjector injector = new FaultInjector(faults, runDirectory, node, damage);
        injector.log.prepare(FiredFault.of(faults.getFirst(), 0, node, new FaultSite(FaultPoint.FORWARD, 0, 0, 0, 0,
                Optional.empty()), System.currentTimeMillis()));
        return injector;
    }

    public boolean isIdle() {
        return faults.isEmpty();
    }

    /**
     * Injects the faults of a point that a rank passes once for each microbatch.
     *
     * @throws InjectedFault if an exception is due, or a hung rank was given up
     * @throws OutOfMemoryError if such an error is due
     * @throws LostDeviceException if a lost device is due
     * @throws CheckpointException if a full disk is due
     */
    public void at(FaultPoint point, int rank, int stage, long step, int microbatch) {
        if (!faults.isEmpty()) {
            at(new FaultSite(point, rank, stage, step, microbatch, Optional.empty()));
        }
    }

    /** As {@link #at(FaultPoint, int, int, long, int)}, for a point that comes once in a step. */
    public void at(FaultPoint point, int rank, int stage, long step) {
        at(point, rank, stage, step, FaultSite.NO_MICROBATCH);
    }

    /** As {@link #at(FaultPoint, int, int, long, int)}, for a message that is sent or received. */
    public void at(FaultPoint point, int rank, int stage, long step, int microbatch, FaultMessage message) {
        if (!faults.isEmpty()) {
            at(new FaultSite(point, rank, stage, step, microbatch, Optional.of(message)));
        }
    }

    private void at(FaultSite site) {
        // The latch is read before the fault is logged, since the coordinator may give the rank up at once.
        CountDownLatch givenUp = latch(site.rank());
        due(STRIKING, site).ifPresent(fault -> strike(fault, site, givenUp));
        if (site.point() == FaultPoint.RECEIVE) {
            due(OF_CREDITS, site).ifPresent(fault -> lateCreditNanos.put(site.rank(), nanos(fault)));
        }
    }

    /** Runs an action after the faults of its point, and more slowly if such a fault is due. */
    public <T> T around(FaultPoint point, int rank, int stage, long step, int microbatch, Supplier<T> action) {
        if (faults.isEmpty()) {
            return action.get();
        }
        FaultSite site = new FaultSite(point, rank, stage, step, microbatch, Optional.empty());
        at(site);
        CountDownLatch givenUp = latch(rank);
        Optional<FaultSpec> slow = due(SLOWING, site);
        long start = System.nanoTime();
        T result = action.get();
        slow.ifPresent(fault -> rest(rank, givenUp, (long) ((fault.factor() - 1) * (System.nanoTime() - start))));
        return result;
    }

    /** Delays the read of a microbatch's rows, if such a fault is due. */
    public void reads(int rank, int stage, long step, int microbatch) {
        if (!faults.isEmpty()) {
            CountDownLatch givenUp = latch(rank);
            due(LATE, new FaultSite(FaultPoint.FORWARD, rank, stage, step, microbatch, Optional.empty()))
                    .ifPresent(fault -> rest(rank, givenUp, nanos(fault)));
        }
    }

    /** Returns the delay of a credit that a rank grants, in nanoseconds; called once for each credit. */
    long creditLateNanos(int rank) {
        return Objects.requireNonNullElse(lateCreditNanos.remove(rank), 0L);
    }

    /** Returns the fault of a message of a stage; called once for each message. */
    Optional<FaultSpec> ofMessage(int rank, int stage, long step, int microbatch, FaultMessage message) {
        return due(OF_MESSAGES, new FaultSite(FaultPoint.SEND, rank, stage, step, microbatch, Optional.of(message)));
    }

    public RankFaults ofRank(int rank, Rows rows) {
        return new RankFaults(this, rank, rows);
    }

    boolean flipsBits() {
        return faults.stream().anyMatch(fault -> fault.kind().reach() == FaultKind.Reach.BITS
                || fault.kind().reach() == FaultKind.Reach.NORMS);
    }

    /** Returns the fault that flips a bit at a site, if there is one and it is meant for this result of the action. */
    Optional<FaultSpec> flip(FaultKind kind, FaultSite site, Predicate<FaultSpec> isMeant) {
        return faults.stream().filter(fault -> fault.kind() == kind && site.matches(fault)).findFirst()
                .filter(isMeant).flatMap(_ -> due(EnumSet.of(kind), site));
    }

    /** Whether the snapshot of a stage after a step is to be lost; called once, when it is taken. */
    public boolean losesSnapshot(int rank, int stage, long step) {
        return strikes(FaultKind.LOSE_SNAPSHOT, FaultPoint.COMMIT, rank, stage, step);
    }

    /** Whether a rank's part of a checkpoint is to be damaged; called once, when it is written. */
    public boolean corruptsCheckpoint(int rank, int stage, long step) {
        return strikes(FaultKind.CORRUPT_CHECKPOINT, FaultPoint.CHECKPOINT, rank, stage, step);
    }

    private boolean strikes(FaultKind kind, FaultPoint point, int rank, int stage, long step) {
        return !faults.isEmpty()
                && due(EnumSet.of(kind),
                        new FaultSite(point, rank, stage, step, FaultSite.NO_MICROBATCH, Optional.empty()))
                        .isPresent();
    }

    /** Returns the first fault of these kinds that strikes at a site, and logs it. */
    private Optional<FaultSpec> due(Set<FaultKind> kinds, FaultSite site) {
        for (int index = 0; index < faults.size(); index++) {
            FaultSpec fault = faults.get(index);
            if (kinds.contains(fault.kind()) && usedUp.get(index) == 0 && site.matches(fault) && site.isDrawn(fault)
                    && (fault.kind() != FaultKind.KILL_COORDINATOR || damage.leads()) && claim(index, site)) {
                return Optional.of(fault);
            }
        }
        return Optional.empty();
    }

    private boolean claim(int index, FaultSite site) {
        FaultSpec fault = faults.get(index);
        FaultLog.Claim claim = log.claim(
                FiredFault.of(fault, index, node, site, System.currentTimeMillis()), site, fault.times());
        return switch (claim) {
            case STRIKES -> {
                LOG.info("the fault \"{}\" strikes at {}", fault, site);
                yield true;
            }
            case PAST -> false;
            case USED_UP -> {
                usedUp.set(index, 1);
                yield false;
            }
        };
    }

    private void strike(FaultSpec fault, FaultSite site, CountDownLatch givenUp) {
        Duration length = Duration.ofNanos(nanos(fault));
        switch (fault.kind()) {
            case EXCEPTION -> throw new InjectedFault(words(fault));
            case OUT_OF_MEMORY -> throw outOfMemory(fault);
            case HANG -> hang(fault, site.rank(), givenUp);
            case STOP_SCHEDULE_ACTOR -> stop(fault, site.rank());
            case LOSE_DEVICE -> throw new LostDeviceException(words(fault));
            case EXIT -> damage.exit();
            case KILL, KILL_COORDINATOR -> damage.kill();
            case FREEZE -> damage.freeze(length);
            case COLLECT_GARBAGE -> damage.collectGarbage(length);
            case KILL_DRIVER -> damage.killDriver();
            case CUT_CONTROL -> damage.cutControl(length);
            case CUT_DATA -> damage.cutData(length);
            case CUT_BOTH -> damage.cutBoth(length);
            case DISK_FULL -> throw new CheckpointException(
                    "cannot write the checkpoint's part of rank " + site.rank() + ": No space left on device ("
                            + words(fault) + ")",
                    new IOException("No space left on device"));
            case CLOCK_JUMP -> clockAheadNanos.addAndGet(length.toNanos());
            case SLOW, LATE_DATA, LATE_CREDIT, DROP, DUPLICATE, REORDER, DELAY, CORRUPT, CORRUPT_CHECKPOINT,
                    LOSE_SNAPSHOT, FLIP_BIT,
                    FLIP_NORM_BIT ->
                throw new IllegalStateException(fault + " does not strike by itself");
        }
    }

    private static long nanos(FaultSpec fault) {
        return (long) (fault.seconds() * 1e9);
    }

    private static String words(FaultSpec fault) {
        return InjectedFault.PREFIX + fault;
    }

    private static OutOfMemoryError outOfMemory(FaultSpec fault) {
        OutOfMemoryError error = new OutOfMemoryError(words(fault));
        error.setStackTrace(new StackTraceElement[0]); // as an InjectedFault has none
        return error;
    }

    private static void hang(FaultSpec fault, int rank, CountDownLatch givenUp) {
        try {
            givenUp.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        throw new InjectedFault(words(fault) + ", until rank " + rank + " was given up");
    }

    /** Waits, at most until the rank is given up; the rank's pulse beats meanwhile, as the pulse of a slow rank does. */
    private static void rest(int rank, CountDownLatch givenUp, long nanos) {
        long end = System.nanoTime() + nanos;
        try {
            for (long left = nanos; left > 0; left = end - System.nanoTime()) {
                if (givenUp.await(Math.min(left, SLOW_BEAT.toNanos()), TimeUnit.NANOSECONDS)) {
                    throw new InjectedFault("rank " + rank + " was slow until it was given up");
                }
                Progress.moved();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private CountDownLatch latch(int rank) {
        CountDownLatch latch = retired.computeIfAbsent(rank, _ -> new CountDownLatch(1));
        if (closed) {
            latch.countDown();
        }
        return latch;
    }

    private void stop(FaultSpec fault, int rank) {
        Consumer<RuntimeException> stopper = stoppers.get(rank);
        if (stopper == null) {
            throw new IllegalStateException("rank " + rank + " has no actor");
        }
        stopper.accept(new InjectedFault(words(fault)));
    }

    /** Registers the action that makes a rank's actor fail; only the last registration of a rank is used. */
    public void onStop(int rank, Consumer<RuntimeException> stopper) {
        if (!faults.isEmpty()) {
            stoppers.put(rank, stopper);
        }
    }

    /** Ends the hang of a rank that was given up; its successor may hang again. */
    public void retire(int rank) {
        CountDownLatch latch = retired.remove(rank);
        if (latch != null) {
            latch.countDown();
        }
    }

    /** Returns a clock in nanoseconds that jumps with the faults of the node. */
    public LongSupplier clock(LongSupplier nanos) {
        return faults.isEmpty() ? nanos : () -> nanos.getAsLong() + clockAheadNanos.get();
    }

    @Override
    public void close() {
        closed = true;
        retired.values().forEach(CountDownLatch::countDown);
    }
}
