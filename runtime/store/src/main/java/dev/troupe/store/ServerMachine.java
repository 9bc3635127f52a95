package dev.troupe.store;

import dev.troupe.store.Party.Sent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A server of a store. It owns some segments, and has copies of others.
 *
 * <p>A push is applied by the owner, then by each copy along the chain, and acknowledged when all have it; pushes that form
 * one update are added up first, so they travel once (replication after aggregation, Li et al. 2014, section 4.4). A worker
 * repeats a push until it is acknowledged, and the sequence numbers in every copy distinguish a repeated one.
 *
 * <p>At a change of the view the new owner collects the stamps of all servers, takes the latest state, and gives it to the
 * copies before it serves. An acknowledged push is on all servers of its chain, so one of these that remains suffices. A
 * server that has seen the new view takes no part in the old one, which can acknowledge nothing more.
 *
 * <p>Thread rule: none; one caller at a time. {@link #tick} repeats what was not answered.
 */
public final class ServerMachine {
    /**
     * The rules without which pushes are lost or applied twice; a test takes one away.
     *
     * @param waitsForChain whether a push is acknowledged after every copy has it
     * @param copiesSequences whether a state has its sequence numbers when it is copied
     * @param fencesEpochs whether messages of an earlier epoch are dropped
     * @param takesLatest whether a new owner takes the latest state of all servers, not its own if it has one
     * @param knowsRepeats whether a push that was applied is not applied again
     */
    record Rules(boolean waitsForChain, boolean copiesSequences, boolean fencesEpochs, boolean takesLatest,
            boolean knowsRepeats) {
        static final Rules WHOLE = new Rules(true, true, true, true, true);
    }

    private final int id;
    private final StoreLayout layout;
    private final ServerFunction function;
    private final Consistency consistency;
    private final Rules rules;
    private final Map<Integer, SegmentState> states = new TreeMap<>();
    private final Map<Integer, OwnedSegment> owned = new TreeMap<>();
    private StoreView view = new StoreView(0, List.of());
    private List<List<Integer>> chains = List.of();
    private List<Sent> sent = new ArrayList<>();

    /**
     * Creates a server without segments.
     *
     * @param id distinguishes it from every other server, also from an earlier one of the same process
     */
    public ServerMachine(int id, StoreLayout layout, ServerFunction function, Consistency consistency) {
        this(id, layout, function, consistency, Rules.WHOLE);
    }

    ServerMachine(int id, StoreLayout layout, ServerFunction function, Consistency consistency, Rules rules) {
        this.id = id;
        this.layout = layout;
        this.function = function;
        this.consistency = consistency;
        this.rules = rules;
    }

    /** Gives a server of the first view its parameters, which every one of them can create. */
    public void begin(Function<KeyRange, double[]> values) {
        for (int segment = 0; segment < layout.segmentCount(); segment++) {
            KeyRange range = layout.range(segment);
            states.put(segment, SegmentState.first(range, values.apply(range), function, layout.workers()));
        }
    }

    /** Returns the state of a segment, if this server has one. */
    Optional<SegmentState> state(int segment) {
        return Optional.ofNullable(states.get(segment));
    }

    /** Returns the segments that this server owns and serves. */
    public List<Integer> serves() {
        return owned.values().stream().filter(OwnedSegment::serves).map(OwnedSegment::segment).toList();
    }

    /** Takes a new view; returns the messages to send. */
    public List<Sent> onView(StoreView next) {
        if (next.epoch() <= view.epoch()) {
            return List.of();
        }
        view = next;
        chains = layout.chains(next);
        owned.clear();
        for (int segment = 0; segment < chains.size(); segment++) {
            List<Integer> chain = chains.get(segment);
            if (chain.getFirst() == id) {
                owned.put(segment, new OwnedSegment(segment, chain.subList(1, chain.size())));
                owned.get(segment).found(id, stampOf(segment));
            }
        }
        return tick();
    }

    private Stamp stampOf(int segment) {
        return state(segment).map(SegmentState::stamp).orElse(null);
    }

    /** The first phase of a join: copies segments to a server that will have them. */
    public List<Sent> onPrepare(StoreView next) {
        List<List<Integer>> later = layout.chains(next);
        for (OwnedSegment one : owned.values()) {
            if (one.serves()) {
                later.get(one.segment()).stream().filter(server -> !view.servers().contains(server))
                        .forEach(server -> send(Party.server(server),
                                new StoreMessage.Precopy(one.segment(), copyOf(one.segment()))));
            }
        }
        return taken();
    }

    private SegmentState copyOf(int segment) {
        SegmentState state = states.get(segment);
        return rules.copiesSequences() ? state.copy() : state.withoutSequences();
    }

    /** Repeats every message that needs an answer and has none yet. */
    public List<Sent> tick() {
        for (OwnedSegment one : owned.values()) {
            switch (one.phase()) {
                case COLLECTS -> collect(one);
                case INSTALLS -> one.notInstalled().forEach(server -> install(one, server));
                case SERVES -> one.unacknowledged().forEach(apply -> forward(apply, one.copies().getFirst()));
            }
            proceed(one);
        }
        return taken();
    }

    private void collect(OwnedSegment one) {
        for (int server : view.servers()) {
            if (!one.hasFound(server)) {
                send(Party.server(server), new StoreMessage.Collect(view.epoch(), one.segment()));
            }
        }
        if (one.hasFoundAll(view.servers())) {
            one.later(stampOf(one.segment())).ifPresent(server -> send(Party.server(server),
                    new StoreMessage.Fetch(view.epoch(), one.segment())));
        }
    }

    private void install(OwnedSegment one, int server) {
        Stamp stamp = stampOf(one.segment());
        send(Party.server(server), new StoreMessage.Install(view.epoch(), one.segment(), stamp,
                one.hasFound(server, stamp) ? null : copyOf(one.segment())));
    }

    /** Goes from phase to phase if nothing is missing. */
    private void proceed(OwnedSegment one) {
        int segment = one.segment();
        if (one.phase() == OwnedSegment.Phase.COLLECTS && states.containsKey(segment)
                && (one.hasFoundAll(view.servers()) && one.later(stampOf(segment)).isEmpty()
                        || !rules.takesLatest())) {
            one.install();
            one.notInstalled().forEach(server -> install(one, server));
        }
        if (one.phase() == OwnedSegment.Phase.INSTALLS && one.notInstalled().isEmpty()) {
            one.serve(stampOf(segment));
        }
    }

    /** Handles a message; returns the messages to send. */
    public List<Sent> on(Sent received) {
        StoreMessage message = received.message();
        int from = received.from().number();
        if (message instanceof StoreMessage.OfEpoch ofEpoch && ofEpoch.epoch() != view.epoch()
                && (rules.fencesEpochs() || ofEpoch.epoch() > view.epoch())) {
            return List.of();
        }
        switch (message) {
            case StoreMessage.Push push -> onPush(push);
            case StoreMessage.Pull pull -> onPull(pull);
            case StoreMessage.Collect collect -> send(received.from(),
                    new StoreMessage.Found(view.epoch(), collect.segment(), stampOf(collect.segment())));
            case StoreMessage.Found found -> onOwned(found.segment(), one -> {
                one.found(from, found.stamp());
                if (one.phase() == OwnedSegment.Phase.COLLECTS) {
                    collect(one);
                }
            });
            case StoreMessage.Fetch fetch -> state(fetch.segment()).ifPresent(_ -> send(received.from(),
                    new StoreMessage.Fetched(view.epoch(), fetch.segment(), copyOf(fetch.segment()))));
            case StoreMessage.Fetched fetched -> onOwned(fetched.segment(), one -> {
                if (one.phase() == OwnedSegment.Phase.COLLECTS) {
                    states.put(fetched.segment(), fetched.state());
                    one.found(id, fetched.state().stamp());
                }
            });
            case StoreMessage.Install install -> onInstall(install, received.from());
            case StoreMessage.Installed installed -> onOwned(installed.segment(), one -> one.installed(from));
            case StoreMessage.Apply apply -> onApply(apply);
            case StoreMessage.Applied applied -> onApplied(applied);
            case StoreMessage.Precopy precopy -> onPrecopy(precopy);
            case StoreMessage.Pushed _,StoreMessage.Refused _,StoreMessage.Pulled _,StoreMessage.Precopied _ ->
                throw new IllegalArgumentException("a server has no use for " + message);
        }
        return taken();
    }

    private void onOwned(int segment, Consumer<OwnedSegment> work) {
        OwnedSegment one = owned.get(segment);
        if (one != null) {
            work.accept(one);
            proceed(one);
        }
    }

    private void onPush(StoreMessage.Push push) {
        OwnedSegment one = owned.get(push.segment());
        if (one == null || !one.serves()) {
            return; // the worker repeats it, to the owner of its view
        }
        long applied = states.get(push.segment()).sequence(push.worker());
        if (rules.knowsRepeats() && push.sequence() <= applied) {
            if (!one.isUnacknowledged(push)) {
                send(Party.worker(push.worker()), new StoreMessage.Pushed(push.segment(), push.sequence()));
            }
        } else if (push.sequence() <= applied + 1) {
            one.unlike(push).ifPresentOrElse(other -> refuse(push, other),
                    () -> one.update(push, consistency.addsUp() ? layout.workers() : 1)
                            .ifPresent(pushes -> apply(one, pushes)));
        }
    }

    private void refuse(StoreMessage.Push push, StoreMessage.Push other) {
        send(Party.worker(push.worker()), new StoreMessage.Refused(push.segment(), push.sequence(),
                "with sequential consistency every worker pushes the same ranges at the same times, but found "
                        + push.range() + " at time " + push.time() + " of worker " + push.worker() + ", and "
                        + other.range() + " at time " + other.time() + " of worker " + other.worker()));
    }

    private void apply(OwnedSegment one, List<StoreMessage.Push> pushes) {
        Stamp stamp = new Stamp(view.epoch(), stampOf(one.segment()).version() + 1);
        states.get(one.segment()).apply(stamp, pushes, function);
        StoreMessage.Apply apply = new StoreMessage.Apply(view.epoch(), one.segment(), stamp, pushes);
        one.applied(apply, states.get(one.segment()));
        if (!one.copies().isEmpty()) {
            forward(apply, one.copies().getFirst());
        }
        if (one.copies().isEmpty() || !rules.waitsForChain()) {
            acknowledge(one, stamp);
        }
    }

    private void forward(StoreMessage.Apply apply, int server) {
        send(Party.server(server), apply);
    }

    /** Answers the pushes and pulls that waited for the copies to have this stamp. */
    private void acknowledge(OwnedSegment one, Stamp stamp) {
        one.acknowledge(stamp).forEach((worker, answer) -> send(Party.worker(worker), answer));
        one.readable(stamp).forEach(this::answer);
    }

    private void onPull(StoreMessage.Pull pull) {
        OwnedSegment one = owned.get(pull.segment());
        if (one != null && one.serves()) {
            one.pull(pull, states.get(pull.segment())).ifPresent(this::answer);
        }
    }

    private void answer(OwnedSegment.Read read) {
        send(Party.worker(read.pull().worker()), read.answer());
    }

    private void onInstall(StoreMessage.Install install, Party owner) {
        if (install.state() != null && !install.stamp().equals(stampOf(install.segment()))
                && (stampOf(install.segment()) == null || stampOf(install.segment()).epoch() < view.epoch())) {
            states.put(install.segment(), install.state());
        }
        if (install.stamp().equals(stampOf(install.segment()))) {
            send(owner, new StoreMessage.Installed(view.epoch(), install.segment()));
        }
    }

    /** Applies the next update of a chain and hands it on; one that this server has is handed on again. */
    private void onApply(StoreMessage.Apply apply) {
        Stamp own = stampOf(apply.segment());
        if (own == null || apply.stamp().version() > own.version() + 1) {
            return; // an earlier one was lost, and is sent again first
        }
        if (apply.stamp().version() == own.version() + 1) {
            states.get(apply.segment()).apply(apply.stamp(), apply.pushes(), function);
        } else if (apply.stamp().compareTo(own) > 0) {
            return;
        }
        List<Integer> chain = chains.get(apply.segment());
        int next = chain.indexOf(id) + 1;
        if (next < chain.size()) {
            forward(apply, chain.get(next));
        } else {
            onApplied(new StoreMessage.Applied(view.epoch(), apply.segment(), apply.stamp()));
        }
    }

    private void onApplied(StoreMessage.Applied applied) {
        int place = chains.get(applied.segment()).indexOf(id);
        if (place > 0) {
            send(Party.server(chains.get(applied.segment()).get(place - 1)), applied);
        } else {
            onOwned(applied.segment(), one -> acknowledge(one, applied.stamp()));
        }
    }

    private void onPrecopy(StoreMessage.Precopy precopy) {
        Stamp own = stampOf(precopy.segment());
        if (!view.servers().contains(id) && (own == null || own.compareTo(precopy.state().stamp()) < 0)) {
            states.put(precopy.segment(), precopy.state());
        }
        send(Party.MANAGER, new StoreMessage.Precopied(precopy.segment()));
    }

    private void send(Party to, StoreMessage message) {
        sent.add(new Sent(Party.server(id), to, message));
    }

    private List<Sent> taken() {
        List<Sent> taken = sent;
        sent = new ArrayList<>();
        return taken;
    }
}
