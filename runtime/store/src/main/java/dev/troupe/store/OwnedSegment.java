package dev.troupe.store;

import dev.troupe.store.StoreMessage.Apply;
import dev.troupe.store.StoreMessage.Pull;
import dev.troupe.store.StoreMessage.Pulled;
import dev.troupe.store.StoreMessage.Push;
import dev.troupe.store.StoreMessage.Pushed;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/** The state of a segment at its owner in one epoch: answers of the other servers, and pushes and pulls that wait. */
final class OwnedSegment {
    /** The phases of an epoch. */
    enum Phase {
        /** Asks all servers for their stamps, and the one with the latest for its state. */
        COLLECTS,
        /** Gives the state to the copies. */
        INSTALLS,
        /** Applies pushes and answers pulls. */
        SERVES
    }

    /** A pull with its answer, which may be sent after the copies have the stamp. */
    record Read(Pull pull, Stamp stamp, Pulled answer) {
    }

    private final int segment;
    private final List<Integer> copies;
    private Phase phase = Phase.COLLECTS;
    /** By server; null without a state. */
    private final Map<Integer, Stamp> found = new HashMap<>();
    private final TreeSet<Integer> notInstalled = new TreeSet<>();
    /** By worker: its next push, which waits for the same of the other workers. */
    private final TreeMap<Integer, Push> pending = new TreeMap<>();
    private final Deque<Apply> unacknowledged = new ArrayDeque<>();
    private final List<Pull> tooEarly = new ArrayList<>();
    private final List<Read> reads = new ArrayList<>();
    private Stamp acknowledged = Stamp.FIRST;

    /** @param copies the other servers of the segment, in the order of the chain */
    OwnedSegment(int segment, List<Integer> copies) {
        this.segment = segment;
        this.copies = List.copyOf(copies);
    }

    int segment() {
        return segment;
    }

    List<Integer> copies() {
        return copies;
    }

    Phase phase() {
        return phase;
    }

    boolean serves() {
        return phase == Phase.SERVES;
    }

    void found(int server, Stamp stamp) {
        found.put(server, stamp);
    }

    boolean hasFound(int server) {
        return found.containsKey(server);
    }

    boolean hasFound(int server, Stamp stamp) {
        return stamp.equals(found.get(server));
    }

    boolean hasFoundAll(List<Integer> servers) {
        return found.keySet().containsAll(servers);
    }

    /** Returns a server with a later state than this one; empty if none has one. */
    Optional<Integer> later(Stamp own) {
        return found.entrySet().stream().filter(
                entry -> entry.getValue() != null && (own == null || entry.getValue().compareTo(own) > 0))
                .max(Map.Entry.comparingByValue()).map(Map.Entry::getKey);
    }

    void install() {
        phase = Phase.INSTALLS;
        notInstalled.addAll(copies);
    }

    List<Integer> notInstalled() {
        return List.copyOf(notInstalled);
    }

    void installed(int server) {
        notInstalled.remove(server);
    }

    void serve(Stamp stamp) {
        phase = Phase.SERVES;
        acknowledged = stamp;
    }

    /** Returns a push of another worker that waits, if it is of another range or time. */
    Optional<Push> unlike(Push push) {
        return pending.values().stream().filter(one -> one.worker() != push.worker()
                && (one.time() != push.time() || !one.range().equals(push.range()))).findFirst();
    }

    /**
     * Takes the next push of a worker; returns the pushes of an update if it is complete.
     *
     * @param workers the number of workers with pushes that form an update
     */
    Optional<List<Push>> update(Push push, int workers) {
        pending.put(push.worker(), push);
        if (pending.size() < workers) {
            return Optional.empty();
        }
        List<Push> all = List.copyOf(pending.values());
        pending.clear();
        return Optional.of(all);
    }

    /** Records an update; pulls that waited for it may be read from now on. */
    void applied(Apply apply, SegmentState state) {
        unacknowledged.add(apply);
        Iterator<Pull> waiting = tooEarly.iterator();
        while (waiting.hasNext()) {
            Pull pull = waiting.next();
            if (state.earliestClock(pull.range()) >= pull.needed()) {
                waiting.remove();
                reads.add(read(pull, state));
            }
        }
    }

    List<Apply> unacknowledged() {
        return List.copyOf(unacknowledged);
    }

    boolean isUnacknowledged(Push push) {
        return unacknowledged.stream().flatMap(apply -> apply.pushes().stream()).anyMatch(
                one -> one.worker() == push.worker() && one.sequence() == push.sequence());
    }

    /** Returns the answers to the pushes up to this stamp, by worker. */
    Map<Integer, Pushed> acknowledge(Stamp stamp) {
        Map<Integer, Pushed> answers = new TreeMap<>();
        while (!unacknowledged.isEmpty() && unacknowledged.peek().stamp().compareTo(stamp) <= 0) {
            Apply apply = unacknowledged.remove();
            acknowledged = apply.stamp();
            apply.pushes().forEach(push -> answers.put(push.worker(), new Pushed(segment, push.sequence())));
        }
        return answers;
    }

    /** Takes a pull; returns the answer if it need not wait. */
    Optional<Read> pull(Pull pull, SegmentState state) {
        tooEarly.removeIf(earlier -> earlier.worker() == pull.worker());
        reads.removeIf(earlier -> earlier.pull().worker() == pull.worker());
        if (state.earliestClock(pull.range()) < pull.needed()) {
            tooEarly.add(pull);
            return Optional.empty();
        }
        Read read = read(pull, state);
        if (read.stamp().compareTo(acknowledged) <= 0) {
            return Optional.of(read);
        }
        reads.add(read);
        return Optional.empty();
    }

    private static Read read(Pull pull, SegmentState state) {
        return new Read(pull, state.stamp(),
                new Pulled(pull.segment(), pull.ticket(), state.values(pull.range()),
                        state.earliestClock(pull.range())));
    }

    /** Returns the reads of states up to this stamp. */
    List<Read> readable(Stamp stamp) {
        List<Read> due = reads.stream().filter(read -> read.stamp().compareTo(stamp) <= 0).toList();
        reads.removeAll(due);
        return due;
    }
}
