package dev.troupe.observe;

import dev.troupe.protocol.Incarnation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What happens to a run, one line an event: the epoch, the steps that were committed by then (of a rank: the step that
 * it is in) and the rank, where it is of one; the process adds time and node. Written where the logger
 * {@code dev.troupe.events} is on, as it is in the nodes of a cluster.
 */
public final class EventLog {
    private static final Logger LOG = LoggerFactory.getLogger("dev.troupe.events");

    private EventLog() {
    }

    /** Something happened to the run, after {@code stepsDone} steps. */
    public static void ofRun(int epoch, long stepsDone, String event) {
        LOG.info("epoch={} step={} {}", epoch, stepsDone, event);
    }

    /** Something happened to a rank. */
    public static void ofRank(Incarnation rank, long step, String event) {
        LOG.info("epoch={} step={} rank={} {}", rank.epoch(), step, rank.rank(), event);
    }

    /** Something happened to a rank because something was thrown, whose stack follows; null for nothing. */
    public static void ofRank(Incarnation rank, long step, String event, Throwable thrown) {
        LOG.info("epoch={} step={} rank={} {}", rank.epoch(), step, rank.rank(), event, thrown);
    }
}
