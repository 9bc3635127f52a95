package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.late.WrappedEngine;
import dev.troupe.engine.late.WrappedEngine.Around;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.Collectors;

/** The reference engine, which remembers the kernels that were called, with their shapes: in the warm-up, and in the run. */
public final class RecordingEngineProvider extends WrappingEngineProvider {
    static final String KIND = "recording";

    private static final Set<String> WARM_UP = new ConcurrentSkipListSet<>();
    private static final Set<String> RUN = new ConcurrentSkipListSet<>();

    /** For {@link java.util.ServiceLoader}. */
    public RecordingEngineProvider() {
        super(KIND);
    }

    static Set<String> takeWarmUp() {
        return take(WARM_UP);
    }

    static Set<String> takeRun() {
        return take(RUN);
    }

    private static Set<String> take(Set<String> kernels) {
        Set<String> taken = new TreeSet<>(kernels);
        kernels.clear();
        return taken;
    }

    @Override
    Around around(Engine engine) {
        return (method, arguments) -> {
            String thread = Thread.currentThread().getName();
            boolean isKernel = method.getReturnType() == void.class
                    && Arrays.asList(method.getParameterTypes()).contains(Tensor.class)
                    && !method.getName().startsWith("copy");
            if (isKernel && (thread.startsWith("warm-up") || thread.startsWith("rank-"))) {
                (thread.startsWith("warm-up") ? WARM_UP : RUN).add(method.getName() + Arrays.stream(arguments)
                        .map(RecordingEngineProvider::form).collect(Collectors.joining(", ", "(", ")")));
            }
            return WrappedEngine.call(engine, method, arguments);
        };
    }

    /** Numbers differ from call to call. */
    private static String form(Object argument) {
        return switch (argument) {
            case Tensor tensor -> tensor.dataType() + "" + tensor.shape();
            case Boolean flag -> flag.toString();
            case null -> "none";
            default -> "_";
        };
    }
}
