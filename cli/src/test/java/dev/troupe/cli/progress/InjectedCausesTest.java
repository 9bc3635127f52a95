package dev.troupe.cli.progress;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.Execution;
import dev.troupe.cli.LocalCluster;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.rank.idle.Cause;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The time that a fault adds to a step goes to the fault's cause and rank, in runs of real ranks. */
@Tag("real")
@Dealt(3)
@Timeout(900)
class InjectedCausesTest {
    /** Says that nothing else runs on this machine. */
    private static final String QUIET = "troupe.quiet";
    private static final String QUIET_ALONE = "shares of time want a quiet machine: by hand before a release, with -Dtroupe.quiet=true";
    private static final int RANKS = 4;
    private static final int SEEDS = 20;
    /** In the first steps a JVM still compiles, and waits for a core with what the fault itself does. */
    private static final int FIRST = 60;
    /** Four JVMs on two cores compile in more of the first steps than one does. */
    private static final int FIRST_OF_SEVERAL = 200;
    private static final int EVERY = 2;
    /** Behind the last fault are as many undisturbed steps as the run keeps newest ones. */
    private static final int UNDISTURBED = 20;

    @TempDir
    private Path directory;

    /** A fault, and the cause to which its time must be attributed. */
    enum Injected {
        SLOW(Cause.PRODUCER), DELAY(Cause.WIRE), FREEZE(Cause.PAUSE), COLLECT_GARBAGE(Cause.PAUSE), LATE_DATA(
                Cause.DATA), LATE_CREDIT(Cause.CREDIT);

        private final Cause cause;

        Injected(Cause cause) {
            this.cause = cause;
        }

        /**
         * Where there are more credits than one, the next message needs none of a message before it. An action that is to be
         * a thousand times as slow takes about a millisecond.
         */
        List<String> more(String engine) {
            List<String> settings = new ArrayList<>(List.of("transport.credits=" + (this == LATE_CREDIT ? 1 : 4)));
            if (this == SLOW && engine.equals("cpu")) {
                settings.add("model.sequence-length=128");
            }
            return settings;
        }

        /**
         * The fault of a seed, in a step: some second long; the stage of a rank has its number. What stops a process is
         * longer, since some 50 milliseconds of it are none: a shell is started that sends the signals, or objects are made
         * for the collector.
         */
        String draw(String engine, int seed, int step) {
            SplittableRandom random = new SplittableRandom(31L * ordinal() + seed);
            int microbatch = random.nextInt(8);
            int stage = random.nextInt(RANKS);
            String place = "stage=" + stage + " step=" + step + " microbatch=" + microbatch;
            String at = random.nextBoolean() ? " at=F" : " at=B";
            return switch (this) {
                case SLOW -> "slow " + place + at + " factor=" + (engine.equals("cpu") ? 1000 : 500);
                case FREEZE -> "freeze " + place + at + " seconds=3";
                case COLLECT_GARBAGE -> "collect-garbage " + place + at + " seconds=3";
                case LATE_DATA -> "late-data " + place.replace("stage=" + stage,
                        "stage=" + (stage % 2 == 0 ? 0 : RANKS - 1)) + " seconds=1";
                case LATE_CREDIT -> "late-credit stage=" + stage + " step=" + step + " microbatch=" + microbatch % 7
                        + " seconds=1 message="
                        + (stage == 0 || stage < RANKS - 1 && random.nextBoolean() ? "gradient" : "activation");
                case DELAY -> "delay " + place + " seconds=1 message="
                        + (stage == RANKS - 1 || stage > 0 && random.nextBoolean() ? "gradient" : "activation");
            };
        }
    }

    private static int rankOf(String fault) {
        return Integer.parseInt(fault.replaceFirst(".* stage=(\\d+) .*", "$1"));
    }

