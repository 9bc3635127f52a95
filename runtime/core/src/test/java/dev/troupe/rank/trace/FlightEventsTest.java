package dev.troupe.rank.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.late.LateEngine;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("plan")
class FlightEventsTest {
    private static final List<Action> ROW = Plan.fromCsv("by hand", Laps.LOOP,
            "0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n").rows().getFirst();
    private static final Action SEND = new Action(0, Kind.SEND_F, 0);

    @TempDir
    private Path directory;

    private static void step(long number) {
        step(number, new ReferenceEngine(DataType.FLOAT32));
    }

    private static void step(long number, Engine engine) {
        RankTrace trace = new RankTrace(2, 3, ROW, new Pauses(), engine);
        trace.stepBegins(number);
        trace.begins(new Action(0, Kind.FORWARD, 0));
        trace.ended(0);
        trace.handed(SEND, 4096);
        trace.sent(SEND, 1_000);
        engine.fence().await();
        trace.take();
        FlightEvents.step(number, 3, 2.5, 0.25);
        FlightEvents.epoch(4, number, List.of(1), "rank 1 failed");
        trace.close();
    }

    @Test
    void shouldRecordStepsActionsMessagesAndEpochsInTheFlightRecorder() throws IOException {
        step(6); // nobody records
        Path file = directory.resolve("run.jfr");
        try (Recording recording = new Recording()) {
            for (String name : List.of("Step", "Action", "Message", "Epoch")) {
                recording.enable("dev.troupe." + name).withoutThreshold();
            }
            recording.start();
            step(7);
            recording.stop();
            recording.dump(file);
        }
        Map<String, RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                .collect(Collectors.toMap(event -> event.getEventType().getName(), Function.identity()));
        RecordedEvent action = events.get("dev.troupe.Action");
        assertEquals(List.of(7L, 2, "0F0", "F", List.of("Troupe")), List.of(action.getLong("step"),
                action.getInt("rank"), action.getString("action"), action.getString("kind"),
                action.getEventType().getCategoryNames()));
        RecordedEvent message = events.get("dev.troupe.Message");
        assertEquals(List.of(7L, 2, "0SEND_F0", 4096L, 1_000L), List.of(message.getLong("step"),
                message.getInt("rank"), message.getString("send"), message.getLong("bytes"),
                message.getDuration("withoutCredit").toNanos()));
        assertTrue(!message.getStartTime().isBefore(action.getEndTime()));
        RecordedEvent step = events.get("dev.troupe.Step");
        assertEquals(List.of(7L, 3, 2.5, 0.25), List.of(step.getLong("step"), step.getInt("epoch"),
                step.getDouble("loss"), step.getDouble("seconds")));
        RecordedEvent epoch = events.get("dev.troupe.Epoch");
        assertEquals(List.of(4, 7L, "[1]", "rank 1 failed"), List.of(epoch.getInt("epoch"),
                epoch.getLong("stepsDone"), epoch.getString("ranks"), epoch.getString("reason")));
        assertEquals(4, events.size());
    }

    @Test
    void shouldRecordWhenADeviceDidAnAction() throws IOException {
        Path file = directory.resolve("run.jfr");
        try (Recording recording = new Recording();
                Engine engine = LateEngine.over(new ReferenceEngine(DataType.FLOAT32), 1)) {
            recording.enable("dev.troupe.DeviceAction").withoutThreshold();
            recording.start();
            step(7, engine);
            recording.stop();
            recording.dump(file);
        }
        RecordedEvent action = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("dev.troupe.DeviceAction")).findFirst()
                .orElseThrow();
        assertEquals(List.of(7L, 2, "0F0", "F"), List.of(action.getLong("step"), action.getInt("rank"),
                action.getString("action"), action.getString("kind")));
        assertTrue(action.getDuration("start").toNanos() > 0 && action.getDuration("time").toNanos() > 0);
    }
}
