package dev.troupe.cli.stop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.options.NextCommand;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests that do not end the process; those that do are tried in a process of their own. */
@Tag("plan")
class StopRequestsTest {
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private final List<String> told = new ArrayList<>();
    private final StopRequests.Stoppable run = new StopRequests.Stoppable() {
        @Override
        public void stop() {
            told.add("stop");
        }

        @Override
        public void stopNow() {
            told.add("stop now");
        }
    };

    private StopRequests listen() {
        return StopRequests.listen(new PrintStream(said, true, StandardCharsets.UTF_8), "nothing has begun",
                StopRequests.PATIENCE);
    }

    private List<String> said() {
        return said.toString(StandardCharsets.UTF_8).lines().filter(line -> !line.isEmpty()).toList();
    }

    @Test
    void shouldAskTheRunToStopAndThenToStopAtOnce() {
        try (StopRequests requests = listen()) {
            requests.running(run);
            assertFalse(requests.isAsked());
            requests.ask();
            assertTrue(requests.isAsked());
            requests.ask();
            requests.ask();
            assertEquals(List.of("stop", "stop now"), told);
            assertEquals(List.of(StopRequests.AFTER_THE_STEP, StopRequests.AT_ONCE), said());
        }
    }

    /** A signal to all processes of a service and the launcher's line mean the same. */
    @Test
    void shouldTakeTheLauncherAndASignalAsOneRequest() {
        try (StopRequests requests = listen()) {
            requests.running(run);
            requests.ask();
            requests.stop();
            requests.stop();
            assertEquals(List.of("stop"), told);
        }
    }

    /** The signal of one Ctrl-C may reach a process after the line of its launcher, which received the signal too. */
    @Test
    void shouldTakeASignalAfterTheLauncherAsOneRequest() {
        try (StopRequests requests = listen()) {
            requests.running(run);
            requests.stop();
            requests.ask();
            assertEquals(List.of("stop"), told);
            requests.ask();
            assertEquals(List.of("stop", "stop now"), told);
        }
    }

    @Test
    void shouldPassOnThatItWasAskedTwiceWhileTheRunStarted() {
        try (StopRequests requests = listen()) {
            requests.starting();
            requests.ask();
            requests.ask();
            assertEquals(List.of(), told);
            requests.running(run);
            assertEquals(List.of("stop now"), told);
        }
    }

    @Test
    void shouldPassOnWhatWasAskedWhileTheRunStarted() {
        try (StopRequests requests = listen()) {
            requests.starting();
            requests.ask();
            assertEquals(List.of(), told);
            requests.running(run);
            assertEquals(List.of("stop"), told);
        }
    }

    @Test
    void shouldPromiseNoCheckpointOnceTheRunIsOver() {
        try (StopRequests requests = listen()) {
            requests.running(run);
            requests.concluding();
            requests.ask();
            assertEquals(List.of(), told);
            assertEquals(List.of(StopRequests.RUN_IS_OVER), said());
        }
    }

    @Test
    void shouldTakeNoRequestAfterTheEnd() {
        StopRequests requests = listen();
        requests.running(run);
        requests.close();
        requests.ask();
        requests.ask();
        assertEquals(List.of(), told);
        assertEquals(List.of(), said());
    }

    @Test
    void shouldNameTheCommandThatResumes() {
        NextCommand launch = new NextCommand(List.of("launch", "two nodes.conf"),
                List.of("parallel.schedule=\"1f1b\"", "training.steps=9"), Optional.of(Path.of("before")));
        assertEquals("Stopped before its end; resume with: ./troupe launch 'two nodes.conf' --resume out"
                + " -s 'parallel.schedule=\"1f1b\"' -s training.steps=9", launch.sentence(Path.of("out"), true));
        assertEquals("Stopped before its first checkpoint, so nothing can be resumed; begin again with:"
                + " ./troupe launch 'two nodes.conf' --resume before --out out -s 'parallel.schedule=\"1f1b\"'"
                + " -s training.steps=9", launch.sentence(Path.of("out"), false));
        NextCommand train = new NextCommand(List.of("train", "it's.conf"), List.of("training.steps=9"),
                Optional.empty());
        assertEquals("Stopped before its end; resume with: ./troupe train --resume out",
                train.sentence(Path.of("out"), true), "its directory has its configuration");
        assertTrue(train.sentence(Path.of("out"), false)
                .endsWith("./troupe train 'it'\\''s.conf' --out out -s training.steps=9"));
    }
}
