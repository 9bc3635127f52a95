package dev.troupe.run.actor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import dev.troupe.protocol.Commit;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.MessageKind;
import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.run.LayerSquaredSum;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.rank.RankTelemetry;
import dev.troupe.rank.bits.RankBits;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.serialization.Serialization;
import org.apache.pekko.serialization.SerializationExtension;
import org.apache.pekko.serialization.Serializer;
import org.apache.pekko.serialization.Serializers;
import org.apache.pekko.serialization.jackson.JacksonObjectMapperProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The longest control messages of large steps, written as they are between processes, and the longest frame. */
@Tag("actor")
class ControlFrameTest {
    private static final int MICROBATCHES = 8192;
    private static final int VIRTUAL_STAGES = 2;
    private static final int TERM = Integer.MAX_VALUE;
    private static final long SEED = 20_240_607;

    private final Config config = ConfigFactory.parseString("pekko.actor.provider = local")
            .withFallback(ConfigFactory.parseResources("troupe-cluster.conf")).withFallback(ConfigFactory.load())
            .resolve();
    private final ActorTestKit kit = ActorTestKit.create("frames", config);
    private final Serialization serialization = SerializationExtension.get(kit.system().classicSystem());
    private final long frameBytes = config.getBytes("pekko.remote.artery.advanced.maximum-frame-size");

    @AfterEach
    void stop() {
        kit.shutdownTestKit();
    }

    @Test
    void shouldHaveRoomForAllThatARankHasReceived() {
        requireRoom(ready(MessageKeys.of(keys(1))));
    }

    @Test
    void shouldHaveRoomForAnySetOfMissingMessages() {
        RandomGenerator random = new SplittableRandom(SEED);
        List<MessageKey> scattered = new ArrayList<>(keys(2));
        keys(1).stream().filter(_ -> random.nextInt(3) == 0).forEach(scattered::add);
        requireRoom(ready(MessageKeys.of(scattered)));
        requireRoom(new ScheduleActor.Resume(TERM, Integer.MAX_VALUE, Long.MAX_VALUE, MessageKeys.of(scattered)));
    }

    /** The most that parallel.flush-every allows. */
    @Test
    void shouldHaveRoomForTheUpdatesOfAPass() {
        requireRoom(new ScheduleActor.StartPass(TERM, new Pass(Long.MAX_VALUE, Pass.Kind.TRAINING), LongStream
                .range(0, 1024)
                .mapToObj(step -> new WeightUpdate(Long.MAX_VALUE - step, Math.PI * step, 1, Long.MAX_VALUE, false,
                        Math.E))
                .toList()));
    }

    @Test
    void shouldHaveRoomForTheLossesOfAStep() {
        List<MicrobatchLoss> losses = IntStream.range(0, MICROBATCHES)
                .mapToObj(microbatch -> new MicrobatchLoss(65_535 * 100 + microbatch, Math.PI * microbatch)).toList();
        List<LayerSquaredSum> sums = IntStream.range(0, 1000)
                .mapToObj(layer -> new LayerSquaredSum(60_000 + layer, 0, Math.E * layer)).toList();
        requireRoom(new TrainingCoordinator.Happened(new RunEvent.PassDone(new Incarnation(65_535, 7, 1),
                new Pass(Integer.MAX_VALUE, Pass.Kind.TRAINING, 1), losses, sums)));
    }

    @Test
    void shouldHaveRoomForTheDigestsOfAStep() {
        long[] digests = new SplittableRandom(SEED).longs(RankTelemetry.MOST_DIGESTS_ELSEWHERE).toArray();
        TrainingCoordinator.StepDigested told = new TrainingCoordinator.StepDigested(new Incarnation(65_535, 7, 1),
                Integer.MAX_VALUE, new RankBits(65_535, 0, digests));
        byte[] bytes = serialization.serialize(told).get();
        TrainingCoordinator.StepDigested read = (TrainingCoordinator.StepDigested) read(told, bytes);
        assertArrayEquals(digests, read.bits().values());
        assertTrue(bytes.length < frameBytes - 8192, bytes.length + " bytes, and a frame has " + frameBytes);
    }

