package dev.troupe.actor;

import dev.troupe.machine.Incarnation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What happens to a run, one line an event with what it is of; the process adds time and node. Written where the logger
 * {@code dev.troupe.events} is on, as it is in the nodes of a cluster.
 */
final class EventLog {
    private static final Logger LOG = LoggerFactory.getLogger("dev.troupe.events");

    private EventLog() {
    }

    /** Something happened to the run, after so many steps. */
    static void ofRun(int epoch, long stepsDone, String event) {
        LOG.info("epoch={} step={} {}", epoch, stepsDone, event);
    }

    /** Something happened to a node. */
    static void ofNode(int epoch, String event) {
        LOG.info("epoch={} {}", epoch, event);
    }

    /** Something happened to a rank. */
    static void ofRank(Incarnation rank, String event) {
        LOG.info("epoch={} rank={} {}", rank.epoch(), rank.rank(), event);
    }

    /** Something happened to a rank because something was thrown, whose stack follows; null for nothing. */
    static void ofRank(Incarnation rank, String event, Throwable thrown) {
        LOG.info("epoch={} rank={} {}", rank.epoch(), rank.rank(), event, thrown);
    }
}
