package dev.troupe.transport;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The counts of a transport since it started. Bytes are payload, without headers.
 *
 * @param messagesSent messages handed completely to Aeron or the kernel
 * @param bytesSent payload bytes handed to Aeron, the kernel, or a rank of this process
 * @param bytesReceived payload bytes written into granted buffers
 * @param backPressured the times that the window to another node was full
 * @param dropped received frames that were dropped, by reason; every reason has an entry
 */
public record TransportCounters(long messagesSent, long messagesReceived, long bytesSent, long bytesReceived,
        long backPressured, Map<DropReason, Long> dropped) {
    /** The counters of a transport without messages. */
    public static final TransportCounters NONE = new TransportCounters(0, 0, 0, 0, 0, Map.of());

    public TransportCounters {
        Map<DropReason, Long> copy = new EnumMap<>(DropReason.class);
        for (DropReason reason : DropReason.values()) {
            copy.put(reason, dropped.getOrDefault(reason, 0L));
        }
        dropped = Collections.unmodifiableMap(copy);
    }

    /** Returns a sentence for the user on dropped frames; empty if none was dropped. */
    public Optional<String> droppedInWords() {
        long all = droppedFrames();
        return all == 0
                ? Optional.empty()
                : Optional.of("The transport dropped " + all + (all == 1 ? " frame" : " frames")
                        + " that it could not use: "
                        + dropped.entrySet().stream().filter(reason -> reason.getValue() > 0)
                                .map(reason -> reason.getValue() + " " + reason.getKey().name().toLowerCase(Locale.ROOT)
                                        .replace('_', ' '))
                                .collect(Collectors.joining(", "))
                        + ".");
    }

    public long droppedFrames() {
        return dropped.values().stream().mapToLong(Long::longValue).sum();
    }
}
