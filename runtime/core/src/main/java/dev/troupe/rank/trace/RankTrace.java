package dev.troupe.rank.trace;

import dev.troupe.engine.Engine;
import dev.troupe.rank.idle.RankTimes;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.ObjLongConsumer;

/**
 * The actions of one incarnation of a rank in the training step in progress, with their times. Recording allocates nothing.
 *
 * <p>With an asynchronous engine the times of actions and sends are the device's: an action begins when all earlier work is
 * done. They are marked when the rank requests the work. They are read when the rank has waited for the device: at a norm,
 * and at the last action of the row.
 *
 * <p>Thread rule: {@link #begins}, {@link #ended} and additions inside an action on the rank's thread, {@link #landed} and
 * {@link #sent} on the transport's, {@link #stepBegins}, {@link #computed} and {@link #take} on the thread of the rank's
 * actor.
 */
public final class RankTrace {
    private final int rank;
    private final int epoch;
    private final Pauses pauses;
    private final List<Action> row;
    private final Map<Action, Integer> positions = new HashMap<>();
    /** Null if the engine is synchronous. */
    private final DeviceTimes device;
    // By position, in nanoseconds of System.nanoTime; 0 if nothing was recorded.
    private final long[] starts;
    private final long[] ends;
    private final long[] group;
    private final long[] data;
    private final long[] dataEnds;
    private final long[] cpu;
    private final AtomicLongArray moved;
    private final AtomicLongArray credit;
    private final long[] bytes;
    // The begun events of the JDK Flight Recorder; null if they are not recorded.
    private final AtomicReferenceArray<FlightEvents.Message> messages;
    private FlightEvents.Action event;
    private volatile long step;
    private RunDelay delay;
    private long delayed;
    private long delayedStep = -1;
    private int doing = -1;
    private long beginNanos;

    public RankTrace(int rank, int epoch, List<Action> row, Pauses pauses, Engine engine) {
        this.rank = rank;
        this.epoch = epoch;
        this.row = List.copyOf(row);
        this.pauses = pauses;
        this.device = engine.computesLate() ? new DeviceTimes(engine, row) : null;
        for (int position = 0; position < row.size(); position++) {
            positions.put(row.get(position), position);
        }
        starts = new long[row.size()];
        ends = new long[row.size()];
        group = new long[row.size()];
        data = new long[row.size()];
        dataEnds = new long[row.size()];
        cpu = new long[row.size()];
        moved = new AtomicLongArray(row.size());
        credit = new AtomicLongArray(row.size());
        bytes = new long[row.size()];
        messages = new AtomicReferenceArray<>(row.size());
    }

    public void stepBegins(long number) {
        step = number;
        beginNanos = System.nanoTime();
    }

    public void begins(Action action) {
        if (delay == null) {
            delay = RunDelay.ofThisThread();
            delayed = delay.nanos();
        }
        doing = positions.get(action);
        starts[doing] = System.nanoTime();
        if (delayedStep != step) { // validation and a checkpoint come between the steps
            delayedStep = step;
            delayed = Math.max(delayed, delay.nanos() - (starts[doing] - beginNanos));
        }
        if (device != null) {
            device.begins(doing);
        }
        group[doing] = 0;
        data[doing] = 0;
        event = FlightEvents.Action.begun();
        if (event != null) {
            event.step = step;
            event.rank = rank;
            event.action = action.toString();
            event.kind = action.kind().code();
        }
    }

    /** Ends the action in progress; {@code groupNanos} of it were waits for other ranks of its groups. */
    public void ended(long groupNanos) {
        if (event != null) {
            event.commit();
            event = null;
        }
        ends[doing] = System.nanoTime();
        group[doing] = groupNanos;
        long delayedNow = delay.nanos();
        cpu[doing] = delayedNow - delayed;
        delayed = delayedNow;
        if (device != null) {
            if (device.ended(doing) || row.get(doing).kind() == Kind.NORM) {
                readDevice();
            }
        }
        doing = -1;
    }

