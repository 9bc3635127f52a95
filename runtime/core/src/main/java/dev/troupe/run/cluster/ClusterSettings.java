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

final class ClusterSettings {
    /**
     * Far longer than a long kernel or a garbage collection, since a stopped or starved JVM is not dead. {@link DeadNodes}
     * notices a machine that does not answer sooner.
     */
    private static final Duration PAUSE = Duration.ofSeconds(30);

    private ClusterSettings() {
    }

    /** Returns the name of the actor system, the same on every node of a cluster. */
    static String systemName(ClusterSpec cluster) {
        return cluster.name().replace('.', '-');
    }

    /**
     * @param mayForm whether the node may form the cluster; false if it joins an existing one
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

    /** Returns the pause, longer if there are more nodes than cores: JVMs that start at once get processor time late. */
    private static Duration pause(ClusterSpec cluster, NodeSpec self) {
        int cores = Runtime.getRuntime().availableProcessors();
        int nodes = (int) cluster.nodes().stream().filter(node -> node.host().equals(self.host())).count();
        return PAUSE.multipliedBy(Math.max(1, Math.ceilDiv(nodes, cores)));
    }

    /** Returns the settings of mutual TLS. Pekko reads the files again from time to time, so that they can be renewed. */
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
