package dev.troupe.protocol.run;

import dev.troupe.protocol.Edge;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.rank.SendLog;
import java.util.List;
import java.util.Map;

/** What one incarnation hands to the transport of its node, as {@code Outbox} does, through a real {@link SendLog}. */
final class SimulatedOutbox {
    private final Simulation run;
    private final SimulatedNode node;
    private final int rank;
    private final SendLog<Long> log;
    private int epoch;
    private long pass = -1;
    private boolean isRetired;
    private long messagesSent;

    SimulatedOutbox(Simulation run, SimulatedNode node, Incarnation incarnation) {
        this.run = run;
        this.node = node;
        this.rank = incarnation.rank();
        this.epoch = incarnation.epoch();
        this.log = new SendLog<>(epoch == 0);
    }

    void grant(Edge edge) {
        if (!isRetired) {
            node.grant(epoch, edge);
        }
    }

    void send(MessageKey key, long content) {
        if (!isRetired) {
            messagesSent++;
            if (log.add(key, content)) {
                handOver(key, content);
            }
        }
    }

    private void handOver(MessageKey key, long content) {
        node.send(new Carrier.Message(key.edge(), key.microbatch(), pass, epoch, content));
    }

    void begin(long number) {
        pass = number;
        log.clear();
    }

    boolean isOfThisPass(long number) {
        return number == pass;
    }

    boolean enter(int begun) {
        if (begun <= epoch) {
            return false;
        }
        epoch = begun;
        log.close();
        return true;
    }

    void resume(RunCommand.Resume resume) {
        if (resume.epoch() == epoch && !isRetired) {
            List<Map.Entry<MessageKey, Long>> again = List.copyOf(log.open(resume.from(rank)).entrySet());
            if (resume.pass() == pass) {
                again.subList(0, Math.max(0, again.size() - run.protocol().cutsLogsBy()))
                        .forEach(one -> handOver(one.getKey(), one.getValue()));
            }
        }
    }

    void retire() {
        isRetired = true;
    }

    boolean isRetired() {
        return isRetired;
    }

    long messagesSent() {
        return messagesSent;
    }

    @Override
    public String toString() {
        return "its outbox is in epoch " + epoch + (isRetired ? ", retired" : "");
    }
}
