package dev.troupe.run.cluster;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.config.fault.FaultKind;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.run.ActorSystems;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Pekko's settings for one node. */
final class ClusterSettings {
    /**
     * A stopped or starved JVM is not dead: the pause is far longer than a long product or a collection. A machine that does
     * not answer is noticed by {@link DeadNodes}, and sooner.
     */
    private static final Duration PAUSE = Duration.ofSeconds(30);

    private ClusterSettings() {
    }

    /** The name of the actor system, the same on every node of a cluster. */
    static String systemName(ClusterSpec cluster) {
        return cluster.name().replace('.', '-');
    }

    /**
     * Returns the settings.
     *
     * @param mayForm whether the node may form the cluster; false if it joins one that must exist
     * @param faults the faults of the run, some of which cut the node off
     */
    static Config of(ClusterSpec cluster, NodeSpec self, boolean mayForm, List<FaultSpec> faults) {
        String protocol = "pekko://" + systemName(cluster) + "@";
        // The first node forms the cluster, the others join it; a node that starts early repeats its request until the
        // cluster exists.
        List<String> seeds = cluster.nodes().stream()
                .filter(node -> mayForm ? !node.standby() : !node.name().equals(self.name()))
                .map(node -> protocol + node.address(node.controlPort())).toList();
        Map<String, Object> settings = new HashMap<>();
        settings.put("pekko.remote.artery.canonical.hostname", self.urlHost());
        settings.put("pekko.remote.artery.canonical.port", self.controlPort());
        settings.put("pekko.cluster.seed-nodes", seeds);
        settings.put("pekko.cluster.roles", List.of(LostNodes.ROLE + self.name()));
        settings.put("pekko.serialization.jackson.allowed-class-prefix", ControlModule.messages());
        if (faults.stream().map(FaultSpec::kind)
                .anyMatch(kind -> kind == FaultKind.CUT_CONTROL || kind == FaultKind.CUT_BOTH)) {
            settings.put(ControlLink.SETTING, true);
        }
        settings.put("pekko.cluster.failure-detector.acceptable-heartbeat-pause", pause(cluster, self));
        return cluster.tls().map(ClusterSettings::of).orElseGet(ConfigFactory::empty)
                .withFallback(ConfigFactory.parseMap(settings)).withFallback(ActorSystems.ofNode());
    }

    /** Sixteen JVMs that start on two cores at once get processor time late, and are not dead. */
    private static Duration pause(ClusterSpec cluster, NodeSpec self) {
        int cores = Runtime.getRuntime().availableProcessors();
        int nodes = (int) cluster.nodes().stream().filter(node -> node.host().equals(self.host())).count();
        return PAUSE.multipliedBy(Math.max(1, Math.ceilDiv(nodes, cores)));
    }

    /** Either side shows a certificate; Pekko reads the files again from time to time, so that they can be renewed. */
    static Config of(TlsSpec tls) {
        String engine = "pekko.remote.artery.ssl.rotating-keys-engine.";
        return ConfigFactory.parseMap(Map.of("pekko.remote.artery.transport", "tls-tcp",
                "pekko.remote.artery.ssl.ssl-engine-provider",
                "org.apache.pekko.remote.artery.tcp.ssl.RotatingKeysSSLEngineProvider",
                engine + "key-file", tls.key().toString(),
                engine + "cert-file", tls.certificate().toString(),
                engine + "ca-cert-file", tls.authority().toString()));
    }
}