    private static List<String> settings(String engine, String... more) {
        List<String> settings = new ArrayList<>(List.of("engine.kind=" + engine, "parallel.pipeline=" + RANKS,
                "model.layers=4", "model.heads=2", "training.global-batch-size=8", "training.microbatch-size=1",
                "training.validate-every=0", "engine.threads=1"));
        settings.addAll(engine.equals("emulated")
                ? List.of("model.hidden=16", "model.sequence-length=16", "engine.emulated.forward=2ms",
                        "engine.emulated.backward-input=2ms", "engine.emulated.backward-weight=2ms")
                : List.of("model.hidden=64", "model.sequence-length=64"));
        settings.addAll(List.of(more));
        return settings;
    }

    /** Does a run in this process, or with a process for each rank. */
    private Path run(String name, int processes, List<String> settings) throws IOException {
        Path run = directory.resolve(name);
        if (processes == 1) {
            Execution.train(run, settings).requireDone();
            return run;
        }
        LocalCluster cluster = LocalCluster.of(processes);
        Path config = cluster.write(directory.resolve(name + ".conf"), "", IntStream.range(0, processes)
                .mapToObj(node -> cluster.node(node, "")).toArray(String[]::new));
        List<String> arguments = new ArrayList<>(List.of("launch", config.toString(), "--out", run.toString()));
        settings.forEach(setting -> arguments.addAll(List.of("-s", setting)));
        Execution launch = Execution.of(arguments);
        assertEquals(0, launch.exitCode(), () -> launch.output() + launch.errors());
        return run;
    }

    private static void requireCausesThatAddUp(StepIdle step) {
        assertTrue(step.error() < 0.01, () -> step + " misses " + step.error());
        assertTrue(step.nanos(Cause.UNKNOWN, _ -> true) < 0.02 * step.nanos(), step::toString);
    }

    /** The time of a step beyond undisturbed ones, of one cause and of all, in nanoseconds. */
    private record Added(long all, long ofCause, long ofMachine) {
        static Added of(List<StepIdle> usual, StepIdle step, Cause cause, IntPredicate isRoot) {
            long machine = Stream.of(Cause.CPU, Cause.PAUSE).filter(other -> other != cause)
                    .mapToLong(other -> more(usual, step, one -> one.nanos(other, _ -> true))).sum();
            return new Added(more(usual, step, StepIdle::nanos), more(usual, step, one -> one.nanos(cause, isRoot)),
                    Math.max(0, machine));
        }

        private static long more(List<StepIdle> usual, StepIdle step, ToLongFunction<StepIdle> of) {
            return of.applyAsLong(step) - StepIdle.median(usual, of);
        }

        /** The fault has no part in what the machine itself took: no core for a rank, no time for the process. */
        double share() {
            return (double) ofCause / Math.max(1, all - ofMachine);
        }
    }

    private static Added requireCause(String what, List<StepIdle> usual, StepIdle step, Cause cause,
            IntPredicate isRoot,
            double share) {
        Added added = Added.of(usual, step, cause, isRoot);
        assertTrue(added.share() >= share, () -> String.format(Locale.ROOT,
                "%s: %.1f of %.1f ms, %.1f of them the machine's, in %s", what, added.ofCause() / 1e6,
                added.all() / 1e6, added.ofMachine() / 1e6, step));
        return added;
    }

    @Tag("long")
    @EnabledIfSystemProperty(named = QUIET, matches = "true", disabledReason = QUIET_ALONE)
    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("trials")
    void shouldAttributeAddedTimeToItsCauseAndRankInOneProcess(String engine, Injected injected) throws IOException {
        require(engine, 1, injected);
    }

    @Tag("long")
    @EnabledIfSystemProperty(named = QUIET, matches = "true", disabledReason = QUIET_ALONE)
    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("trials")
    void shouldAttributeAddedTimeToItsCauseAndRankInFourProcesses(String engine, Injected injected) throws IOException {
        require(engine, RANKS, injected);
    }

    static Stream<Arguments> trials() {
        return Stream.of("emulated", "cpu")
                .flatMap(engine -> Stream.of(Injected.values()).map(injected -> Arguments.of(engine, injected)));
    }

