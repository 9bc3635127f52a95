package dev.troupe.look.bisect;

import dev.troupe.config.spec.EngineSpec;
import dev.troupe.config.spec.InvariantSpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.config.spec.update.ReplicasSpec;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.ProductLibraries;
import dev.troupe.plan.prepare.EngineChoice;
import dev.troupe.plan.prepare.PreparedRun;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.zip.CRC32C;

/**
 * The facts in which two runs must agree to have equal digests ({@code docs/determinism.md}), as text. The digest of a
 * weight's gradient, with ZeRO 3 also of a weight, is of one rank's part. So axes that change no weight
 * ({@link InvariantSpec}) are facts, too.
 */
final class BitFacts {
    private static final String LAYER_DROP = "training.layer-drop";
    private static final String NO_LAYER_DROP = "none";
    private static final String EXPERT = "parallel.expert";
    private static final String NO_AXIS = "[]";
    private static final String REPLICAS = "training.replicas";
    private static final String ZERO = "training.zero";
    private static final String WHOLE_GRADIENTS = "0 or 1";
    private static final String WHOLE_LAYERS = "layers that each tensor rank computes whole";
    private static final String ENGINE = "engine.kind";
    private static final String PRODUCTS = "engine.products";
    private static final String FLOAT32_PRODUCTS = "engine.float32-products";
    private static final String EXACT_ROWS = "engine.exact-rows";

    private BitFacts() {
    }

    /** Returns the facts of a run, the most important first. */
    static Map<String, String> of(PreparedRun run) {
        TrainingSpec training = run.spec().training();
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("model", run.model().toString());
        facts.put("data", run.data().trainingAmount() + ", the first microbatch " + firstMicrobatch(run));
        facts.put("data.order", run.spec().data().order().word());
        facts.put("data.seed", Long.toString(run.spec().data().seed()));
        facts.put("training.seed", Long.toString(training.seed()));
        facts.put("training.precision", training.precision().word());
        facts.put("training.global-batch-size", Integer.toString(training.globalBatchSize()));
        facts.put("training.microbatch-size", Integer.toString(training.microbatchSize()));
        facts.put("training.dropout", Double.toString(training.drop().dropout()));
        facts.put(LAYER_DROP, training.drop().dropsHalves()
                ? training.drop().keep() + ", " + training.drop().decay() + " in " + training.steps() + " steps"
                : NO_LAYER_DROP);
        facts.put("sequence length", Integer.toString(run.plan().stageSettings().sequenceLength()));
        facts.put(InvariantSpec.KEY, run.spec().invariant().data() ? "[data]" : NO_AXIS);
        facts.put("parallel.data", Integer.toString(run.spec().parallel().data()));
        facts.put(EXPERT, Integer.toString(run.spec().parallel().expert()));
        int zero = training.memory().zero();
        facts.put(ZERO, zero > 1 && run.spec().parallel().data() > 1 ? Integer.toString(zero) : WHOLE_GRADIENTS);
        facts.put(REPLICAS, training.update().replicas().text());
        facts.put("training.gradient-exchange", training.update().gradientExchange().word());
        facts.put("parallel.tensor", Integer.toString(run.spec().parallel().tensor()));
        facts.put("parallel.sequence", Boolean.toString(run.spec().parallel().sequence()));
        facts.put(WHOLE_LAYERS, new TreeSet<>(run.plan().sharding().wholeLayers()).toString());
        facts.put(ENGINE, run.engine().provider().kind());
        facts.put(PRODUCTS, run.engine().settings().products());
        facts.put(FLOAT32_PRODUCTS, run.spec().engine().float32Products().word());
        facts.put(EXACT_ROWS, Boolean.toString(run.spec().engine().exactRows()));
        return facts;
    }

    /** Completes recorded facts. Before products had a choice, a run used its engine's own, of whole floats. */
    static Map<String, String> complete(Map<String, String> recorded) {
        Map<String, String> facts = new LinkedHashMap<>(recorded);
        facts.computeIfAbsent(PRODUCTS, _ -> EngineChoice.installed().stream()
                .filter(engine -> engine.kind().equals(recorded.get(ENGINE))).findFirst()
                .flatMap(EngineProvider::productLibraries).map(ProductLibraries::own)
                .orElse(EngineSettings.OWN_PRODUCTS));
        facts.putIfAbsent(EXPERT, "1");
        facts.putIfAbsent(ZERO, WHOLE_GRADIENTS);
        facts.putIfAbsent(REPLICAS, ReplicasSpec.Mode.NONE.word());
        facts.putIfAbsent(InvariantSpec.KEY, NO_AXIS);
        facts.putIfAbsent(LAYER_DROP, NO_LAYER_DROP);
        facts.putIfAbsent(WHOLE_LAYERS, "[]");
        facts.putIfAbsent(FLOAT32_PRODUCTS, EngineSpec.Float32Products.EXACT.word());
        facts.putIfAbsent(EXACT_ROWS, "false");
        return facts;
    }

    private static String firstMicrobatch(PreparedRun run) {
        CRC32C sum = new CRC32C();
        sum.update(run.firstMicrobatch().getBytes(StandardCharsets.UTF_8));
        return Long.toHexString(sum.getValue());
    }
}
