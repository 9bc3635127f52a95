package dev.troupe.generate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.engine.cpu.CpuEngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.layer.HeadLayer;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.ModelFamily;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.Section;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorShare;
import dev.troupe.partition.LayerRange;
import dev.troupe.shard.Overlap;
import dev.troupe.shard.StageBuffers;
import dev.troupe.stage.EngineSums;
import dev.troupe.stage.StageLayers;
import dev.troupe.stage.TokenUpload;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Texts with caches, several at a time and in parts, compared to the bit with the forward of training over the whole text.
 * Models, prompts, parts, stages and the other sequences of a microbatch are drawn. The engine {@code reference} adds up a
 * row in one order, whatever other rows there are, and so does {@code cpu} with exact rows.
 */
@Tag("parity")
@Dealt(4)
class ExactTextTest {
    private static final List<String> FAMILIES = List.of("gpt2", "llama", "qwen2", "qwen3", "mixtral", "qwen3_moe");

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldHaveTheBitsOfTheForwardOfTraining(String kind, long seed) {
        Random random = new Random(seed);
        int vocabulary = 11 + random.nextInt(60);
        int places = 12 + random.nextInt(30);
        ModelSpec model = model(random, vocabulary, places);
        try (Engine engine = open(kind);
                Generator generator = new Generator(engine, model, ExactTextTest::read, places,
                        1 + random.nextInt(2 * places))) {
            List<int[]> prompts = new ArrayList<>();
            List<Continuation> texts = new ArrayList<>();
            int count = 1 + random.nextInt(4);
            for (int text = 0; text < count; text++) {
                prompts.add(random.ints(1 + random.nextInt(places - 4), 0, vocabulary).toArray());
                texts.add(generator.begin(prompts.get(text), new Sampling(1.2, 0, seed + text)));
            }
            List<Integer> open = new ArrayList<>(IntStream.range(0, texts.size()).boxed().toList());
            Map<Integer, List<double[]>> logits = new HashMap<>();
            while (!open.isEmpty()) { // some of them, in any order
                Collections.shuffle(open, random);
                List<Integer> some = List.copyOf(open.subList(0, 1 + random.nextInt(open.size())));
                generator.read(some.stream().map(texts::get).toList());
                for (int text : some) {
                    if (texts.get(text).isReady()) {
                        texts.get(text).draw();
                        logits.computeIfAbsent(text, _ -> new ArrayList<>()).add(texts.get(text).logits().clone());
                    }
                    if (prompts.get(text).length + texts.get(text).count() == places) {
                        open.remove(Integer.valueOf(text));
                    }
                }
            }
            for (int text = 0; text < texts.size(); text++) {
                int[] whole = IntStream.concat(IntStream.of(prompts.get(text)), IntStream.of(texts.get(text).written()))
                        .toArray();
                double[][] expected = forward(engine, model, whole, vocabulary, random);
                double[] probabilities = generator.logProbabilities(whole);
                int first = prompts.get(text).length;
                for (int place = first; place < places; place++) {
                    double[] found = logits.get(text).get(place - first);
                    assertArrayEquals(expected[place - 1], found,
                            kind + " seed " + seed + " text " + text + " place " + place);
                    assertEquals(probabilities[place - 1], found[whole[place]] - Continuation.logSumExp(found));
                }
            }
            texts.forEach(Continuation::close);
        }
    }

    static Stream<Arguments> seeds() {
        return Stream.of("reference FLOAT32", "reference FLOAT64", "cpu FLOAT32", "cpu BFLOAT16")
                .flatMap(kind -> LongStream.rangeClosed(1, 12).mapToObj(seed -> Arguments.of(kind, seed)));
    }

    private static Engine open(String kind) {
        DataType type = DataType.valueOf(kind.split(" ")[1]);
        return kind.startsWith("reference")
                ? new ReferenceEngine(type)
                : new CpuEngineProvider().open(new EngineSettings(DataType.FLOAT32, type, 2).withExactRows(true));
    }