    private void require(String engine, int processes, Injected injected) throws IOException {
        int first = processes == 1 ? FIRST : FIRST_OF_SEVERAL;
        List<String> faults = IntStream.range(0, SEEDS)
                .mapToObj(seed -> injected.draw(engine, seed, first + EVERY * seed)).toList();
        int steps = first + EVERY * SEEDS + UNDISTURBED;
        List<String> settings = settings(engine, "training.steps=" + steps,
                "faults=[\"" + String.join("\", \"", faults) + "\"]");
        settings.addAll(injected.more(engine));
        List<StepIdle> files = StepIdle.all(run("injected", processes, settings));
        List<StepIdle> undisturbed = files.stream().filter(step -> step.step() >= steps - UNDISTURBED).toList();
        List<Executable> trials = new ArrayList<>();
        AtomicInteger quiet = new AtomicInteger();
        for (int seed = 0; seed < SEEDS; seed++) {
            String fault = faults.get(seed);
            int number = first + EVERY * seed;
            // A process that is stopped stops all of its ranks.
            IntPredicate isRoot = injected.cause == Cause.PAUSE && processes == 1
                    ? _ -> true
                    : rank -> rank == rankOf(fault);
            trials.add(() -> {
                StepIdle step = step(files, number, fault);
                requireCausesThatAddUp(step);
                Added added = requireCause(fault, undisturbed, step, injected.cause, isRoot, 0.95);
                quiet.addAndGet(added.ofMachine() < 0.25 * added.all() ? 1 : 0);
            });
        }
        trials.add(
                () -> assertTrue(quiet.get() > SEEDS / 2, () -> "the machine is too busy: in " + (SEEDS - quiet.get())
                        + " of " + SEEDS + " steps it took a quarter of the time itself"));
        undisturbed.forEach(step -> trials.add(() -> requireCausesThatAddUp(step)));
        assertAll(trials);
    }

    private static StepIdle step(List<StepIdle> files, long number, String fault) {
        return files.stream().filter(one -> one.step() == number).findFirst()
                .orElseThrow(() -> new AssertionError("no file of a step with " + fault));
    }

    /**
     * One of each, with a share that a busy machine leaves: three ranks wait for each fault, which adds three seconds of
     * their time, and a thread that waits some tenths of a second for a core takes less than the rest of it. Where there is
     * one credit a message waits for those before it, so a late credit has a run of its own.
     */
    @ParameterizedTest(name = "{0} credits")
    @CsvSource(delimiter = '|', value = {
            "4 | PRODUCER, WIRE, PAUSE, DATA, PAUSE | slow stage=2 step=8 microbatch=3 at=F factor=500,"
                    + " delay stage=1 step=10 microbatch=4 seconds=1, freeze stage=0 step=12 microbatch=2 seconds=3,"
                    + " late-data stage=3 step=14 microbatch=1 seconds=1,"
                    + " collect-garbage stage=1 step=16 microbatch=2 at=F seconds=3",
            "1 | CREDIT | late-credit stage=2 step=8 microbatch=3 seconds=1 message=activation"})
    void shouldAttributeMostOfAddedTimeToItsCauseAndRank(int credits, String causes, String text) throws IOException {
        List<String> faults = List.of(text.split(", "));
        int lastFaulty = 8 + 2 * (faults.size() - 1);
        List<StepIdle> files = StepIdle.all(run("injected", 1,
                settings("emulated", "transport.credits=" + credits, "training.steps=" + (lastFaulty + 6),
                        "faults=[\"" + String.join("\", \"", faults) + "\"]")));
        List<StepIdle> undisturbed = files.stream()
                .filter(step -> step.step() > lastFaulty || step.step() % 2 == 1).toList();
        for (int index = 0; index < faults.size(); index++) {
            String fault = faults.get(index);
            Cause cause = Cause.valueOf(causes.split(", ")[index]);
            StepIdle step = step(files, 8 + 2 * index, fault);
            requireCausesThatAddUp(step);
            requireCause(fault, undisturbed, step, cause, rank -> cause == Cause.PAUSE || rank == rankOf(fault), 0.7);
        }
    }
}
