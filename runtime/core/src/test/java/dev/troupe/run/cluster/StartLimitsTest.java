package dev.troupe.run.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The limits of Pekko's libraries in the settings of a node. Each is a minute or more, or has a reason to be short: nodes
 * that start on a busy machine get a sixtieth of a core or less. A limit that a new version adds fails this test until it
 * has its place.
 */
@Tag("plan")
class StartLimitsTest {
    private static final Duration FLOOR = Duration.ofMinutes(1);

    /** The names of settings that end something when a time is over, as against intervals and delays. */
    private static final Pattern LIMIT = Pattern
            .compile(
                    ".*(timeout|timeout-time|heartbeat-pause|give-up.*|within|deadline|margin|unstable)(?<!allow-core-timeout|linger-timeout)");

    /** Those of parts that no node uses: libraries that others bring along, and other transports. */
    private static final Pattern UNUSED = Pattern
            .compile("pekko\\.(persistence|coordination|discovery|reliable-delivery"
                    + "|circuit-breaker|cluster\\.(sharding|client|distributed-data|ddata|multi-data-center|typed)"
                    + "|cluster\\.split-brain-resolver\\.lease-majority|remote\\.(classic|artery\\.advanced\\.aeron)"
                    + "|io\\.(dns|udp|udp-connected)"
                    + "|test|actor\\.testkit|actor\\.typed|actor\\.default-mailbox|actor\\.deployment|.*\\.stream-ref)\\..*");

    private static final Map<String, String> MAY_BE_SHORT = Map.ofEntries(
            Map.entry("pekko.actor.default-dispatcher.shutdown-timeout", "when idle threads go"),
            Map.entry("pekko.cluster.down-removal-margin", "a pause before a coordinator takes over"),
            Map.entry("pekko.cluster.failure-detector.acceptable-heartbeat-pause", "ClusterSettings has another"),
            Map.entry("pekko.cluster.seed-node-timeout", "a node asks again, or forms the cluster as it should"),
            Map.entry("pekko.coordinated-shutdown.default-phase-timeout", "of an end, not of a start"),
            Map.entry("pekko.coordinated-shutdown.phases.actor-system-terminate.timeout", "of an end"),
            Map.entry("pekko.coordinated-shutdown.phases.cluster-exiting.timeout", "of a phase that is off"),
            Map.entry("pekko.coordinated-shutdown.phases.cluster-sharding-shutdown-region.timeout", "as above"),
            Map.entry("pekko.remote.artery.advanced.death-watch-notification-flush-timeout", "a wait for order alone"),
            Map.entry("pekko.remote.artery.advanced.inbound-restart-timeout", "in which 100 restarts may be"),
            Map.entry("pekko.remote.artery.advanced.outbound-restart-timeout", "in which 100 restarts may be"),
            Map.entry("pekko.remote.artery.advanced.shutdown-flush-timeout",
                    "each end waits for it, since the others that end then do not answer"));

    @Test
    void shouldBeLongOnABusyMachine() {
        Config settings = ConfigFactory.load("troupe-cluster");
        Map<String, String> tooShort = new TreeMap<>();
        Set<String> limits = new TreeSet<>();
        settings.entrySet().forEach(entry -> {
            String key = entry.getKey();
            if (key.startsWith("pekko.") && LIMIT.matcher(key).matches() && !UNUSED.matcher(key).matches()) {
                limits.add(key);
                // Some words stand for no limit; a number alone would be milliseconds.
                String value = settings.getString(key);
                boolean isUnlimited = List.of("infinite", "off").contains(value);
                if (!isUnlimited && settings.getDuration(key).compareTo(FLOOR) < 0 && !MAY_BE_SHORT.containsKey(key)) {
                    tooShort.put(key, value);
                }
            }
        });
        assertEquals(Map.of(), tooShort);
        assertTrue(limits.containsAll(MAY_BE_SHORT.keySet()), "an exception that is none any more");
        assertTrue(limits.containsAll(Set.of("pekko.remote.artery.bind.bind-timeout", "pekko.actor.creation-timeout",
                "pekko.io.tcp.register-timeout")), limits.toString());
    }
}
