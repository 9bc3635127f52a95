package dev.troupe.cli.stop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/**
 * Lets a launched process obey its launcher's lines on standard input and answer its questions, and stop with a checkpoint
 * where the launcher has ended. The launcher sends no signal, so that a signal to all processes of a terminal or a service
 * counts once in each process.
 */
public final class ParentWatch {
    public static final String STOP = "stop";
    public static final String STOP_NOW = "stop now";

    @Option(names = "--launched", hidden = true, description = "Another process of this command has started this one, and says on its standard input when to stop.")
    private boolean isLaunched;

    private volatile Supplier<OptionalLong> stepsDone = OptionalLong::empty;

    /** Whether a launcher has started this process. */
    public boolean isLaunched() {
        return isLaunched;
    }

    /** Listens from now on, where there is a launcher. */
    public void begin(StopRequests requests) {
        if (isLaunched) {
            Thread.ofPlatform().daemon().name("parent-watch").start(() -> listen(requests));
        }
    }

    /** The process has joined a run; from now on it answers the launcher with the committed steps. Any thread. */
    public void answerWith(LongSupplier committedSteps) {
        stepsDone = () -> OptionalLong.of(committedSteps.getAsLong());
    }

    private void listen(StopRequests requests) {
        try (BufferedReader said = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            String line;
            while ((line = said.readLine()) != null) {
                switch (line) {
                    case STOP -> requests.stop();
                    case STOP_NOW -> requests.stopNow();
                    default -> ProgressAnswer.asked(line).ifPresent(this::answer);
                }
            }
        } catch (IOException _) {
            // An input that cannot be read counts as its end.
        }
        System.err.println("troupe: the process that launched this one has ended, so this one stops too");
        requests.stop();
    }

    private void answer(long question) {
        System.out.println(new ProgressAnswer(question, stepsDone.get()).line());
        System.out.flush();
    }
}
