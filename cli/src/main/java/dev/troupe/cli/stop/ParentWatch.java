package dev.troupe.cli.stop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import picocli.CommandLine.Option;

/**
 * The launched process's end of its launcher's commands. It obeys and answers the lines on standard input, and stops with a
 * checkpoint if the launcher has ended. The launcher sends no signal, so that a signal to all processes of a terminal or a
 * service counts once in each.
 */
public final class ParentWatch {
    public static final String STOP = "stop";
    public static final String STOP_NOW = "stop now";

    @Option(names = "--launched", hidden = true, description = "Another process of this command has started this one, and writes on its standard input when to stop.")
    private boolean isLaunched;

    /** A run that this process has joined, or waits to join. */
    public interface Joined {
        /** Returns the committed steps; empty if the run has not begun for this process. */
        OptionalLong progress();

        /** Handles the news that another process of the launcher is still starting. */
        void othersStart();
    }

    private volatile Joined joined;

    /** Whether a launcher has started this process. */
    public boolean isLaunched() {
        return isLaunched;
    }

    /** Begins to listen, if the process has a launcher. */
    public void begin(StopRequests requests) {
        if (isLaunched) {
            Thread.ofPlatform().daemon().name("parent-watch").start(() -> listen(requests));
        }
    }

    /** Begins to answer the launcher with the progress of the run, after the process has started. Any thread. */
    public void answerFor(Joined run) {
        joined = run;
    }

    private void listen(StopRequests requests) {
        try (BufferedReader said = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            String line;
            while ((line = said.readLine()) != null) {
                switch (line) {
                    case STOP -> requests.stop();
                    case STOP_NOW -> requests.stopNow();
                    default -> ProgressAnswer.Question.of(line).ifPresent(this::answer);
                }
            }
        } catch (IOException _) {
            // An unreadable input counts as its end.
        }
        System.err.println("troupe: the process that launched this one has ended, so this one stops too");
        requests.stop();
    }

    private void answer(ProgressAnswer.Question question) {
        Joined run = joined;
        if (run != null && question.areOthersStarting()) {
            run.othersStart();
        }
        System.out.println(new ProgressAnswer(question.number(), run != null,
                run == null ? OptionalLong.empty() : run.progress()).line());
        System.out.flush();
    }
}
