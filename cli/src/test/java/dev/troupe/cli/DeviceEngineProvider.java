package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Memory;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.forward.ForwardingEngine;
import dev.troupe.engine.late.LateEngine;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngineProvider;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** Opens engines that compute late, as if on one device that all processes of the machine share. */
public final class DeviceEngineProvider extends TestEngineProvider {
    static final String KIND = "device";
    /** What an engine prints when a tensor goes to another process on the device. */
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
                return new Telling(late);
            }
            late.close();
        }
    }

    /** Tells once that it hands a tensor over, which it does while a standby is there. */
    private static final class Telling extends ForwardingEngine {
        private boolean hasTold;

        Telling(Engine engine) {
            super(engine);
        }

        @Override
        public Optional<Fence> toShared(Tensor source, long byteOffset, long byteCount, Shared target,
                long targetOffset) {
            if (!hasTold) {
                hasTold = true;
                StandbyWait.await();
                System.out.println(SHARES);
            }
            return super.toShared(source, byteOffset, byteCount, target, targetOffset);
        }

        @Override
        protected long begins(Kernel kernel) {
            return 0;
        }

        @Override
        protected void ends(Kernel kernel, long begun) {
            // Nobody asks.
        }
    }
}
