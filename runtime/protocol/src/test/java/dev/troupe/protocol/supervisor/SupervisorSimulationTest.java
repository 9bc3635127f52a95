package dev.troupe.protocol.supervisor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random runs of three nodes under a {@link SupervisorMachine}, in virtual time: processes die at any moment, the
 * coordinator moves, nodes learn of commits late, and messages arrive after the end of their sender.
 *
 * <p>A run that is over is never started again; a run that continues is never given up, and lost processes start again while
 * the budget lasts; the launcher ends in bounded time, with the end of the run.
 */
@Tag("simulation")
class SupervisorSimulationTest {
    private static final int SEEDS = 2000;
    private static final int SHARES = 4;
    /** The share of the seeds that this build walks; {@code -Dtroupe.sweep.seed} deals another. */
    private static final long SHARE = Math.floorMod(Long.getLong("troupe.sweep.seed", 0), SHARES);
    private static final long MILLI = 1_000_000L;
    private static final long SECOND = 1000 * MILLI;
    private static final int BUDGET = 3;
    private static final List<String> NODES = List.of("a", "b", "c");

    @Test
    void shouldEndWithTheRunAndNotBefore() {
        Map<MachineEnd, Integer> ends = new HashMap<>();
        int restarts = 0;
        for (long seed = 1 + SHARE; seed <= SEEDS; seed += SHARES) {
            World world = new World(seed, new RestartBudget(BUDGET));
            world.run();
            ends.merge(world.machine.end(), 1, Integer::sum);
            restarts += world.restarts;
        }
        assertTrue(ends.getOrDefault(MachineEnd.DONE, 0) > SEEDS / SHARES / 10, ends.toString());
        assertTrue(ends.getOrDefault(MachineEnd.FAILED, 0) > SEEDS / SHARES / 10, ends.toString());
        assertTrue(ends.getOrDefault(MachineEnd.STOPPED, 0) > SEEDS / SHARES / 20, ends.toString());
        assertTrue(restarts > SEEDS / SHARES / 2, "processes start again " + restarts + " times");
    }

    /** Chaos, seed 12 of 2026-11-22: after ten restarts in 23 minutes, the launcher started no process again. */
    @Test
    void shouldStartProcessesAgainHoweverLongTheRun() {
        assertFound(() -> new RestartBudget(BUDGET) {
            private int restarts;

            @Override
            boolean next(String node, Duration lived) { // the rule before: a number of restarts in all
                return restarts++ < BUDGET;
            }
        });
        assertFound(() -> new RestartBudget(BUDGET) {
            @Override
            boolean next(String node, Duration lived) { // half of it: each node has its own, and never anew
                return super.next(node, Duration.ZERO);
            }
        });
    }

    /** Some walk finds that an old rule leaves the run without a process. */
    private static void assertFound(Supplier<RestartBudget> oldRule) {
        List<String> found = LongStream.rangeClosed(1, SEEDS).mapToObj(seed -> {
            try {
                new World(seed, oldRule.get()).run();
                return "";
            } catch (AssertionError broken) {
                return broken.getMessage();
            }
        }).filter(message -> message.contains("starts again while the budget lasts")).limit(1).toList();
        assertFalse(found.isEmpty(), "no walk of " + SEEDS + " finds the old rule");
    }

    private enum Truth {
        STARTING, RUNNING, DONE, STOPPED, FAILED
    }

    private record Moment(long nanos, long number, Runnable happens) implements Comparable<Moment> {
        @Override
        public int compareTo(Moment other) {
            return nanos != other.nanos ? Long.compare(nanos, other.nanos) : Long.compare(number, other.number);
        }
    }

    private static final class World {
        final SupervisorMachine machine;
        final long seed;
        final Random random;
        final PriorityQueue<Moment> moments = new PriorityQueue<>();
        final Map<String, SimulatedChild> children = new HashMap<>();
        final Map<String, Integer> restartsInARow = new HashMap<>();
        final long stepNanos;
        final long stepCount;
        final double kills;
        long now;
        long number;
        Truth truth = Truth.STARTING;
        String leader = "a";
        long steps;
        long commitsFromNanos;
        long overNanos;
        boolean isStopAsked;
        boolean isStopNowAsked;
        boolean isEndReported;
        boolean isLossFatal;
        boolean hasBegun;
        int restarts;

        World(long seed, RestartBudget budget) {
            this.machine = new SupervisorMachine(new SupervisorSettings(
                    NODES.stream().map(node -> new SupervisorSettings.Node(node, "here")).toList(), "a", BUDGET,
                    true, "logs"),
                    new RunRestarts(true, 1, OptionalLong.empty()), budget);
            this.seed = seed;
            this.random = new Random(seed);
            this.stepNanos = (100 + random.nextInt(1900)) * MILLI;
            this.stepCount = 20 + random.nextInt(200);
            this.kills = random.nextInt(3) == 0 ? 0 : random.nextDouble() / 30;
        }

