package dev.troupe.run.cluster.guard;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.event.EventStream;
import org.apache.pekko.event.slf4j.Slf4jLoggingFilter;

/**
 * The filter of Pekko's log. It limits the lines on invalid messages, so that a stranger cannot fill the log, and drops the
 * warnings about replaced serializers. Thread rule: any thread.
 */
public final class StrangersFilter extends Slf4jLoggingFilter {
    private static final String SERIALIZATION = "org.apache.pekko.serialization.Serialization";
    private static final String DESERIALIZER = "org.apache.pekko.remote.artery.Deserializer";
    private static final long BETWEEN_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final AtomicLong lastNanos = new AtomicLong(System.nanoTime() - BETWEEN_NANOS);

    public StrangersFilter(ActorSystem.Settings settings, EventStream events) {
        super(settings, events);
    }

    @Override
    public boolean isWarningEnabled(Class<?> type, String source) {
        return !source.startsWith(SERIALIZATION) && super.isWarningEnabled(type, source);
    }

    @Override
    public boolean isErrorEnabled(Class<?> type, String source) {
        return (!type.getName().equals(DESERIALIZER) || isTimeForOne()) && super.isErrorEnabled(type, source);
    }

    private boolean isTimeForOne() {
        long now = System.nanoTime();
        long last = lastNanos.get();
        return now - last >= BETWEEN_NANOS && lastNanos.compareAndSet(last, now);
    }
}