    /** Replaces the times of requests by the device's times of completed work. */
    private void readDevice() {
        for (int position = 0; position < starts.length; position++) {
            long end = device.end(position);
            if (end != 0) {
                place(position, device.start(position), end);
            }
            long handed = device.handedAt(position);
            if (handed != 0) {
                moved.set(position, handed);
            }
        }
    }

    /**
     * Sets the device's times of an action. Host time in it counts only if the device was idle meanwhile, as far as that is
     * known.
     */
    private void place(int position, long start, long end) {
        starts[position] = start;
        ends[position] = end;
        long idleFrom = Math.max(start, dataEnds[position] - data[position]);
        data[position] = Math.clamp(Math.min(end, dataEnds[position]) - idleFrom, 0, data[position]);
        group[position] = Math.min(group[position], end - start - data[position]);
        FlightEvents.DeviceAction.commit(step, rank, row.get(position), start - beginNanos, end - start);
    }

    /** Returns whether times are a device's, which {@link #computed} reports. */
    public boolean isOfDevice() {
        return device != null;
    }

    /** Reports the device's computing time of each action of the step that is known to be done. */
    public void computed(ObjLongConsumer<Action> each) {
        for (int position = 0; position < starts.length; position++) {
            if (row.get(position).kind().isCompute() && ends[position] != 0) {
                each.accept(row.get(position), ends[position] - starts[position] - group[position]);
            }
        }
    }

    /** Reads a microbatch's rows, inside an action. */
    public void reads(Runnable read) {
        long start = System.nanoTime();
        read.run();
        if (doing >= 0) {
            dataEnds[doing] = System.nanoTime();
            data[doing] += dataEnds[doing] - start;
        }
    }

    public void landed(Action receive) {
        moved.set(positions.get(receive), System.nanoTime());
    }

    /** Records that the transport gets the tensor of a send. */
    public void handed(Action send, long byteCount) {
        int position = positions.get(send);
        bytes[position] = byteCount;
        moved.set(position, System.nanoTime());
        if (device != null) {
            device.handed(position);
        }
        FlightEvents.Message message = FlightEvents.Message.begun();
        if (message != null) {
            message.step = step;
            message.rank = rank;
            message.send = send.toString();
            message.bytes = byteCount;
            messages.set(position, message);
        }
    }

    /** Records that the message of a send has left; it waited {@code creditNanos} for a credit. */
    public void sent(Action send, long creditNanos) {
        int position = positions.get(send);
        credit.set(position, creditNanos);
        FlightEvents.Message message = messages.getAndSet(position, null);
        if (message != null) {
            message.withoutCredit = creditNanos;
            message.commit();
        }
    }

    /** Returns and clears the times of the step that has ended. */
    public RankTimes take() {
        if (device != null) {
            readDevice();
        }
        int length = starts.length;
        RankTimes times = new RankTimes(rank, epoch, beginNanos, taken(starts), taken(ends), new long[length],
                group.clone(), data.clone(), cpu.clone(), new long[length], bytes.clone(), pauses.since(beginNanos));
        for (int position = 0; position < length; position++) {
            times.moved()[position] = since(moved.getAndSet(position, 0));
            times.creditNanos()[position] = credit.getAndSet(position, 0);
        }
        return times;
    }

    private long[] taken(long[] instants) {
        long[] since = new long[instants.length];
        for (int position = 0; position < since.length; position++) {
            since[position] = since(instants[position]);
            instants[position] = 0;
        }
        return since;
    }

    /**
     * Returns the time since the beginning of the step, at least 1: a message may land before the rank receives the step.
     */
    private long since(long instant) {
        return instant == 0 ? 0 : Math.max(1, instant - beginNanos);
    }

    /** Ends the trace with the rank's thread. */
    public void close() {
        if (delay != null) {
            delay.close();
        }
    }
}
