package dev.troupe.engine.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The driver's events that measure time, and an idle stream on which a device reaches them at once.
 *
 * <p>Thread rule: any thread to which the device is current.
 */
final class DriverEvents implements DeviceClock.Events {
    private static final int NON_BLOCKING = 1;
    private static final int NOT_READY = 600;

    private final Driver driver;
    private final MethodHandle create;
    private final MethodHandle record;
    private final MethodHandle query;
    private final MethodHandle elapsed;
    private final MethodHandle destroy;
    private final MemorySegment answer = Arena.global().allocate(JAVA_FLOAT);
    private final long idle;

    DriverEvents(Driver driver) {
        this.driver = driver;
        create = driver.function("cuEventCreate", ADDRESS, JAVA_INT);
        record = driver.function("cuEventRecord", JAVA_LONG, JAVA_LONG);
        query = driver.function("cuEventQuery", JAVA_LONG);
        elapsed = driver.function("cuEventElapsedTime", ADDRESS, JAVA_LONG, JAVA_LONG);
        destroy = driver.function("cuEventDestroy_v2", JAVA_LONG);
        MethodHandle createStream = driver.function("cuStreamCreate", ADDRESS, JAVA_INT);
        idle = driver.ask("make a stream", result -> (int) createStream.invokeExact(result, NON_BLOCKING));
    }

    @Override
    public long make() {
        return driver.ask("make an event", result -> (int) create.invokeExact(result, 0));
    }

    @Override
    public void record(long event) {
        driver.call("record an event", () -> (int) record.invokeExact(event, idle));
    }

    @Override
    public boolean isReached(long event) {
        return driver.isDone("look at an event", () -> (int) query.invokeExact(event), NOT_READY);
    }

    /** Guarded by the lock of the device's clock. */
    @Override
    public float milliseconds(long from, long to) {
        driver.call("measure the time between events", () -> (int) elapsed.invokeExact(answer, from, to));
        return answer.get(JAVA_FLOAT, 0);
    }

    void end(long event) {
        driver.call("end an event", () -> (int) destroy.invokeExact(event));
    }
}
