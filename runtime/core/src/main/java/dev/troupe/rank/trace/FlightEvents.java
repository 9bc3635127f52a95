package dev.troupe.rank.trace;

import java.util.Collection;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/**
 * The events of a run for the JDK Flight Recorder, in the category Troupe. Without a recording they cost nothing. Thread
 * rule: any thread.
 */
public final class FlightEvents {
    private FlightEvents() {
    }

    /**
     * An action of a rank, from its start to its end, on the rank's thread. With an asynchronous engine this is the time of
     * the request; {@link DeviceAction} has the device's time.
     */
    @Name("dev.troupe.Action")
    @Label("Action")
    @Category("Troupe")
    @StackTrace(false)
    static final class Action extends Event {
        private static final Action PROBE = new Action();

        @Label("Step")
        long step;
        @Label("Rank")
        int rank;
        @Label("Action")
        String action;
        @Label("Kind")
        String kind;

        /** Returns an event that has begun; null if actions are not recorded. */
        static Action begun() {
            if (!PROBE.isEnabled()) {
                return null;
            }
            Action event = new Action();
            event.begin();
            return event;
        }
    }

    /** The time of an action on an asynchronous device; committed when it is known, after a norm or at the row's end. */
    @Name("dev.troupe.DeviceAction")
    @Label("Action on the Device")
    @Category("Troupe")
    @StackTrace(false)
    static final class DeviceAction extends Event {
        private static final DeviceAction PROBE = new DeviceAction();

        @Label("Step")
        long step;
        @Label("Rank")
        int rank;
        @Label("Action")
        String action;
        @Label("Kind")
        String kind;
        @Label("Start After the Begin of the Step")
        @Timespan(Timespan.NANOSECONDS)
        long start;
        @Label("Time on the Device")
        @Timespan(Timespan.NANOSECONDS)
        long time;

        /** Commits an action, if such events are recorded. */
        static void commit(long step, int rank, dev.troupe.schedule.Action action, long start, long time) {
            if (PROBE.isEnabled()) {
                DeviceAction event = new DeviceAction();
                event.step = step;
                event.rank = rank;
                event.action = action.toString();
                event.kind = action.kind().code();
                event.start = start;
                event.time = time;
                event.commit();
            }
        }
    }

    /** A message of a rank, from its hand-over to the transport until its last frame has left. */
    @Name("dev.troupe.Message")
    @Label("Message")
    @Category("Troupe")
    @StackTrace(false)
    static final class Message extends Event {
        private static final Message PROBE = new Message();

        @Label("Step")
        long step;
        @Label("Rank")
        int rank;
        @Label("Send")
        String send;
        @Label("Bytes")
        @DataAmount
        long bytes;
        @Label("Time Without Credit")
        @Timespan(Timespan.NANOSECONDS)
        long withoutCredit;

        /** Returns an event that has begun; null if messages are not recorded. */
        static Message begun() {
            if (!PROBE.isEnabled()) {
                return null;
            }
            Message event = new Message();
            event.begin();
            return event;
        }
    }

    @Name("dev.troupe.Step")
    @Label("Training Step")
    @Category("Troupe")
    @StackTrace(false)
    static final class Step extends Event {
        @Label("Step")
        long step;
        @Label("Epoch")
        int epoch;
        @Label("Loss")
        double loss;
        @Label("Wall Time")
        @Timespan(Timespan.SECONDS)
        double seconds;
    }

    @Name("dev.troupe.Epoch")
    @Label("Epoch")
    @Category("Troupe")
    @StackTrace(false)
    static final class Epoch extends Event {
        @Label("Epoch")
        int epoch;
        @Label("Committed Steps")
        long stepsDone;
        @Label("Restarted Ranks")
        String ranks;
        @Label("Reason")
        String reason;
    }

    /** Commits a committed step, {@code seconds} after its beginning. */
    public static void step(long step, int epoch, double loss, double seconds) {
        Step event = new Step();
        event.step = step;
        event.epoch = epoch;
        event.loss = loss;
        event.seconds = seconds;
        event.commit();
    }

    /** Commits the beginning of an epoch in which these ranks restart; if there are none, messages are resent. */
    public static void epoch(int epoch, long stepsDone, Collection<Integer> ranks, String reason) {
        Epoch event = new Epoch();
        event.epoch = epoch;
        event.stepsDone = stepsDone;
        event.ranks = ranks.toString();
        event.reason = reason;
        event.commit();
    }
}
