package dev.troupe.cli.watch;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.troupe.cli.report.Terminal;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.look.page.EventTail;
import dev.troupe.look.page.RunPage;
import dev.troupe.plan.UsageException;
import dev.troupe.run.http.Answer;
import dev.troupe.run.http.Routes;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The view of a run's directory on the screen, once or until the run ends. It only reads files, so it costs the run nothing.
 * Thread rule: one thread.
 */
public final class RunWatch {
    private static final long REFRESH_MILLIS = 1_000;
    /** The refresh of plain lines, so that a log grows no faster than a person reads it. */
    private static final int PLAIN_EVERY = 5;
    private static final Set<String> GOOD_ENDS = Set.of("done", "stopped");
    private static final Set<String> BAD_ENDS = Set.of("failed", "lost");
    private static final String HOME = "\033[H";
    private static final String CLEAR_LINE = "\033[K\n";
    private static final String CLEAR_REST = "\033[J";
    private static final String CLEAR = "\033[2J";
    private static final JsonMapper JSON = new JsonMapper();

    private final Path directory;
    private final PrintStream output;
    private final Terminal terminal;
    private final Routes routes;
    private final EventTail tail;
    private final List<JsonNode> events = new ArrayList<>();
    private int shown;
    private String line = "";

    /**
     * Creates the watch of a run.
     *
     * @param terminal the kind of output: the screen of a terminal is overwritten, and lines are added to a file
     */
    public RunWatch(Path directory, PrintStream output, Terminal terminal) {
        RunPage page = new RunPage(directory);
        this.directory = directory;
        this.output = output;
        this.terminal = terminal;
        this.routes = page.routes();
        this.tail = page.tail();
    }

    /**
     * Prints the screen once; returns the exit code.
     *
     * @throws UsageException if the directory is of no run
     */
    public int once() {
        RunScreen screen = look();
        screen.lines().stream().map(this::cut).forEach(output::println);
        return exitCode(screen.state());
    }

    /** Prints the screen until the run has ended; returns the exit code. Throws as {@link #once} does. */
    public int untilTheEnd() throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        RunScreen screen = look();
        if (terminal.isTerminal()) {
            output.print(CLEAR);
        }
        for (int looks = 0; !isOver(screen.state()); looks++) {
            show(screen, looks % PLAIN_EVERY == 0);
            never.await(REFRESH_MILLIS, TimeUnit.MILLISECONDS);
            screen = look();
        }
        show(screen, true);
        return exitCode(screen.state());
    }

    private void show(RunScreen screen, boolean isDue) {
        if (terminal.isTerminal()) {
            StringBuilder text = new StringBuilder(HOME);
            screen.lines().forEach(each -> text.append(cut(each)).append(CLEAR_LINE));
            output.print(text.append(CLEAR_REST));
        } else {
            events.subList(shown, events.size()).forEach(event -> output.println(RunScreen.event(event)));
            shown = events.size();
            if (isDue && !screen.line().equals(line)) {
                line = screen.line();
                output.println(line);
            }
        }
        output.flush();
    }

    /** Cuts a line at the width of the screen, since a longer one would take two and shift the lines below. */
    private String cut(String each) {
        return each.length() <= terminal.lineColumns() ? each : each.substring(0, terminal.lineColumns() - 1) + "…";
    }

    private static boolean isOver(String state) {
        return GOOD_ENDS.contains(state) || BAD_ENDS.contains(state);
    }

    private static int exitCode(String state) {
        return BAD_ENDS.contains(state) ? ExitCode.RUN_FAILED : ExitCode.DONE;
    }

    private RunScreen look() {
        JsonNode run = answer("/troupe/v1/run");
        if (run.has("problem")) {
            throw new UsageException(directory + " has no run to show: " + run.path("problem").asText());
        }
        tail.next().lines().filter(text -> text.startsWith("data: ")).map(text -> read(text.substring(6)))
                .filter(data -> data.has("event")).forEach(events::add);
        JsonNode traced = run.path("now").path("traced");
        JsonNode step = traced.has("step")
                ? answer("/troupe/v1/steps/" + traced.path("step").asLong())
                : MissingNode.getInstance();
        return new RunScreen(run, step, events);
    }

    private JsonNode answer(String path) {
        Answer answer = routes.answer(path, null);
        try {
            return JSON.readTree(answer.body());
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    private static JsonNode read(String json) {
        try {
            return JSON.readTree(json);
        } catch (JsonProcessingException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
