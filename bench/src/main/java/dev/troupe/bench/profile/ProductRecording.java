package dev.troupe.bench.profile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * The time that each kernel of the engine {@code cpu} spends in its library of matrix products. The flight recorder has the
 * begin and end of each kernel and of each call of the library. Events are recorded from construction to {@link #stop}.
 */
public final class ProductRecording implements AutoCloseable {
    /** The name of the engine's events. */
    private static final String PRODUCT = "dev.troupe.MatrixProduct";

    private final Recording recording = new Recording();

    /** Begins to record. */
    public ProductRecording() {
        recording.enable(PRODUCT).withoutThreshold();
        recording.enable(KernelEvent.NAME).withoutThreshold();
        recording.start();
    }

    /** Returns the nanoseconds inside the library, for each kernel that calls it on its own thread. */
    public Map<String, Long> stop() throws IOException {
        recording.stop();
        Path file = Files.createTempFile("troupe-products", ".jfr");
        try {
            recording.dump(file);
            return byKernel(RecordingFile.readAllEvents(file));
        } finally {
            Files.delete(file);
        }
    }

    private static Map<String, Long> byKernel(List<RecordedEvent> events) {
        Map<Long, List<RecordedEvent>> byThread = new HashMap<>();
        events.stream().filter(event -> event.getThread() != null)
                .forEach(event -> byThread.computeIfAbsent(event.getThread().getId(), _ -> new ArrayList<>())
                        .add(event));
        Map<String, Long> nanos = new TreeMap<>();
        byThread.values().forEach(own -> addThread(own, nanos));
        return Map.copyOf(nanos);
    }

    private static void addThread(List<RecordedEvent> events, Map<String, Long> nanos) {
        // Of two events that begin at once, the longer one is the outer one.
        events.sort(Comparator.comparing(RecordedEvent::getStartTime)
                .thenComparing(RecordedEvent::getDuration, Comparator.reverseOrder()));
        Deque<RecordedEvent> open = new ArrayDeque<>();
        for (RecordedEvent event : events) {
            while (!open.isEmpty() && open.peek().getEndTime().isBefore(event.getEndTime())) {
                open.pop();
            }
            if (event.getEventType().getName().equals(KernelEvent.NAME)) {
                open.push(event);
            } else if (!open.isEmpty()) {
                nanos.merge(open.peek().getString("kernel"), event.getDuration().toNanos(), Long::sum);
            }
        }
    }

    @Override
    public void close() {
        recording.close();
    }
}
