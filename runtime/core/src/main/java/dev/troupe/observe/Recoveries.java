package dev.troupe.observe;

import dev.troupe.protocol.run.RunCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * What is under way of recovering from failures, with the times that are told of it.
 *
 * <p>Thread rule: none; one caller at a time.
 */
final class Recoveries {
    private static final class UnderWay {
        private final RunCommand.EnterEpoch failure;
        private final long detectedAtMillis;
        private long resumedAtMillis;

        UnderWay(RunCommand.EnterEpoch failure, long detectedAtMillis) {
            this.failure = failure;
            this.detectedAtMillis = detectedAtMillis;
        }
    }

    private final List<UnderWay> underWay = new ArrayList<>();
    private final LongSupplier wallMillis;

    Recoveries(LongSupplier wallMillis) {
        this.wallMillis = wallMillis;
    }

    void begin(RunCommand.EnterEpoch failure) {
        underWay.add(new UnderWay(failure, wallMillis.getAsLong()));
    }

    void resume() {
        underWay.stream().filter(one -> one.resumedAtMillis == 0)
                .forEach(one -> one.resumedAtMillis = wallMillis.getAsLong());
    }

    /** All that was under way is over. */
    List<Recovery> end() {
        long now = wallMillis.getAsLong();
        List<Recovery> ended = underWay.stream()
                .map(one -> new Recovery(one.failure.epoch(), one.failure.stepsDone(), one.failure.restarted(),
                        one.failure.reason(), one.detectedAtMillis, one.resumedAtMillis, now))
                .toList();
        underWay.clear();
        return ended;
    }
}
