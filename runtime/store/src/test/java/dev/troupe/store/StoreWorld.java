package dev.troupe.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.store.Party.Sent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * A simulated store: its machines, a network that loses, repeats and reorders messages and parts, and servers that end.
 * Every push has numbers of its own, and the servers add them up, so that a lost or repeated push changes a sum.
 */
final class StoreWorld {
    static final int WORKERS = 2;
    static final int TIMES = 4;
    private static final int FIRST_SERVERS = 4;
    private static final int MOST_SERVERS = 7;
    private static final StoreLayout LAYOUT = new StoreLayout(40, 8, WORKERS, StoreLayout.USUAL_COPIES, 5);
    private static final KeyRange ALL = new KeyRange(0, LAYOUT.keyCount());
    /** Inside a segment. */
    private static final long CUT = 13;
    private static final int MOST_ROUNDS = 60;
    private static final int MOST_MESSAGES = 100_000;

    /** A worker pulls once for each time, so tickets count from 1. */
    private record Read(long ticket, long clock) {
    }

    private final Random random;
    private final Consistency consistency;
    private final ServerMachine.Rules rules;
    private final Map<Integer, ServerMachine> servers = new TreeMap<>();
    private final List<WorkerMachine> workers = new ArrayList<>();
    private final ManagerMachine manager = new ManagerMachine(LAYOUT,
            IntStream.range(0, FIRST_SERVERS).boxed().toList());
    private final List<Sent> network = new ArrayList<>();
    /** By worker: its next time, and whether it has pulled for it. */
    private final long[] times = new long[WORKERS];
    private final Set<Integer> pulling = new HashSet<>();
    private final double[] expected = new double[(int) LAYOUT.keyCount()];
    /** By worker and segment: its last read. */
    private final Map<List<Integer>, Read> reads = new HashMap<>();
    private Optional<Integer> cutOff = Optional.empty();
    private int nextServer = FIRST_SERVERS;
    private int delivered;
    private int endsAt = -1;

    StoreWorld(long seed, Consistency consistency, ServerMachine.Rules rules) {
        this.random = new Random(seed);
        this.consistency = consistency;
        this.rules = rules;
        for (int id = 0; id < FIRST_SERVERS; id++) {
            start(id).begin(range -> new double[range.count()]);
        }
        for (int id = 0; id < WORKERS; id++) {
            workers.add(new WorkerMachine(id, LAYOUT, consistency));
        }
        announce();
    }

    private ServerMachine start(int id) {
        ServerMachine server = new ServerMachine(id, LAYOUT, new ServerFunction.Sgd(-1), consistency, rules);
        servers.put(id, server);
        return server;
    }

    /** Ends the server that receives this message, right after it has received it; its answers are lost. */
    StoreWorld endingAt(int message) {
        endsAt = message;
        return this;
    }

    int delivered() {
        return delivered;
    }

    /** Tells everybody who is connected the view. */
    private void announce() {
        servers.forEach((id, server) -> {
            if (!isCutOff(Party.server(id)) && random.nextInt(10) < 7) { // to the others at the next tick
                network.addAll(server.onView(manager.view()));
            }
        });
        workers.forEach(worker -> network.addAll(worker.onView(manager.view())));
    }

    private boolean isCutOff(Party party) {
        return party.kind() == Party.Kind.SERVER && cutOff.filter(one -> one == party.number()).isPresent();
    }

    /** Delivers a message of the network, in any order; a cut-off server has no connection. */
    private void deliver() {
        Sent sent = network.remove(random.nextInt(network.size()));
        if (isCutOff(sent.from()) || isCutOff(sent.to())) {
            return;
        }
        switch (sent.to().kind()) {
            case MANAGER -> {
                if (manager.onPrecopied(sent.from().number(), sent.message().segment())) {
                    announce();
                }
            }
            case WORKER -> {
                if (sent.message() instanceof StoreMessage.Pulled pulled) {
                    check(sent.to().number(), pulled);
                }
                network.addAll(workers.get(sent.to().number()).on(sent.message()));
            }
            case SERVER -> {
                ServerMachine server = servers.get(sent.to().number());
                if (server != null) {
                    List<Sent> answers = server.on(sent);
                    if (delivered++ == endsAt) {
                        end(sent.to().number());
                    } else {
                        network.addAll(answers);
                    }
                }
            }
        }
    }

    /** A worker never reads an older state than before, or one that its consistency does not permit. */
    private void check(int worker, StoreMessage.Pulled pulled) {
        Read before = reads.getOrDefault(List.of(worker, pulled.segment()), new Read(0, 0));
        if (pulled.ticket() > before.ticket()) {
            assertTrue(pulled.clock() >= before.clock(), "worker " + worker + " reads segment " + pulled.segment()
                    + " at clock " + pulled.clock() + " after " + before.clock());
            long needed = consistency.needed(pulled.ticket() - 1);
            assertTrue(pulled.clock() >= needed, "worker " + worker + " reads segment " + pulled.segment()
                    + " at clock " + pulled.clock() + ", but needs " + needed);
            reads.put(List.of(worker, pulled.segment()), new Read(pulled.ticket(), pulled.clock()));
        }
    }

    private void end(int server) {
        servers.remove(server);
        if (cutOff.filter(one -> one == server).isPresent()) {
            cutOff = Optional.empty();
        }
    }