        void run() {
            tell(new SupervisorEvent.Begin());
            in(0, this::tick);
            in(0, this::commit);
            in(0, this::strike);
            if (random.nextInt(5) == 0) {
                in(120, () -> askToStop(false));
            }
            if (random.nextInt(10) == 0) {
                in(120, () -> askToStop(true));
            }
            while (!machine.isOver()) {
                Moment moment = moments.remove();
                now = moment.nanos();
                moment.happens().run();
                require(now < 3600 * SECOND, "it ends in bounded time");
            }
            settle();
        }

        void require(boolean holds, String what) {
            assertTrue(holds, () -> "seed " + seed + " after " + now / 1e9 + " s, " + truth + ": " + what);
        }

        /** Something happens within some seconds. */
        void in(double mostSeconds, Runnable happens) {
            after((long) (random.nextDouble() * mostSeconds * SECOND), happens);
        }

        void after(long nanos, Runnable happens) {
            moments.add(new Moment(now + nanos, number++, happens));
        }

        void tell(SupervisorEvent event) {
            boolean wasOver = machine.isOver();
            List<SupervisorCommand> commands = machine.on(event, now);
            require(!wasOver || commands.isEmpty(), "no command after the end");
            commands.forEach(this::perform);
        }

        void perform(SupervisorCommand command) {
            switch (command) {
                case SupervisorCommand.StartDriver(String host) ->
                    in(2, () -> tell(new SupervisorEvent.DriverReady(host)));
                case SupervisorCommand.StartNode(String node, boolean rejoins) -> start(node, rejoins);
                case SupervisorCommand.Ask(String node, long question, boolean _) ->
                    ask(children.get(node), question);
                case SupervisorCommand.Stop(String node, boolean atOnce) -> stop(children.get(node), atOnce);
                case SupervisorCommand.End _ -> require(
                        truth != Truth.RUNNING || isStopNowAsked || living().stream().noneMatch(one -> one.hasToldRun),
                        "a run that continues is not given up");
                case SupervisorCommand.Say(String sentence) -> require(
                        !sentence.contains("continues without it") || isEndReported
                                || steps > children.get(sentence.substring(0, 1)).stepsAtEnd,
                        "a step is committed before " + sentence);
                case SupervisorCommand.Complain _ -> {
                }
                case SupervisorCommand.LaunchAgain _ -> require(false, "a run is launched again while processes live");
                case SupervisorCommand.Refuse(String why) -> require(false, why);
            }
        }

        void start(String node, boolean rejoins) {
            require(!isEndReported, "a run that is over is not started again");
            SimulatedChild former = children.put(node, new SimulatedChild(node, now));
            if (rejoins) {
                restarts++;
                require(!former.isAlive, node + " has one process");
                restartsInARow.merge(node, 1, Integer::sum);
                require(restartsInARow.get(node) <= BUDGET, "the budget is kept");
            }
            SimulatedChild child = children.get(node);
            in(10, () -> join(child, rejoins));
        }

        void join(SimulatedChild child, boolean rejoins) {
            if (!child.isAlive || truth == Truth.DONE || truth == Truth.STOPPED) {
                return; // nobody tells the process that the run is over
            }
            if (truth == Truth.FAILED) {
                in(30, () -> end(child, ProcessState.FAILED));
                return;
            }
            child.isMember = true;
            if (!rejoins && truth == Truth.STARTING
                    && NODES.stream().allMatch(node -> children.get(node).isMember && children.get(node).isAlive)) {
                truth = Truth.RUNNING;
                hasBegun = true;
                commitsFromNanos = now;
            }
        }

        void ask(SimulatedChild child, long question) {
            if (child.isAlive) {
                boolean isUp = child.isMember;
                boolean knowsRun = child.isMember && hasBegun;
                OptionalLong told = knowsRun ? OptionalLong.of(child.stepsKnown) : OptionalLong.empty();
                in(0.5, () -> {
                    child.hasToldRun |= knowsRun;
                    tell(new SupervisorEvent.Answered(child.node, question, isUp, told));
                });
            }
        }

        /** A step ends, unless the run recovers. */
        void commit() {
            after(stepNanos / 2 + random.nextLong(stepNanos), this::commit);
            if (truth != Truth.RUNNING || now < commitsFromNanos) {
                return;
            }
            steps++;
            long committed = steps;
            members().forEach(child -> in(0.15, () -> child.stepsKnown = Math.max(child.stepsKnown, committed)));
            if (steps == stepCount || isStopAsked) {
                over(steps == stepCount ? Truth.DONE : Truth.STOPPED, 3,
                        steps == stepCount ? ProcessState.DONE : ProcessState.STOPPED);
            }
        }

        void over(Truth how, double mostSeconds, ProcessState ends) {
            truth = how;
            overNanos = now;
            members().forEach(child -> in(mostSeconds, () -> end(child, ends)));
        }

