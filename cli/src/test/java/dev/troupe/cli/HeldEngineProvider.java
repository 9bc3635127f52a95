package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.late.WrappedEngine;
import dev.troupe.engine.late.WrappedEngine.Around;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The reference engine on a launched node, which holds the start of its first process until a test kills it. */
public final class HeldEngineProvider extends WrappingEngineProvider {
    static final String KIND = "held";
    /** The file in the directory of the logs that the first process of the node creates when it waits. */
    static final String MARK = "held";
    private static final long PATIENCE_SECONDS = 150;

    /** For {@link java.util.ServiceLoader}. */
    public HeldEngineProvider() {
        super(KIND);
    }

    @Override
    Around around(Engine engine) {
        return (method, arguments) -> {
            if (method.getName().equals("adamW") && isFirst(LocalCluster.logsOfThisNode().orElseThrow())) {
                new CountDownLatch(1).await(PATIENCE_SECONDS, TimeUnit.SECONDS);
                throw new IllegalStateException("not killed within " + PATIENCE_SECONDS + " seconds");
            }
            return WrappedEngine.call(engine, method, arguments);
        };
    }

    private static boolean isFirst(Path logs) throws IOException {
        try {
            Files.createFile(logs.resolve(MARK));
            return true;
        } catch (FileAlreadyExistsException _) {
            return false;
        }
    }
}