    /** Lets the manager notice a server that has ended or is cut off. */
    private void notice() {
        for (int server : manager.view().servers()) {
            boolean isGone = !servers.containsKey(server) || isCutOff(Party.server(server));
            if (isGone && manager.view().servers().size() > 1) {
                manager.remove(server);
                announce();
                return;
            }
        }
        manager.prepares().ifPresent(next -> {
            int joining = next.servers().stream().filter(one -> !manager.view().servers().contains(one)).findFirst()
                    .orElseThrow();
            if (!servers.containsKey(joining)) {
                manager.remove(joining);
            }
        });
    }

    /** A worker begins a time with a pull, and ends it with a push. */
    private void work(int id) {
        WorkerMachine worker = workers.get(id);
        if (times[id] == TIMES) {
            return;
        }
        if (pulling.add(id)) {
            network.addAll(worker.pull(times[id], ALL));
            return;
        }
        if (worker.pulled().isPresent()) {
            pulling.remove(id);
            List<KeyRange> ranges = times[id] % 2 == 0
                    ? List.of(ALL)
                    : List.of(new KeyRange(0, CUT), new KeyRange(CUT, ALL.end()));
            for (KeyRange range : ranges) {
                double[] gradient = random.ints(range.count(), 1, 1 << 20).asDoubleStream().toArray();
                for (int i = 0; i < gradient.length; i++) {
                    expected[(int) range.first() + i] += gradient[i];
                }
                network.addAll(worker.push(times[id], range, gradient));
            }
            times[id]++;
        }
    }

    private void tick() {
        servers.forEach((id, server) -> {
            network.addAll(server.tick());
            manager.prepares().ifPresent(next -> network.addAll(server.onPrepare(next)));
            // A lost announcement is repeated.
            if (!isCutOff(Party.server(id))) {
                network.addAll(server.onView(manager.view()));
            }
        });
        workers.forEach(worker -> network.addAll(worker.tick()));
    }

    /** Does some random thing; at most two servers are away at a time. */
    void move() {
        int what = random.nextInt(100);
        if (what < 70 && !network.isEmpty()) {
            deliver();
        } else if (what < 76 && !network.isEmpty()) {
            network.remove(random.nextInt(network.size()));
        } else if (what < 80 && !network.isEmpty()) {
            network.add(network.get(random.nextInt(network.size())));
        } else if (what < 90) {
            work(random.nextInt(WORKERS));
        } else if (what < 94) {
            tick();
        } else if (what < 96) {
            notice();
        } else {
            disturb();
        }
    }

    private void disturb() {
        boolean isSettled = isWhole();
        switch (random.nextInt(4)) {
            case 0 -> { // two at once, each of which may be a neighbour of the other
                for (int count = random.nextInt(1, 3); isSettled && count > 0
                        && manager.view().servers().size() > 3; count--) {
                    List<Integer> members = manager.view().servers().stream().filter(servers::containsKey).toList();
                    end(members.get(random.nextInt(members.size())));
                }
            }
            case 1 -> {
                if (manager.prepares().isEmpty()) {
                    List<Integer> outside = servers.keySet().stream().filter(
                            server -> !manager.view().servers().contains(server) && !isCutOff(Party.server(server)))
                            .toList();
                    if (!outside.isEmpty()) { // with the state that it had
                        manager.join(outside.getFirst());
                    } else if (servers.size() < MOST_SERVERS) {
                        start(nextServer);
                        manager.join(nextServer++);
                    }
                }
            }
            case 2 -> {
                if (isSettled && cutOff.isEmpty() && manager.view().servers().size() > 2) {
                    cutOff = Optional.of(manager.view().servers().get(random.nextInt(manager.view().servers().size())));
                } else {
                    heal();
                }
            }
            default -> {
                if (isSettled && manager.view().servers().size() > 3) {
                    manager.remove(manager.view().servers().get(random.nextInt(manager.view().servers().size())));
                    announce();
                }
            }
        }
    }

    /** The network heals; a server that was taken out of the view meanwhile stays out of it, with its old state. */
    private void heal() {
        cutOff = Optional.empty();
    }

    /** Whether every segment is served, with all copies: then two more servers may fail. */
    private boolean isWhole() {
        return cutOff.isEmpty() && servers.keySet().containsAll(manager.view().servers())
                && manager.view().servers().stream().mapToInt(server -> servers.get(server).serves().size())
                        .sum() == LAYOUT.segmentCount();
    }

    /** Heals the network; then everything must come to its end. */
    void finish() {
        heal();
        for (int round = 0; round < MOST_ROUNDS && !isDone(); round++) {
            notice();
            for (int worker = 0; worker < WORKERS; worker++) {
                work(worker);
            }
            tick();
            for (int message = 0; !network.isEmpty(); message++) {
                assertTrue(message < MOST_MESSAGES, "the messages have no end");
                deliver();
            }
        }
        assertTrue(isDone(), "the store is stuck at the times " + times[0] + " and " + times[1]);
        for (int segment = 0; segment < LAYOUT.segmentCount(); segment++) {
            KeyRange range = LAYOUT.range(segment);
            double[] wanted = new double[range.count()];
            System.arraycopy(expected, (int) range.first(), wanted, 0, wanted.length);
            for (int holder : LAYOUT.chains(manager.view()).get(segment)) {
                assertArrayEquals(wanted, servers.get(holder).state(segment).orElseThrow().values(),
                        "the sums of segment " + segment + " on server " + holder);
            }
        }
    }

    private boolean isDone() {
        return isWhole() && manager.prepares().isEmpty() && network.isEmpty()
                && IntStream.range(0, WORKERS).allMatch(id -> times[id] == TIMES && workers.get(id).isPushed());
    }
}
