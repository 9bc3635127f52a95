package dev.troupe.store;

import dev.troupe.store.Party.Sent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A worker of a store: it cuts pushes and pulls at the borders of segments, and repeats each piece until the owner of the
 * segment answers. The pushes to a segment arrive in order, one after the other.
 *
 * <p>Thread rule: none; one caller at a time. {@link #tick} repeats what was not answered.
 */
public final class WorkerMachine {
    private final int id;
    private final StoreLayout layout;
    private final Consistency consistency;
    private final Map<Integer, Long> sequences = new TreeMap<>();
    private final Map<Integer, Deque<StoreMessage.Push>> pushes = new TreeMap<>();
    private final Map<Integer, StoreMessage.Pull> pulls = new TreeMap<>();
    private StoreView view = new StoreView(0, List.of());
    private List<List<Integer>> chains = List.of();
    private long ticket;
    private Optional<Reading> reading = Optional.empty();

    /** The values of a pull, so far. */
    private record Reading(KeyRange range, double[] values) {
    }

    public WorkerMachine(int id, StoreLayout layout, Consistency consistency) {
        this.id = id;
        this.layout = layout;
        this.consistency = consistency;
    }

    /** Takes a new view; returns the messages to send. */
    public List<Sent> onView(StoreView next) {
        if (next.epoch() > view.epoch()) {
            view = next;
            chains = layout.chains(next);
        }
        return tick();
    }

    /**
     * Pushes a gradient. With sequential consistency every worker pushes the same ranges at the same times.
     *
     * @param time the worker's time, at least the time of its last push to any of the keys
     * @param gradient one number for each key of the range
     */
    public List<Sent> push(long time, KeyRange range, double[] gradient) {
        if (gradient.length != range.count()) {
            throw new IllegalArgumentException(range + " has " + range.count() + " keys, but the gradient has "
                    + gradient.length + " numbers");
        }
        for (int segment : layout.segmentsOf(range)) {
            KeyRange part = layout.range(segment).and(range).orElseThrow();
            double[] ofPart = new double[part.count()];
            System.arraycopy(gradient, (int) (part.first() - range.first()), ofPart, 0, ofPart.length);
            pushes.computeIfAbsent(segment, _ -> new ArrayDeque<>()).add(new StoreMessage.Push(segment, id,
                    sequences.merge(segment, 1L, Long::sum), time, part, ofPart));
        }
        return tick();
    }

    /** Returns whether every push is acknowledged. */
    public boolean isPushed() {
        return pushes.values().stream().allMatch(Deque::isEmpty);
    }

    /** Asks for parameters, as the consistency permits at a time. There is one pull at a time. */
    public List<Sent> pull(long time, KeyRange range) {
        if (!pulls.isEmpty()) {
            throw new IllegalStateException("worker " + id + " has a pull that is not answered yet");
        }
        ticket++;
        reading = Optional.of(new Reading(range, new double[range.count()]));
        for (int segment : layout.segmentsOf(range)) {
            pulls.put(segment, new StoreMessage.Pull(segment, id, ticket,
                    layout.range(segment).and(range).orElseThrow(), consistency.needed(time)));
        }
        return tick();
    }

    /** Returns the parameters once the whole range is answered. */
    public Optional<double[]> pulled() {
        return pulls.isEmpty() ? reading.map(Reading::values) : Optional.empty();
    }

    /** Repeats every message that has no answer yet. */
    public List<Sent> tick() {
        List<Sent> sent = new ArrayList<>();
        if (!chains.isEmpty()) {
            pushes.values()
                    .forEach(ofSegment -> Optional.ofNullable(ofSegment.peek()).ifPresent(push -> send(sent, push)));
            pulls.values().forEach(pull -> send(sent, pull));
        }
        return sent;
    }

    private void send(List<Sent> sent, StoreMessage message) {
        sent.add(new Sent(Party.worker(id), Party.server(chains.get(message.segment()).getFirst()), message));
    }

    /**
     * Handles a message; returns the messages to send.
     *
     * @throws IllegalStateException with the reason if a push was refused
     */
    public List<Sent> on(StoreMessage message) {
        List<Sent> sent = new ArrayList<>();
        switch (message) {
            case StoreMessage.Pushed pushed -> {
                Deque<StoreMessage.Push> ofSegment = pushes.get(pushed.segment());
                if (ofSegment != null && !ofSegment.isEmpty() && ofSegment.peek().sequence() == pushed.sequence()) {
                    ofSegment.remove();
                    Optional.ofNullable(ofSegment.peek()).ifPresent(push -> send(sent, push));
                }
            }
            case StoreMessage.Refused refused -> throw new IllegalStateException(refused.reason());
            case StoreMessage.Pulled pulled -> onPulled(pulled);
            default -> throw new IllegalArgumentException("a worker has no use for " + message);
        }
        return sent;
    }

    private void onPulled(StoreMessage.Pulled pulled) {
        StoreMessage.Pull pull = pulled.ticket() == ticket ? pulls.remove(pulled.segment()) : null;
        if (pull != null) {
            Reading whole = reading.orElseThrow();
            System.arraycopy(pulled.values(), 0, whole.values(),
                    (int) (pull.range().first() - whole.range().first()), pull.range().count());
        }
    }
}
