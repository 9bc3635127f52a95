package dev.troupe.cli;

import java.util.Optional;
import picocli.CommandLine.Option;

/** Ends this process when the one that started it is gone, so that nobody is left behind by a launcher that was killed. */
final class ParentWatch {
    @Option(names = "--parent", hidden = true, description = "The process that launched this one; its end is ours too.")
    private Long parent;

    /** Watches from now on, where there is somebody to watch; a parent that has ended already counts too. */
    void begin() {
        if (parent == null) {
            return;
        }
        Optional<ProcessHandle> launcher = ProcessHandle.of(parent);
        if (launcher.isEmpty()) {
            end();
        } else {
            launcher.get().onExit().thenRun(ParentWatch::end);
        }
    }

    private static void end() {
        System.err.println("troupe: the process that launched this one has ended, so this one ends too");
        // From a thread of its own: exit waits for the hooks, which wait for the run.
        Thread.ofPlatform().name("parent-watch").start(() -> System.exit(ExitCode.RUN_FAILED));
    }
}
