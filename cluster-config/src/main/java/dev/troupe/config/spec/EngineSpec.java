package dev.troupe.config.spec;

import dev.troupe.config.problem.Word;
import dev.troupe.config.value.Range;
import dev.troupe.config.value.Texts;
import dev.troupe.config.value.Values;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The engine of a run: the section {@code engine} of the defaults.
 *
 * @param threads threads that compute for one rank; 0: the cores of the machine divided among the ranks on it
 * @param exactRows whether a row of the forward has the same bits whatever other rows are computed in the same call
 * @param device number of the device in the order of its driver; empty: the ranks of a machine are assigned in rotation
 */
public record EngineSpec(String kind, int threads, OptionalInt device, String products,
        Float32Products float32Products, boolean exactRows, EmulatedSpec emulated) {

    /** The kind by which the runtime chooses the engine, and the products by which it chooses their libraries. */
    public static final String AUTO = "auto";
    /** The value of {@code engine.device} for no device of its own. */
    public static final String ROUND_ROBIN = "round-robin";

    private static final String SPEED = "emulated-speed";
    private static final int MOST_THREADS = 1024;
    private static final Set<String> FLOAT64_ENGINES = Set.of(AUTO, "nd4j", "reference");

    public EngineSpec {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(device, "device");
        Objects.requireNonNull(products, "products");
        Objects.requireNonNull(float32Products, "float32Products");
        Objects.requireNonNull(emulated, "emulated");
    }

    public static EngineSpec read(Values values) {
        return new EngineSpec(values.text("engine.kind", Texts.ENGINE),
                values.integer("engine.threads", 0, MOST_THREADS), device(values, "engine.device"),
                values.text("engine.products", Texts.NOT_EMPTY, "auto, onednn, openblas, own, cublaslt or a path"),
                values.word("engine.float32-products", Float32Products.class, ""), values.flag("engine.exact-rows"),
                EmulatedSpec.read(values));
    }

    /** Reads the engine of a node: this one, with the keys that the node has over it. */
    public EngineSpec readNode(Values node) {
        EngineSpec own = new EngineSpec(node.isGiven("engine") ? node.text("engine", Texts.ENGINE) : kind,
                node.isGiven("threads") ? node.integer("threads", 0, MOST_THREADS) : threads,
                node.isGiven("device") ? device(node, "device") : device, products, float32Products, exactRows,
                node.isGiven(SPEED) ? emulated.withSpeed(node.decimal(SPEED, Range.POSITIVE)) : emulated);
        node.settle(SPEED, own.emulated().speed());
        node.settle("engine", own.kind());
        node.settle("threads", own.threads());
        node.settle("device", text(own.device()));
        return own;
    }

    private static OptionalInt device(Values values, String key) {
        String text = values.text(key, Texts.DEVICE);
        OptionalInt device = text.equals(ROUND_ROBIN) ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(text));
        values.settle(key, text(device));
        return device;
    }

    /** Returns whether an engine of this kind can compute in float64. */
    public static boolean mayComputeInFloat64(String kind) {
        return FLOAT64_ENGINES.contains(kind);
    }

    /** Returns the same engine with other libraries of matrix products. */
    public EngineSpec withProducts(String others) {
        return new EngineSpec(kind, threads, device, others, float32Products, exactRows, emulated);
    }

    /** Returns the values of the keys that a node may have of its own, and of {@code engine.products}. */
    public Map<String, Object> values() {
        return Map.of("engine.kind", kind, "engine.threads", threads, "engine.device", text(device), "engine.products",
                products, "engine.emulated.speed", emulated.speed());
    }

    /** The computation of products of float32 on an engine that can split floats into numbers of bfloat16. */
    public enum Float32Products implements Word {
        /** Of whole floats. */
        EXACT("exact", 0),
        /** Three numbers for each float, and the six leading of nine products. */
        BF16X6("bf16x6", 3),
        /** Two numbers for each float, and the three leading of four products. */
        BF16X3("bf16x3", 2);

        private final String word;
        private final int parts;

        Float32Products(String word, int parts) {
            this.word = word;
            this.parts = parts;
        }

        @Override
        public String word() {
            return word;
        }

        /** Returns the numbers of bfloat16 for each float; 0 for whole floats. */
        public int parts() {
            return parts;
        }
    }

    private static String text(OptionalInt device) {
        return device.isPresent() ? "" + device.getAsInt() : ROUND_ROBIN;
    }
}
