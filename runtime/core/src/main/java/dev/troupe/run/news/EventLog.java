package dev.troupe.run.news;

import dev.troupe.protocol.Incarnation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of a run's events, one line each: the epoch, the number of committed steps (for a rank: its current step) and the
 * rank. The process adds time and node. It is written if the logger {@code dev.troupe.events} is on, as in the nodes of a
 * cluster.
 */
public final class EventLog {
    private static final Logger LOG = LoggerFactory.getLogger("dev.troupe.events");

    private EventLog() {
    }

    public static void ofRun(int epoch, long stepsDone, String event) {
        LOG.info("epoch={} step={} {}", epoch, stepsDone, event);
    }

    public static void ofRank(Incarnation rank, long step, String event) {
        LOG.info("epoch={} step={} rank={} {}", rank.epoch(), step, rank.rank(), event);
    }

    /** Logs an event of a rank with the stack of its cause, which may be null. */
    public static void ofRank(Incarnation rank, long step, String event, Throwable thrown) {
        LOG.info("epoch={} step={} rank={} {}", rank.epoch(), step, rank.rank(), event, thrown);
    }
}
