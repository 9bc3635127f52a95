package dev.troupe.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.config.spec.TransportSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares the Kubernetes manifests with the configuration of that cluster. */
@Tag("plan")
class DeploymentTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Path FOLDER = ROOT.resolve("deploy/kubernetes");

    @TempDir
    private Path folder;

    @Test
    void shouldReadTheConfigurationOfTheConfigMap() throws IOException {
        ClusterSpec cluster = configMap().cluster().orElseThrow();
        assertEquals(RunSpecReader.read(Optional.of(Path.of("kubernetes.conf")), List.of()).cluster().orElseThrow(),
                cluster);
    }

    @Test
    void shouldStartAPodForEveryNodeUnderTheNodesName() throws IOException {
        String pods = Files.readString(FOLDER.resolve("stateful-set.yaml"));
        String name = value(pods, "  name: ");
        String service = value(pods, "serviceName: ");
        assertEquals(service, value(Files.readString(FOLDER.resolve("service.yaml")), "  name: "));
        List<NodeSpec> nodes = configMap().cluster().orElseThrow().nodes();
        assertEquals(nodes.size(), Integer.parseInt(value(pods, "replicas: ")));
        for (int i = 0; i < nodes.size(); i++) {
            assertEquals(name + "-" + i, nodes.get(i).name());
            assertEquals(nodes.get(i).name() + "." + service, nodes.get(i).host());
        }
    }

    @Test
    void shouldOpenThePortsOfTheNodes() throws IOException {
        String service = Files.readString(FOLDER.resolve("service.yaml"));
        String pods = Files.readString(FOLDER.resolve("stateful-set.yaml"));
        assertEquals(TransportSpec.Network.TCP, configMap().transport().network(), "the manifests open no UDP port");
        assertFalse((service + pods).contains("UDP"));
        for (NodeSpec node : configMap().cluster().orElseThrow().nodes()) {
            for (String port : List.of("control, %s: " + node.controlPort() + ", protocol: TCP",
                    "data, %s: " + node.dataPort() + ", protocol: TCP",
                    "management, %s: " + node.managementPort() + ", protocol: TCP")) {
                assertTrue(service.contains("name: " + port.formatted("port")), port);
                assertTrue(pods.contains("name: " + port.formatted("containerPort")), port);
            }
        }
    }

    /** Reads the config map as a pod would, with the root of this repository in place of the root of the image. */
    private RunSpec configMap() throws IOException {
        String map = Files.readString(FOLDER.resolve("config-map.yaml"));
        String text = map.substring(map.indexOf("cluster.conf: |") + "cluster.conf: |".length()).lines()
                .map(String::strip).collect(Collectors.joining("\n")).replace("/opt/troupe", ROOT.toString());
        return RunSpecReader.read(Optional.of(Files.writeString(folder.resolve("cluster.conf"), text)), List.of());
    }

    private static String value(String yaml, String key) {
        return Pattern.compile("^ *" + Pattern.quote(key) + "(\\S+)$", Pattern.MULTILINE).matcher(yaml).results()
                .findFirst().orElseThrow(() -> new AssertionError("no " + key)).group(1);
    }
}