        void end(SimulatedChild child, ProcessState how) {
            if (child.isAlive) {
                child.isAlive = false;
                child.endNanos = now;
                child.stepsAtEnd = steps;
                in(0.4, () -> {
                    if (now - child.startNanos >= 60 * SECOND) {
                        restartsInARow.remove(child.node);
                    }
                    isEndReported |= how == ProcessState.DONE || how == ProcessState.STOPPED;
                    tell(new SupervisorEvent.NodeEnded(child.node, how, "in some way", random.nextBoolean()));
                });
            }
        }

        /** A process is killed or gives the run up, now and then. */
        void strike() {
            in(2, this::strike);
            List<SimulatedChild> living = living();
            if (living.isEmpty() || random.nextDouble() > kills) {
                return;
            }
            SimulatedChild child = living.get(random.nextInt(living.size()));
            ProcessState how = random.nextInt(4) == 0 ? ProcessState.FAILED : ProcessState.LOST;
            end(child, how);
            if (truth == Truth.STARTING) {
                isLossFatal = how == ProcessState.LOST;
                over(Truth.FAILED, 40, ProcessState.FAILED);
                living().stream().filter(other -> !other.isMember).forEach(other -> in(40, () -> end(other,
                        ProcessState.FAILED)));
            } else if (truth == Truth.RUNNING && child.isMember) {
                lose(child, how);
            } else if (truth == Truth.DONE && child.node.equals(leader)) {
                truth = Truth.FAILED; // the model is not written
            }
        }

        void lose(SimulatedChild child, ProcessState how) {
            List<SimulatedChild> left = members();
            if (left.isEmpty() || random.nextInt(10) == 0) {
                isLossFatal = how == ProcessState.LOST;
                over(Truth.FAILED, 40, ProcessState.FAILED);
                return;
            }
            commitsFromNanos = Math.max(commitsFromNanos, now + random.nextLong(20 * SECOND));
            if (child.node.equals(leader)) {
                SimulatedChild next = left.get(random.nextInt(left.size()));
                leader = next.node;
                tell(new SupervisorEvent.TookOver(next.node)); // before the end of that process, in any case
            }
        }

        void askToStop(boolean atOnce) {
            isStopAsked = true;
            isStopNowAsked |= atOnce;
            tell(new SupervisorEvent.StopAsked(atOnce));
            if (atOnce && truth == Truth.RUNNING) {
                truth = Truth.STOPPED;
                overNanos = now;
            }
        }

        void stop(SimulatedChild child, boolean atOnce) {
            if (atOnce && random.nextInt(10) != 0 || !child.isMember) {
                in(20, () -> end(child, ProcessState.STOPPED));
            }
            if (truth == Truth.STARTING) {
                truth = Truth.STOPPED;
                overNanos = now;
                members().forEach(member -> in(5, () -> end(member, ProcessState.STOPPED)));
            }
        }

        void tick() {
            after(200 * MILLI, this::tick);
            tell(new SupervisorEvent.Tick());
            if (truth == Truth.RUNNING && !isStopAsked && now - commitsFromNanos > 15 * SECOND) {
                NODES.stream().map(children::get).filter(child -> !child.isAlive && now - child.endNanos > 15 * SECOND)
                        .forEach(child -> require(restartsInARow.getOrDefault(child.node, 0) >= BUDGET,
                                child.node + " starts again while the budget lasts"));
            }
            require(isStopAsked || isEndReported || dead().isEmpty() || hasBegun && !members().isEmpty()
                    || dead().stream().anyMatch(child -> now - child.endNanos < 6 * SECOND),
                    "nobody waits where no process knows the run");
            boolean isOver = truth == Truth.DONE || truth == Truth.STOPPED || truth == Truth.FAILED;
            require(!isOver || now - overNanos < 150 * SECOND, "the launcher ends soon after the run");
        }

        List<SimulatedChild> dead() {
            return children.values().stream().filter(child -> !child.isAlive).toList();
        }

        List<SimulatedChild> living() {
            return NODES.stream().map(children::get).filter(child -> child != null && child.isAlive).toList();
        }

        List<SimulatedChild> members() {
            return living().stream().filter(child -> child.isMember).toList();
        }

        /** Ends the processes that live at the end, as a launcher does. */
        void settle() {
            List<SimulatedChild> last = new ArrayList<>(living());
            last.forEach(child -> tell(new SupervisorEvent.NodeEnded(child.node, ProcessState.STOPPED, "", false)));
            Optional<MachineEnd> expected = switch (truth) {
                case STARTING, RUNNING -> Optional.empty();
                case DONE -> isStopAsked ? Optional.empty() : Optional.of(MachineEnd.DONE);
                case STOPPED -> Optional.empty();
                case FAILED -> isStopAsked ? Optional.empty() : Optional.of(MachineEnd.FAILED);
            };
            expected.ifPresent(end -> assertEquals(end, machine.end(), () -> "seed " + seed));
            boolean isAgain = machine.on(new SupervisorEvent.AllEnded(
                    random.nextBoolean() ? OptionalLong.of(1) : OptionalLong.empty()), now)
                    .contains(new SupervisorCommand.LaunchAgain());
            require(isStopAsked ? !isAgain : isAgain || !isLossFatal, "a run that lost a process is launched again");
        }
    }
}
