package dev.troupe.rank.trace;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence.Instants;
import dev.troupe.schedule.Action;
import java.util.BitSet;
import java.util.List;

/**
 * The times at which an asynchronous device begins and ends the actions of a row, and completes the tensors of sends. Each
 * mark is read once, after the device has reached it. Thread rule: any thread.
 */
final class DeviceTimes {
    private final Instants instants;
    private final int length;
    private final int last;
    /** The positions of actions, and after them the positions of sends, with times that are not read yet. */
    private final BitSet unread = new BitSet();

    DeviceTimes(Engine engine, List<Action> row) {
        length = row.size();
        last = length - 1 - row.reversed().stream().takeWhile(action -> action.kind().isMessage()).toList().size();
        instants = engine.instants(3 * length);
    }

    /** Marks the beginning of the action at a position: all earlier work is done. */
    void begins(int position) {
        instants.mark(2 * length + position);
    }

    /**
     * Marks the end of a requested action. At the last action of a row it waits, so that all times of the row are known
     * then.
     *
     * @return whether it waited
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

    /** Marks the tensor of a requested send. */
    synchronized void handed(int position) {
        instants.mark(length + position);
        unread.set(length + position);
    }

    /** Returns the end of an action; 0 if it is unknown, or was read already. */
    long end(int position) {
        return read(position);
    }

    long start(int position) {
        return instants.nanos(2 * length + position);
    }

    /** Returns the time at which the tensor of a send was ready; 0 if it is unknown, or was read already. */
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
