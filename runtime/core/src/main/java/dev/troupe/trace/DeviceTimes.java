package dev.troupe.trace;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence.Instants;
import dev.troupe.schedule.Action;
import java.util.BitSet;
import java.util.List;

/**
 * When a device that computes late begins and ends the actions of a row, and has what a send hands to the transport. What
 * was marked is read once it is reached, each once.
 *
 * <p>Thread rule: any thread.
 */
final class DeviceTimes {
    private final Instants instants;
    private final int length;
    private final int last;
    /** The positions of actions, and behind them those of sends, whose times are still to be read. */
    private final BitSet unread = new BitSet();

    DeviceTimes(Engine engine, List<Action> row) {
        length = row.size();
        last = length - 1 - row.reversed().stream().takeWhile(action -> action.kind().isMessage()).toList().size();
        instants = engine.instants(3 * length);
    }

    /** The action at a position begins, as soon as the device has done what was asked before. */
    void begins(int position) {
        instants.mark(2 * length + position);
    }

    /**
     * The action has been asked for. The last of a row is waited for, so that all times of the row are known then.
     *
     * @return whether it was waited for
     */
    boolean ended(int position) {
        synchronized (this) {
            instants.mark(position);
            unread.set(position);
        }
        if (position == last) {
            instants.await(position);
        }
        return position == last;
    }

    /** The tensor of a send has been asked for. */
    synchronized void handed(int position) {
        instants.mark(length + position);
        unread.set(length + position);
    }

    /** The end of an action; 0 if it is not known, or was read. */
    long end(int position) {
        return read(position);
    }

    /** The start of an action whose end is known. */
    long start(int position) {
        return instants.nanos(2 * length + position);
    }

    /** When the tensor of a send was there; 0 if it is not known, or was read. */
    long handedAt(int position) {
        return read(length + position);
    }

    private synchronized long read(int mark) {
        long nanos = unread.get(mark) ? instants.nanos(mark) : 0;
        if (nanos != 0) {
            unread.clear(mark);
        }
        return nanos;
    }
}
