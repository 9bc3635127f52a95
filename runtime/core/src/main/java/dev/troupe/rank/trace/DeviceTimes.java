package dev.troupe.rank.trace;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence.Instants;
import dev.troupe.schedule.Action;
import java.util.BitSet;
import java.util.List;

/**
 * The times at which a device that computes late begins and ends the actions of a row, and has the tensor of a send ready.
 * Each mark is read once, after it is reached.
 *
 * <p>Thread rule: any thread.
 */
final class DeviceTimes {
    private final Instants instants;
    private final int length;
    private final int last;
    /** The positions of actions, and after them the positions of sends, with times still to be read. */
    private final BitSet unread = new BitSet();

    DeviceTimes(Engine engine, List<Action> row) {
        length = row.size();
        last = length - 1 - row.reversed().stream().takeWhile(action -> action.kind().isMessage()).toList().size();
        instants = engine.instants(3 * length);
    }

    /** Marks the beginning of the action at a position: the device has done all earlier work. */
    void begins(int position) {
        instants.mark(2 * length + position);
    }

    /**
     * Marks the end of an action that has been requested. The last of a row is waited for, so that all times of the row are
     * known then.
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

    /** Marks the tensor of a send that has been requested. */
    synchronized void handed(int position) {
        instants.mark(length + position);
        unread.set(length + position);
    }

    /** Returns the end of an action; 0 if it is not known, or was read. */
    long end(int position) {
        return read(position);
    }

    /** Returns the start of an action with a known end. */
    long start(int position) {
        return instants.nanos(2 * length + position);
    }

    /** Returns the time at which the tensor of a send was ready; 0 if it is not known, or was read. */
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
