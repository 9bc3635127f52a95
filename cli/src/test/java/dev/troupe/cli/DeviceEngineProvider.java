package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Memory;
import dev.troupe.engine.late.LateEngine;
import dev.troupe.engine.late.WrappedEngine;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngineProvider;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Opens engines that compute late, as if on one device that all processes of the machine share. */
public final class DeviceEngineProvider extends TestEngineProvider {
    static final String KIND = "device";
    /** The line of an engine when a tensor goes to another process on the device. */
    static final String SHARES = "a tensor stays on the device";
    private static final AtomicLong SEED = new AtomicLong(ProcessHandle.current().pid());

    /** For {@link java.util.ServiceLoader}. */
    public DeviceEngineProvider() {
        super(KIND);
    }

    /** Some late engines have the host's memory in place of a device's; their seeds are passed over. */
    @Override
    public Engine create(EngineSettings settings) {
        while (true) {
            Engine late = LateEngine.over(new ReferenceEngineProvider().create(settings), SEED.getAndIncrement());
            Optional<Memory.Shared> shares = late.share(1);
            if (shares.isPresent()) {
                shares.get().close();
                return reporting(late);
            }
            late.close();
        }
    }

    /** Reports once that it hands a tensor over, as soon as a standby has joined. */
    private static Engine reporting(Engine late) {
        AtomicBoolean hasReported = new AtomicBoolean();
        return WrappedEngine.of((method, arguments) -> {
            if (method.getName().equals("toShared") && hasReported.compareAndSet(false, true)) {
                StandbyWait.await();
                System.out.println(SHARES);
            }
            return WrappedEngine.call(late, method, arguments);
        });
    }
}