    /** The logits of training: stages of some layers each, and the text among others of one microbatch. */
    private static double[][] forward(Engine engine, ModelSpec model, int[] text, int vocabulary, Random random) {
        int length = text.length;
        int stages = 1 + random.nextInt(3);
        int sequences = 1 + random.nextInt(3);
        int[] ids = random.ints(sequences * length, 0, vocabulary).toArray();
        int own = random.nextInt(sequences) * length;
        System.arraycopy(text, 0, ids, own, length);
        MicrobatchContext microbatch = MicrobatchContext.plain(length);
        MemorySegment logits = MemorySegment.NULL;
        MemorySegment passed = MemorySegment.NULL;
        for (int stage = 0; stage < stages; stage++) {
            int first = stage * model.layers().size() / stages;
            int end = (stage + 1) * model.layers().size() / stages;
            LayerContext context = new LayerContext(engine, new TensorPool(engine), model.size(Axis.HIDDEN), sequences,
                    length, 1, TensorShare.ALL);
            StageLayers layers = StageLayers.of(context, model, new LayerRange(first, end - 1));
            try (TensorPool pool = context.pool();
                    StageBuffers buffers = new StageBuffers(engine, layers.used(), false, DataShare.ALL,
                            TensorGroup.ALONE, pool, Overlap.NONE, 0);
                    TokenUpload upload = new TokenUpload(context, stage, vocabulary);
                    EngineSums loss = new EngineSums(engine, 1)) {
                buffers.load(layers.parameters(), ExactTextTest::read);
                Tensor x = stage == 0
                        ? upload.tokens(ids, length)
                        : pool.take(Shape.of(ids.length, model.size(Axis.HIDDEN)));
                if (stage > 0) {
                    engine.copyFromHost(passed, x, 0);
                }
                x = layers.forwardBeforeHead(x, microbatch);
                if (stage < stages - 1) {
                    passed = host(x);
                    engine.copyToHost(x, 0, passed);
                    pool.give(x);
                } else {
                    HeadLayer.Pass head = layers.head().newTape();
                    head.predict(upload.targets(ids, length), 1, loss.tensor(), 0);
                    head.forward(x, microbatch);
                    Tensor floats = pool.takeFloats(head.logits().shape());
                    engine.cast(head.logits(), floats);
                    logits = host(floats);
                    engine.copyToHost(floats, 0, logits);
                    pool.give(floats);
                    head.release();
                }
            }
        }
        double[][] rows = new double[length][vocabulary];
        for (int i = 0; i < length * vocabulary; i++) {
            long from = (long) own * vocabulary + i;
            rows[i / vocabulary][i % vocabulary] = engine.parameterType() == DataType.FLOAT64
                    ? logits.getAtIndex(ValueLayout.JAVA_DOUBLE_UNALIGNED, from)
                    : logits.getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, from);
        }
        return rows;
    }

    private static MemorySegment host(Tensor tensor) {
        return MemorySegment.ofArray(new long[Math.toIntExact(tensor.byteCount() / Long.BYTES) + 1])
                .asSlice(0, tensor.byteCount());
    }

    private static ModelSpec model(Random random, int vocabulary, int places) {
        String name = FAMILIES.get(random.nextInt(FAMILIES.size()));
        int keyValueHeads = 1 + random.nextInt(2);
        int heads = keyValueHeads * (1 + random.nextInt(3));
        Map<String, Object> section = new HashMap<>(Map.of("layers", 1 + random.nextInt(3), "hidden",
                heads * 2 * (1 + random.nextInt(5)), "heads", heads, "sequence-length", places, "vocabulary-size",
                vocabulary, "tie-embeddings", random.nextBoolean()));
        if (!name.equals("gpt2")) {
            section.put("key-value-heads", keyValueHeads);
            section.put("inner", 8 + random.nextInt(30));
        }
        if (name.equals("mixtral") || name.equals("qwen3_moe")) {
            section.put("experts", 5);
            section.put("experts-per-token", 3);
        }
        ModelFamily family = ModelFamilies.named(name);
        return family.read(new Section(section));
    }

    /** Values that are drawn by the name of a tensor. */
    static void read(String name, Shape shape, DataType type, MemorySegment target) {
        Random random = new Random(name.hashCode());
        for (long i = 0; i < shape.elementCount(); i++) {
            double value = 0.4 * random.nextGaussian();
            if (type == DataType.FLOAT64) {
                target.setAtIndex(ValueLayout.JAVA_DOUBLE_UNALIGNED, i, value);
            } else {
                target.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i, (float) value);
            }
        }
    }
}
