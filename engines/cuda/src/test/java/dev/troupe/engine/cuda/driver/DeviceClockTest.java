package dev.troupe.engine.cuda.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.cuda.device.DeviceException;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the conversion of events from a drifting device clock to the host's clock, both simulated. */
@Tag("plan")
class DeviceClockTest {
    /** A call of the driver takes 2 to 6 microseconds here, and a look has two or three of them. */
    private static final long ERROR_NANOS = 20_000;
    private static final long SECOND = 1_000_000_000L;

    private final Random random = new Random(7);
    private long now = 5 * SECOND;

    /** A device with its own start time, which measures the time between events as a float of milliseconds. */
    private class Device implements DeviceClock.Events {
        private final double rate;
        private final Map<Long, Double> happened = new HashMap<>();
        private final Map<Long, Long> seenFrom = new HashMap<>();
        private boolean isSlow;
        private long events;

        Device(double rate) {
            this.rate = rate;
        }

        private void take(long least, long most) {
            now += least + random.nextLong(most - least);
        }

        @Override
        public long make() {
            return ++events;
        }

        @Override
        public void record(long event) {
            take(2_000, 6_000);
            happened.put(event, now * rate);
            seenFrom.put(event, isSlow ? now + SECOND / 2 : now);
        }

        @Override
        public boolean isReached(long event) {
            take(2_000, 6_000);
            return now >= seenFrom.get(event);
        }

        @Override
        public float milliseconds(long from, long to) {
            return (float) ((happened.get(to) - happened.get(from)) / 1e6);
        }

        long event() {
            long event = make();
            record(event);
            return event;
        }
    }

    @ParameterizedTest(name = "the device has {0} of the host's seconds")
    @ValueSource(doubles = {1, 1.00005, 0.99995})
    void shouldConvertEventsToTheHostsClock(double rate) {
        Device device = new Device(rate);
        DeviceClock clock = new DeviceClock(device, () -> now);
        for (int step = 0; step < 200; step++) {
            Map<Long, Long> instants = new HashMap<>();
            for (int action = 0; action < 8; action++) {
                now += random.nextLong(SECOND / 8);
                long event = device.event();
                instants.put(event, now);
            }
            instants.forEach((event, instant) -> assertEquals(instant, clock.nanos(event), ERROR_NANOS));
        }
    }

    @Test
    void shouldIgnoreALookThatTakesTooLong() {
        Device device = new Device(1.00005);
        DeviceClock clock = new DeviceClock(device, () -> now);
        now += SECOND;
        clock.nanos(device.event());
        device.isSlow = true;
        now += SECOND;
        long event = device.event();
        long happened = now;
        assertEquals(happened, clock.nanos(event), ERROR_NANOS);
        assertTrue(now - happened < SECOND / 10, "it has waited");
    }

    @Test
    void shouldReportADeviceThatDoesNotAnswer() {
        Device device = new Device(1) {
            @Override
            public boolean isReached(long event) {
                now += SECOND;
                return false;
            }
        };
        assertEquals(
                "the clock of a GPU was asked for, but the GPU has not answered within 10 s; see nvidia-smi and the"
                        + " kernel's log",
                assertThrows(DeviceException.class, () -> new DeviceClock(device, () -> now))
                        .getMessage());
    }
}
