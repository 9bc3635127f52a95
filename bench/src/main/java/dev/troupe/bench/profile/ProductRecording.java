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
 * How long kernels of the engine {@code cpu} are inside its library of matrix products, by kernel: the flight recorder
 * notes when each kernel and each call of the library begins and ends. Events are recorded from construction to
 * {@link #stop}.
 */
public final class ProductRecording implements AutoCloseable {
    /** What the engine calls its events. */
    private static final String PRODUCT = "dev.troupe.MatrixProduct";

    private final Recording recording = new Recording();

    /** Records from now on. */
    public ProductRecording() {
        recording.enable(PRODUCT).withoutThreshold();
        recording.enable(KernelEvent.NAME).withoutThreshold();
        recording.start();
    }

    /** Nanoseconds inside the library, for each kernel that calls it on its own thread. */
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
        // The longer of two that begin at once is the outer one.
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
