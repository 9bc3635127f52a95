package dev.troupe.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The ring, the clocks, the server functions, and one server with two workers. */
@Tag("plan")
class StorePartsTest {
    private static final int VIRTUAL_NODES = 64;
    private static final int KEYS = 20_000;

    /**
     * The share of one of n + 1 servers with V points each on a random circle has the distribution Beta(V, nV), so variance
     * p (1 - p) / ((n + 1) V + 1); the sample of keys adds p (1 - p) / keys.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 7, 15})
    void shouldMoveAnEqualShareOfTheKeysToANewServer(int servers) {
        HashRing before = new HashRing(IntStream.range(0, servers).boxed().toList(), VIRTUAL_NODES);
        for (int added = servers; added < servers + 5; added++) {
            int one = added;
            HashRing after = new HashRing(IntStream.range(0, servers + 1)
                    .map(server -> server == servers ? one : server).boxed().toList(), VIRTUAL_NODES);
            long moved = LongStream.range(0, KEYS).filter(key -> before.owner(key) != after.owner(key)).count();
            assertTrue(LongStream.range(0, KEYS).filter(key -> before.owner(key) != after.owner(key))
                    .allMatch(key -> after.owner(key) == one), "a key moved between two old servers");
            double share = 1.0 / (servers + 1);
            double variance = share * (1 - share)
                    * (1.0 / ((servers + 1.0) * VIRTUAL_NODES + 1) + 1.0 / KEYS);
            assertEquals(share, moved / (double) KEYS, 3 * Math.sqrt(variance), "server " + one);
        }
    }

    @Test
    void shouldCopyAKeyToTheNextServers() {
        HashRing ring = new HashRing(List.of(0, 1, 2, 3, 4), VIRTUAL_NODES);
        HashRing without = new HashRing(List.of(0, 1, 3, 4), VIRTUAL_NODES);
        for (long key = 0; key < 1000; key++) {
            List<Integer> holders = ring.holders(key, 3);
            assertEquals(3, holders.stream().distinct().count());
            List<Integer> left = ring.holders(key, 5).stream().filter(server -> server != 2).toList();
            assertEquals(left, without.holders(key, 5), "the next server takes over");
        }
        assertEquals(2, new HashRing(List.of(8, 9), 1).holders(1, 3).size());
    }

    /** Against one clock for each key and worker. */
    @Test
    void shouldSplitRangesWithoutChangingAnotherClock() {
        Random random = new Random(3);
        KeyRange all = new KeyRange(10, 60);
        for (int trial = 0; trial < 200; trial++) {
            RangeClocks clocks = new RangeClocks(all, 3);
            long[][] naive = new long[60][3];
            for (int time = 1; time < 12; time++) {
                long first = random.nextLong(10, 59);
                KeyRange range = new KeyRange(first, random.nextLong(first + 1, 61));
                int worker = random.nextInt(3);
                clocks.set(range, worker, time);
                for (long key = range.first(); key < range.end(); key++) {
                    naive[(int) key][worker] = time;
                }
                long from = random.nextLong(10, 59);
                KeyRange read = new KeyRange(from, random.nextLong(from + 1, 61));
                assertEquals(LongStream.range(read.first(), read.end())
                        .flatMap(key -> LongStream.of(naive[(int) key])).min().orElseThrow(), clocks.earliest(read));
                assertTrue(clocks.rangeCount() <= 2 * time + 1, "a range for each end of a set");
            }
            for (long key = 10; key < 60; key++) {
                for (int worker = 0; worker < 3; worker++) {
                    assertEquals(naive[(int) key][worker], clocks.of(key, worker));
                }
            }
        }
    }

    @Test
    void shouldRefuseAClockThatGoesBack() {
        RangeClocks clocks = new RangeClocks(new KeyRange(0, 9), 1);
        clocks.set(new KeyRange(2, 5), 0, 4);
        assertThrows(IllegalArgumentException.class, () -> clocks.set(new KeyRange(4, 9), 0, 3));
    }

    private final StoreLayout small = new StoreLayout(8, 8, 2, 1, 1);
    private final ServerMachine server = new ServerMachine(0, small, new ServerFunction.Sgd(-1),
            Consistency.SEQUENTIAL);
    private final List<WorkerMachine> workers = IntStream.range(0, 2)
            .mapToObj(id -> new WorkerMachine(id, small, Consistency.SEQUENTIAL)).toList();

    private void begin() {
        StoreView view = new StoreView(1, List.of(0));
        server.begin(range -> new double[range.count()]);
        server.onView(view);
        workers.forEach(worker -> worker.onView(view));
    }

    private void deliver(List<Party.Sent> messages) {
        messages.stream().flatMap(sent -> server.on(sent).stream())
                .forEach(answer -> deliver(workers.get(answer.to().number()).on(answer.message())));
    }

    @Test
    void shouldWaitForTheKeysOfAPullAlone() {
        begin();
        KeyRange pushed = new KeyRange(2, 5);
        deliver(workers.get(0).push(0, pushed, new double[]{1, 2, 3}));
        deliver(workers.get(1).push(0, pushed, new double[]{4, 5, 6}));
        deliver(workers.get(0).pull(1, new KeyRange(3, 5)));
        assertArrayEquals(new double[]{7, 9}, workers.get(0).pulled().orElseThrow());
        deliver(workers.get(0).pull(1, new KeyRange(3, 6)));
        assertTrue(workers.get(0).pulled().isEmpty(), "nobody has pushed key 5");
    }

    /** The worker learns it, and the server serves the others. */
    @Test
    void shouldRefuseAnotherRangeThanTheOtherWorkersHave() {
        begin();
        deliver(workers.get(0).push(0, new KeyRange(0, 2), new double[2]));
        String refusal = assertThrows(IllegalStateException.class,
                () -> deliver(workers.get(1).push(0, new KeyRange(0, 3), new double[3]))).getMessage();
        assertTrue(refusal.contains("end=3] at time 0 of worker 1") && refusal.contains("end=2] at time 0 of worker 0"),
                refusal);
        assertEquals(List.of(0), server.serves());
    }

    /** Two steps from 1 with gradients 0.5 and -0.25, by PyTorch 2.13 in float64. */
    @Test
    void shouldUpdateAsPyTorchDoes() {
        assertUpdates(0.975, new ServerFunction.Sgd(0.1));
        assertUpdates(NESTEROV, new ServerFunction.Nesterov(0.1, 0.9));
        assertUpdates(ADAGRAD, new ServerFunction.Adagrad(0.1, 1e-10));
        assertUpdates(ADAMW, new ServerFunction.AdamW(0.1, 0.9, 0.95, 1e-8, 0.1));
    }

    private static final double NESTEROV = 0.912;
    private static final double ADAGRAD = 0.9447213595619958;
    private static final double ADAMW = 0.8542630578558273;

    private static void assertUpdates(double expected, ServerFunction function) {
        double[][] state = new double[function.stateCount()][1];
        double value = function.updated(1, 0.5, state, 0, 1);
        assertEquals(expected, function.updated(value, -0.25, state, 0, 2), 1e-15, function.toString());
    }
}
