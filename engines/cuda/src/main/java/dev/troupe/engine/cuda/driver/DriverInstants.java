package dev.troupe.engine.cuda.driver;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.troupe.engine.Fence;
import dev.troupe.engine.Fence.Instants;
import java.lang.invoke.MethodHandle;
import java.util.function.Supplier;

/** Instants of a stream: events that measure time, made when their numbers are first marked. */
final class DriverInstants implements Instants, AutoCloseable {
    private final Driver driver;
    private final DriverDevice device;
    private final DriverEvents events;
    private final DeviceClock clock;
    private final MethodHandle record;
    private final long stream;
    private final Supplier<Fence> fence;
    /** Events by number; 0 if it was not marked. */
    private final long[] marks;

    /** Instants of a stream; its fence is after all work so far. */
    DriverInstants(Driver driver, DriverDevice device, long stream, Supplier<Fence> fence, int count) {
        this.driver = driver;
        this.device = device;
        this.events = device.events();
        this.clock = device.clock();
        this.record = driver.function("cuEventRecord", JAVA_LONG, JAVA_LONG);
        this.stream = stream;
        this.fence = fence;
        this.marks = new long[count];
    }

    @Override
    public synchronized void mark(int number) {
        device.makeCurrent();
        if (marks[number] == 0) {
            marks[number] = events.make();
        }
        long event = marks[number];
        driver.call("record an event", () -> (int) record.invokeExact(event, stream));
    }

    @Override
    public synchronized long nanos(int number) {
        device.makeCurrent();
        return marks[number] != 0 && events.isReached(marks[number]) ? clock.nanos(marks[number]) : 0;
    }

    @Override
    public void await(int number) {
        if (nanos(number) == 0) {
            fence.get().await();
        }
    }

    @Override
    public synchronized void close() {
        for (int number = 0; number < marks.length; number++) {
            if (marks[number] != 0) {
                events.end(marks[number]);
                marks[number] = 0;
            }
        }
    }
}
