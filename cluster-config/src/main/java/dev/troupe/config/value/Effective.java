package dev.troupe.config.value;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigOrigin;
import com.typesafe.config.ConfigValueFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The values that take effect, by key: as they were read, or as a reader has settled them. */
final class Effective {
    private final Map<String, Optional<Entry>> entries = new LinkedHashMap<>();

    private record Entry(Object value, ConfigOrigin origin) {
    }

    /** Adds a value as it was read, unless the key has an entry. */
    void read(String key, Object value, ConfigOrigin origin) {
        entries.putIfAbsent(key, Optional.of(new Entry(value, origin)));
    }

    /** Sets the value of a key, also for later reads. */
    void settle(String key, Object value, ConfigOrigin origin) {
        entries.put(key, Optional.of(new Entry(value, origin)));
    }

    /** Removes the value of a key. */
    void leaveOut(String key) {
        entries.put(key, Optional.empty());
    }

    Config config() {
        Config config = ConfigFactory.empty();
        for (Map.Entry<String, Optional<Entry>> named : entries.entrySet()) {
            if (named.getValue().isPresent()) {
                Entry entry = named.getValue().get();
                config = config.withValue(named.getKey(),
                        ConfigValueFactory.fromAnyRef(plain(entry.value())).withOrigin(entry.origin()));
            }
        }
        return config;
    }

    /** Returns a value in a type that HOCON has. */
    static Object plain(Object value) {
        return switch (value) {
            case List<?> list -> list.stream().map(Effective::plain).toList();
            case Double number when number == number.longValue() -> number.longValue();
            case Path path -> path.toString();
            case Duration time -> time.getNano() == 0 ? time.toSeconds() + "s" : time.toNanos() + "ns";
            default -> value;
        };
    }
}
