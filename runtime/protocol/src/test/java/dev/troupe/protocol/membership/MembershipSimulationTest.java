package dev.troupe.protocol.membership;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Membership under processes that end and come back under their old names, with false or late reports of ends. */
@Tag("simulation")
class MembershipSimulationTest {
    private static final int WALKS = 10_000;
    private static final int MOVES = 80;

    /** The former rule: every report of an end is believed. */
    private static final MembershipMachine.Rules BELIEVE_EVERY_END = new MembershipMachine.Rules() {
        @Override
        public boolean isBelieved(boolean isCertain, boolean isPresent) {
            return true;
        }
    };

    /** The former rule: a coordinator leads on from any commit that its nodes know. */
    private static final MembershipMachine.Rules LEAD_FROM_ANY_COMMIT = new MembershipMachine.Rules() {
        @Override
        public boolean mayLeadFrom(long committedSteps, long recordedSteps, int stepsPerPass) {
            return true;
        }
    };

    /** The former rule: a run without a step in its records begins as soon as all nodes with ranks have asked. */
    private static final MembershipMachine.Rules BEGIN_AT_ONCE = new MembershipMachine.Rules() {
        @Override
        public boolean mayBegin(boolean isFirst, boolean haveAllAsked) {
            return true;
        }
    };

    @Test
    void shouldKeepEveryPromiseWhicheverProcessesEndAndReturn() {
        long failures = 0;
        long committed = 0;
        for (int seed = 0; seed < WALKS; seed++) {
            MembershipWorld world = walk(seed, MembershipMachine.Rules.STANDARD);
            failures += world.outcome().isPresent() ? 1 : 0;
            committed += world.committed();
        }
        assertTrue(failures < WALKS / 2, failures + " of " + WALKS + " runs failed: most are to continue");
        assertTrue(committed > 5L * WALKS, "the runs move");
    }

    /** Chaos, seeds 12 and 13 of 2026-11-22: a process that came back was given up within 10 ms. */
    @Test
    void shouldKeepAProcessThatComesBackUnderTheNameOfOneThatEnded() {
        comeBack(MembershipMachine.Rules.STANDARD).settle();
        MembershipWorld old = comeBack(BELIEVE_EVERY_END);
        assertEquals("the process of node c lives and takes no part",
                assertThrows(AssertionError.class, old::settle).getMessage());
        assertFound("lives and takes no part", BELIEVE_EVERY_END);
    }

    private static MembershipWorld comeBack(MembershipMachine.Rules rules) {
        MembershipWorld world = begun(rules);
        world.kill("c");
        world.remove("c");
        world.tellEnds();
        world.start("c");
        world.bringUp("c");
        MembershipWorld.Process came = world.process("c").orElseThrow();
        world.ask("c");
        world.tellEnds(); // of the process before, as if it were of this one
        assertTrue(came.hostedBy.isPresent(), "it has heard what to host, and asks no more");
        return world;
    }

    /** Chaos, seed 13 of 2026-11-22: a standby led the run again from step 0 and wrote its own model. */
    @Test
    void shouldNotLeadOnFromFewerStepsThanACheckpointHas() {
        knowNothing(MembershipMachine.Rules.STANDARD);
        assertEquals("a coordinator leads on from step 0 of a run that has committed 7",
                assertThrows(AssertionError.class, () -> knowNothing(LEAD_FROM_ANY_COMMIT)).getMessage());
        assertFound("of a run that has committed", LEAD_FROM_ANY_COMMIT);
    }

    private static void knowNothing(MembershipMachine.Rules rules) {
        MembershipWorld world = begun(rules);
        for (int step = 0; step < 7; step++) {
            world.commit(3);
        }
        world.kill("c");
        world.remove("c");
        world.tellEnds();
        world.start("c");
        world.bringUp("c");
        world.ask("c"); // it is told what to host, and of no commit
        for (String name : List.of("a", "b", "d")) {
            world.kill(name);
            world.remove(name);
        }
        world.lead();
        world.ask("c");
    }

    /** The processes of all nodes with ranks are new, and ask before the standbys that know the run. */
    @Test
    void shouldNotBeginAgainIfAPresentNodeKnowsTheState() {
        MembershipWorld world = knownToStandbys(MembershipMachine.Rules.STANDARD);
        assertFalse(world.isRunning(), "it waits for the standbys");
        world.settle();
        MembershipWorld silent = knownToStandbys(MembershipMachine.Rules.STANDARD);
        for (int tick = 0; tick < 10; tick++) {
            silent.tick();
        }
        assertFalse(silent.isRunning(), "it waits for the standbys");
        silent.tick();
        assertTrue(silent.isRunning(), "it waits no longer");
        assertEquals("the run begins again, and node c knows it",
                assertThrows(AssertionError.class, () -> knownToStandbys(BEGIN_AT_ONCE)).getMessage());
        assertFound("begins again, and node", BEGIN_AT_ONCE);
    }

    private static MembershipWorld knownToStandbys(MembershipMachine.Rules rules) {
        MembershipWorld world = begun(rules);
        List.of("a", "b").forEach(world::kill);
        List.of("a", "b").forEach(world::remove);
        world.lead();
        List.of("a", "b").forEach(world::start);
        List.of("a", "b").forEach(world::bringUp);
        List.of("a", "b").forEach(world::ask);
        return world;
    }

    private static MembershipWorld begun(MembershipMachine.Rules rules) {
        MembershipWorld world = new MembershipWorld(rules);
        MembershipWorld.NAMES.forEach(world::start);
        MembershipWorld.NAMES.forEach(world::bringUp);
        world.lead();
        MembershipWorld.NAMES.forEach(world::ask);
        MembershipWorld.NAMES.forEach(world::ask);
        return world;
    }

    /** Some walk finds the failure that an old rule allows. */
    private static void assertFound(String what, MembershipMachine.Rules rules) {
        for (int seed = 0; seed < WALKS; seed++) {
            try {
                walk(seed, rules);
            } catch (AssertionError found) {
                if (found.getMessage().contains(what)) {
                    return;
                }
            }
        }
        throw new AssertionError("no walk finds that " + what);
    }

    private static MembershipWorld walk(int seed, MembershipMachine.Rules rules) {
        Random random = new Random(seed);
        MembershipWorld world = begun(rules);
        try {
            for (int move = 0; move < MOVES && world.outcome().isEmpty(); move++) {
                String name = MembershipWorld.NAMES.get(random.nextInt(MembershipWorld.NAMES.size()));
                switch (random.nextInt(16)) {
                    case 0 -> world.kill(name);
                    case 1, 2 -> world.start(name);
                    case 3, 4 -> world.bringUp(name);
                    case 5, 6 -> world.remove(name);
                    case 7 -> world.lead();
                    case 8, 9, 10 -> world.ask(name);
                    case 11 -> world.tellEnds();
                    case 12 -> world.tick();
                    default -> world.commit(3);
                }
            }
            world.settle();
            return world;
        } catch (AssertionError broken) {
            throw new AssertionError("seed " + seed + ": " + broken.getMessage(), broken);
        }
    }
}