    @Test
    void shouldReadTheOrdersOfANodeAsTheyWereGiven() {
        List<String> hosts = IntStream.range(0, 1000).mapToObj(rank -> "node-" + rank / 8).toList();
        Map<String, Integer> since = Map.of("node-3", 7, "node-4", 7);
        requireRoom(new NodeActor.Happened(
                new NodeEvent.Ordered(TERM, new NodeEvent.EnterEpoch(7, List.of(24, 25), 12, hosts, since))));
        requireRoom(new NodeActor.Happened(
                new NodeEvent.Ordered(TERM, new NodeEvent.Committed(new Commit(12, LossScale.none(12))))));
        requireRoom(new NodeActor.HostRanks(TERM, new NodeEvent.HostRanks(7, hosts, since, "/runs/one"),
                kit.<TrainingCoordinator.Command>createTestProbe().ref()));
    }

    /** The versions before terms: such a node is refused, so the coordinator reads its question and it reads the refusal. */
    @Test
    void shouldSpeakOfARefusalWithANodeThatKnowsNoTerms() throws IOException {
        ObjectMapper mapper = JacksonObjectMapperProvider.get(kit.system()).getOrCreate("jackson-cbor",
                Optional.empty());
        ActorRef<NodeActor.Command> node = kit.<NodeActor.Command>createTestProbe().ref();
        TrainingCoordinator.NodeJoined joined = new TrainingCoordinator.NodeJoined(node, "old",
                Map.of("version", "0.1"), 3, 0, Optional.empty(), WarmUpReport.NOTHING_TO_RUN);
        ObjectNode asked = (ObjectNode) mapper.readTree(serialization.serialize(joined).get());
        assertEquals(0, asked.remove("term").intValue());
        assertEquals(joined, read(joined, mapper.writeValueAsBytes(asked)));
        NodeActor.Happened refused = new NodeActor.Happened(new NodeEvent.Refused("another version"));
        assertEquals(mapper.readTree(mapper.writeValueAsBytes(
                Map.of("event", Map.of("event", "Refused", "why", "another version")))),
                mapper.readTree(serialization.serialize(refused).get()));
    }

    private Object read(Object message, byte[] bytes) {
        Serializer serializer = serialization.findSerializerFor(message);
        return serialization.deserialize(bytes, serializer.identifier(), Serializers.manifestFor(serializer, message))
                .get();
    }

    private static TrainingCoordinator.Happened ready(MessageKeys keys) {
        return new TrainingCoordinator.Happened(
                new RunEvent.EpochReady(new Incarnation(65_535, 7, 1), Integer.MAX_VALUE, Long.MAX_VALUE, keys));
    }

    /** The messages of all microbatches that divide by a number, on the edges of a rank in the middle. */
    private static List<MessageKey> keys(int divisor) {
        List<MessageKey> keys = new ArrayList<>();
        for (int stage = 0; stage < VIRTUAL_STAGES; stage++) {
            for (MessageKind kind : List.of(MessageKind.ACTIVATION, MessageKind.GRADIENT)) {
                Edge edge = new Edge(65_534, 65_535, 60_000 + stage, kind);
                IntStream.range(0, MICROBATCHES).filter(microbatch -> microbatch % divisor == 0)
                        .forEach(microbatch -> keys.add(new MessageKey(edge, microbatch)));
            }
        }
        return keys;
    }

    private void requireRoom(Object message) {
        byte[] bytes = serialization.serialize(message).get();
        assertEquals(message, read(message, bytes));
        assertTrue(bytes.length < frameBytes - 8192, bytes.length + " bytes, and a frame has " + frameBytes);
    }
}
