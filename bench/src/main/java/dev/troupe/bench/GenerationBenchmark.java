package dev.troupe.bench;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.cpu.CpuEngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.generate.Continuation;
import dev.troupe.generate.Evaluator;
import dev.troupe.generate.Generator;
import dev.troupe.generate.Sampling;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Section;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The speed of texts on the engine cpu, for a model of SmolLM2-135M's shape with random weights: one text, sixteen at a
 * time, a prompt, and the forward of training, with exact rows and without alternately. Prints a table of
 * {@code bench/generate/README.md}.
 */
@Command(name = "bench/generate/run", mixinStandardHelpOptions = true, description = {
        "Measures tokens a second with exact rows and without, alternately."})
public final class GenerationBenchmark implements Callable<Integer> {
    private static final int CONTEXT = 576;
    private static final int PROMPT = 512;
    private static final int SLOTS = 16;
    private static final int VOCABULARY = 49152;
    /** Numbers of each thread that measures the memory: more than any cache holds. */
    private static final int NUMBERS = 1 << 26;

    @Option(names = "--precision", paramLabel = "T", description = "float32 | bfloat16 (default: ${DEFAULT-VALUE}).")
    private String precision = "float32";

    @Option(names = "--rounds", paramLabel = "N", description = "Measured rounds (default: ${DEFAULT-VALUE}).")
    private int rounds = 3;

    @Option(names = "--tokens", paramLabel = "N", description = "Tokens of each text (default: ${DEFAULT-VALUE}).")
    private int tokens = 24;

    private final PrintStream output = System.out;
    private final int threads = Runtime.getRuntime().availableProcessors();
    private double sink;

    /** Measures and exits. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new GenerationBenchmark()).execute(arguments));
    }

    @Override
    public Integer call() throws InterruptedException {
        double bandwidth = bandwidth();
        Map<String, Samples> plain = new LinkedHashMap<>();
        Map<String, Samples> exact = new LinkedHashMap<>();
        try (Side one = new Side(false); Side other = new Side(true)) {
            one.measure(new LinkedHashMap<>());
            other.measure(new LinkedHashMap<>());
            for (int round = 0; round < rounds; round++) {
                one.measure(plain);
                other.measure(exact);
            }
            long bytes = one.model.parameterCount() * (precision.equals("float32") ? 4 : 2);
            output.printf(Locale.ROOT, "%s, %d threads, %.1f GB/s read: at most %.1f tokens/s of one text%n%n",
                    precision,
                    threads, bandwidth / 1e9, bandwidth / bytes);
        }
        MarkdownTable table = new MarkdownTable("tokens/s, median of " + rounds, "as is", "exact rows",
                "times as long");
        plain.forEach((name, samples) -> {
            double without = samples.median();
            double with = exact.get(name).median();
            table.row(name, String.format(Locale.ROOT, "%.1f", without), String.format(Locale.ROOT, "%.1f", with),
                    String.format(Locale.ROOT, "%.2f", without / with));
        });
        output.print(table);
        return 0;
    }

    /** Bytes that all threads read in a second, the best of some passes. */
    private double bandwidth() throws InterruptedException {
        long[][] numbers = new long[threads][NUMBERS];
        double best = 0;
        for (int pass = 0; pass < 5; pass++) {
            long begun = System.nanoTime();
            List<Thread> readers = Arrays.stream(numbers).map(own -> Thread.ofPlatform().start(() -> {
                long sum = Arrays.stream(own, 0, 1).sum();
                for (long number : own) {
                    sum += number;
                }
                synchronized (this) {
                    sink += sum;
                }
            })).toList();
            for (Thread reader : readers) {
                reader.join();
            }
            best = Math.max(best, (double) threads * NUMBERS * Long.BYTES / (System.nanoTime() - begun) * 1e9);
        }
        return best;
    }

    /** One of the two settings. */
    private final class Side implements AutoCloseable {
        private final ModelSpec model = ModelFamilies.named("llama").read(new Section(Map.of("layers", 30, "hidden",
                576, "heads", 9, "key-value-heads", 3, "inner", 1536, "sequence-length", CONTEXT, "vocabulary-size",
                VOCABULARY, "tie-embeddings", true)));
        private final int[] prompt = IntStream.range(0, PROMPT).map(i -> i * 97 % VOCABULARY).toArray();
        private final Engine engine;
        private final Generator generator;
        private final Evaluator evaluator;

        Side(boolean exactRows) {
            DataType type = precision.equals("float32") ? DataType.FLOAT32 : DataType.BFLOAT16;
            engine = new CpuEngineProvider()
                    .open(new EngineSettings(DataType.FLOAT32, type, threads).withExactRows(exactRows));
            generator = new Generator(engine, model, new InitialWeights(model, 1), CONTEXT);
            evaluator = new Evaluator(engine, model, new InitialWeights(model, 1), PROMPT);
        }

        void measure(Map<String, Samples> samples) {
            add(samples, "one text", tokens, () -> write(1));
            add(samples, SLOTS + " texts", (double) SLOTS * tokens, () -> write(SLOTS));
            add(samples, "a prompt of " + PROMPT, PROMPT, () -> {
                try (Continuation text = generator.begin(prompt, new Sampling(0, 0, 0))) {
                    text.next();
                }
            });
            add(samples, "the forward of training, " + PROMPT, PROMPT,
                    () -> evaluator.lossOf(new MicrobatchRows(prompt, prompt)));
        }

        private void write(int slots) {
            List<Continuation> texts = new ArrayList<>();
            for (int slot = 0; slot < slots; slot++) {
                texts.add(generator.begin(new int[]{slot + 1}, new Sampling(0, 0, 0)));
            }
            for (int token = 0; token < tokens; token++) {
                generator.read(texts);
                texts.forEach(Continuation::draw);
            }
            texts.forEach(Continuation::close);
        }

        private static void add(Map<String, Samples> samples, String name, double count, Runnable work) {
            long begun = System.nanoTime();
            work.run();
            samples.computeIfAbsent(name, _ -> new Samples()).add(count / (System.nanoTime() - begun) * 1e9);
        }

        @Override
        public void close() {
            generator.close();
            evaluator.close();
            engine.close();
        }
    }
}
