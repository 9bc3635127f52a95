package dev.troupe.rank.trace;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import dev.troupe.rank.idle.RankTimes.Pause;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/**
 * The collections of garbage that stop all threads, as the JVM reports them, to a millisecond; shorter ones are left out.
 * Thread rule: opened and closed once each, on any threads.
 */
final class CollectionPauses implements AutoCloseable {
    /** Suffix of the beans of concurrent cycles; the pauses in a cycle have their own bean. */
    private static final String CYCLES = "Cycles";
    /** Readings of two clocks, of which the fastest is used: in a slower one the thread may have lost its core. */
    private static final int READINGS = 10;

    private final NotificationListener listener;
    private final List<NotificationEmitter> collectors;

    /** @param found receives each pause soon after its end, on a thread of the JVM */
    CollectionPauses(Consumer<Pause> found) {
        long zero = zeroNanos();
        listener = (notification, _) -> report(notification, zero, found);
        collectors = ManagementFactory.getGarbageCollectorMXBeans().stream().filter(CollectionPauses::isOfPauses)
                .map(NotificationEmitter.class::cast).toList();
        collectors.forEach(collector -> collector.addNotificationListener(listener, null, null));
    }

    private static boolean isOfPauses(GarbageCollectorMXBean collector) {
        return collector instanceof NotificationEmitter && !collector.getName().endsWith(CYCLES);
    }

    /** Returns the {@link System#nanoTime} of the JVM's start, from which collections are timed. */
    private static long zeroNanos() {
        long startMillis = ManagementFactory.getRuntimeMXBean().getStartTime();
        long zero = 0;
        long shortest = Long.MAX_VALUE;
        for (int reading = 0; reading < READINGS; reading++) {
            long before = System.nanoTime();
            long millis = System.currentTimeMillis();
            long lasted = System.nanoTime() - before;
            if (lasted < shortest) {
                shortest = lasted;
                zero = before - TimeUnit.MILLISECONDS.toNanos(millis - startMillis);
            }
        }
        return zero;
    }

    private static void report(Notification notification, long zero, Consumer<Pause> found) {
        if (notification.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
            GcInfo times = GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData())
                    .getGcInfo();
            if (times.getDuration() > 0) {
                found.accept(new Pause(zero + TimeUnit.MILLISECONDS.toNanos(times.getStartTime()),
                        zero + TimeUnit.MILLISECONDS.toNanos(times.getEndTime())));
            }
        }
    }

    @Override
    public void close() {
        for (NotificationEmitter collector : collectors) {
            try {
                collector.removeNotificationListener(listener);
            } catch (ListenerNotFoundException _) {
                // closed before
            }
        }
    }
}
