package dev.troupe.run.news;

import dev.troupe.protocol.run.RunCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The recoveries in progress, with the times at which they were detected and resumed. Thread rule: none; one caller at a
 * time.
 */
final class Recoveries {
    private static final class InProgress {
        private final RunCommand.EnterEpoch failure;
        private final long detectedAtMillis;
        private long resumedAtMillis;

        InProgress(RunCommand.EnterEpoch failure, long detectedAtMillis) {
            this.failure = failure;
            this.detectedAtMillis = detectedAtMillis;
        }
    }

    private final List<InProgress> inProgress = new ArrayList<>();
    private final LongSupplier wallMillis;

    Recoveries(LongSupplier wallMillis) {
        this.wallMillis = wallMillis;
    }

    void begin(RunCommand.EnterEpoch failure) {
        inProgress.add(new InProgress(failure, wallMillis.getAsLong()));
    }

    void resume() {
        inProgress.stream().filter(one -> one.resumedAtMillis == 0)
                .forEach(one -> one.resumedAtMillis = wallMillis.getAsLong());
    }

    List<Recovery> end() {
        long now = wallMillis.getAsLong();
        List<Recovery> ended = inProgress.stream()
                .map(one -> new Recovery(one.failure.epoch(), one.failure.stepsDone(), one.failure.restarted(),
                        one.failure.reason(), one.detectedAtMillis, one.resumedAtMillis, now))
                .toList();
        inProgress.clear();
        return ended;
    }
}
