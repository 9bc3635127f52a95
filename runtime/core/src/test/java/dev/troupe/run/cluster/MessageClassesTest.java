package dev.troupe.run.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.port.RunKey;
import dev.troupe.run.ActorSystems;
import dev.troupe.run.cluster.guard.KeyFile;
import dev.troupe.run.cluster.guard.SealedSerializer;
import dev.troupe.run.cluster.liveness.TwoNodes;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.serialization.SerializationExtension;
import org.apache.pekko.serialization.SerializerWithStringManifest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The classes of messages that a node reads, from a sender with the key of the run. */
@Tag("actor")
class MessageClassesTest {
    private static final long PATIENCE_SECONDS = 60;
    private static final String REFUSED = "Only classes that are listed as allowed";
    /** An object without fields, as CBOR. */
    private static final byte[] EMPTY = {(byte) 0xa0};

    @TempDir
    private Path directory;
    private RunKey key;
    private ActorSystem<Void> system;
    private SerializerWithStringManifest serializer;

    @BeforeEach
    void start() throws Exception {
        ClusterSpec cluster = TwoNodes.find();
        key = KeyFile.of(directory);
        Config settings = ConfigFactory.parseString("pekko.actor.provider = local")
                .withFallback(ClusterSettings.of(cluster, cluster.node("a"), true, List.of()));
        system = ActorSystems.create(Behaviors.empty(), "classes", SealedSerializer.sealed(settings, key),
                SealedSerializer.key(key));
        serializer = (SerializerWithStringManifest) SerializationExtension.get(system.classicSystem())
                .serializerFor(Class.forName(ControlModule.messages().getFirst()));
        assertEquals(SealedSerializer.class, serializer.getClass());
    }

    @AfterEach
    void stop() throws Exception {
        system.terminate();
        system.getWhenTerminated().toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void shouldBeTheMessagesOfTheThreeActors() {
        List<String> messages = ControlModule.messages();
        for (String actor : List.of("TrainingCoordinator", "NodeActor", "ScheduleActor")) {
            assertTrue(messages.stream().anyMatch(name -> name.startsWith("dev.troupe.run.actor." + actor + "$")),
                    actor);
        }
        for (String message : messages) {
            String failure = read(message);
            assertFalse(failure.contains(REFUSED), failure);
        }
    }

    @Test
    void shouldIncludeNoOther() {
        for (String other : List.of("java.lang.Object", "java.util.ArrayList", "java.net.URL", RunSpec.class.getName(),
                "dev.troupe.run.actor.NodeActor", "dev.troupe.protocol.Commit")) {
            String failure = read(other);
            assertTrue(failure.contains(REFUSED), other + ": " + failure);
        }
    }

    /** Reads a message without fields, and returns the failure; empty if it is read. */
    private String read(String className) {
        try {
            fromBinary(className);
            return "";
        } catch (Exception failure) {
            return String.valueOf(failure.getMessage());
        }
    }

    private void fromBinary(String className) throws Exception {
        byte[] proof = key.proof("control " + serializer.identifier() + " " + className, EMPTY, EMPTY.length);
        byte[] sealed = Arrays.copyOf(EMPTY, EMPTY.length + proof.length);
        System.arraycopy(proof, 0, sealed, EMPTY.length, proof.length);
        serializer.fromBinary(sealed, className);
    }
}
