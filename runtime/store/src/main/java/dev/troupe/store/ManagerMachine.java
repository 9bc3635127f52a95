package dev.troupe.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The manager of a store: it decides on the views. A server joins in two phases: owners first copy segments to it while they
 * serve; then the next view has it, and only what has changed since is copied.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class ManagerMachine {
    private final StoreLayout layout;
    private StoreView view;
    private Optional<Joining> joining = Optional.empty();

    /** @param missing the segments of the next view that the server does not have yet */
    private record Joining(int server, StoreView next, Set<Integer> missing) {
    }

    /** @param servers the servers of the first view, which have the first parameters */
    public ManagerMachine(StoreLayout layout, List<Integer> servers) {
        this.layout = layout;
        this.view = new StoreView(1, servers);
    }

    public StoreView view() {
        return view;
    }

    /** Returns the view that owners prepare for, if a server joins. */
    public Optional<StoreView> prepares() {
        return joining.map(Joining::next);
    }

    /**
     * Begins to take in a server.
     *
     * @throws IllegalStateException if another one joins
     */
    public void join(int server) {
        if (joining.isPresent() || view.servers().contains(server)) {
            throw new IllegalStateException("one server joins at a time, and once, but found " + server + " after "
                    + joining + " and " + view);
        }
        List<Integer> servers = new ArrayList<>(view.servers());
        servers.add(server);
        StoreView next = new StoreView(view.epoch() + 1, servers);
        Set<Integer> missing = new TreeSet<>();
        List<List<Integer>> chains = layout.chains(next);
        for (int segment = 0; segment < chains.size(); segment++) {
            if (chains.get(segment).contains(server)) {
                missing.add(segment);
            }
        }
        joining = Optional.of(new Joining(server, next, missing));
        finishJoin();
    }

    /** Records that a server that joins has a segment; returns whether there is a new view. */
    public boolean onPrecopied(int server, int segment) {
        joining.filter(one -> one.server() == server).ifPresent(one -> one.missing().remove(segment));
        return finishJoin();
    }

    private boolean finishJoin() {
        Optional<Joining> complete = joining.filter(one -> one.missing().isEmpty());
        complete.ifPresent(one -> {
            view = one.next();
            joining = Optional.empty();
        });
        return complete.isPresent();
    }

    /** Takes out a server that leaves or failed; a join begins again. Returns whether there is a new view. */
    public boolean remove(int server) {
        Optional<Integer> other = joining.map(Joining::server).filter(one -> one != server);
        joining = Optional.empty();
        boolean isMember = view.servers().contains(server);
        if (isMember) {
            if (view.servers().size() == 1) {
                throw new IllegalStateException("the last server has the only copies, so it cannot leave");
            }
            view = new StoreView(view.epoch() + 1, view.servers().stream().filter(one -> one != server).toList());
        }
        other.ifPresent(this::join);
        return isMember;
    }
}
