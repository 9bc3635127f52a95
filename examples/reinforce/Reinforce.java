import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.InstalledEngines;
import dev.troupe.generate.Continuation;
import dev.troupe.generate.Generator;
import dev.troupe.generate.Sampling;
import dev.troupe.generate.StageWeights;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Section;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.partition.Partition;
import dev.troupe.stage.Stage;
import dev.troupe.stage.StageSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The policy gradient (Williams 1992) in one process: one whole model writes texts, a rule scores them, and two pipeline
 * stages train on them. Each version of the weights goes to the generator in memory. The rule likes even tokens.
 */
class Reinforce {
    private static final int[] PROMPT = {1, 2, 3};
    private static final int VOCABULARY = 40;
    private static final int TOKENS = 10;
    private static final int TEXTS = 16;
    private static final int ROUNDS = 40;

    /** A text with its prompt, and the log-probability of each of its own tokens when it was drawn. */
    private record Text(int[] tokens, double[] logProbabilities, double reward) {
    }

    public static void main(String[] arguments) {
        boolean isReference = arguments.length == 0 || arguments[0].equals("reference");
        EngineSettings settings = new EngineSettings(isReference ? DataType.FLOAT64 : DataType.FLOAT32, 1)
                .withExactRows(!isReference);
        ModelSpec model = ModelFamilies.named("llama").read(new Section(Map.of("layers", 2, "hidden", 32, "heads", 4,
                "sequence-length", PROMPT.length + TOKENS, "vocabulary-size", VOCABULARY, "tie-embeddings", false)));
        InitialWeights first = new InitialWeights(model, 1);
        StageSettings step = new StageSettings(1, PROMPT.length + TOKENS - 1, TEXTS,
                new Optimizer.AdamW(0.9, 0.95, 1e-8, 0));
        try (Engine engine = InstalledEngines.find().stream()
                .filter(kind -> kind.kind().equals(isReference ? "reference" : arguments[0])).findFirst().orElseThrow()
                .open(settings);
                Stage embedding = Stage.create(engine, Partition.uniform(model, 2), 0, step, first);
                Stage head = Stage.create(engine, Partition.uniform(model, 2), 1, step, first);
                Generator generator = new Generator(engine, model, first, PROMPT.length + TOKENS)) {
            StageWeights weights = StageWeights.of(engine, List.of(embedding, head));
            double begin = 0;
            double end = 0;
            double largest = 0;
            for (int version = 0; version < ROUNDS; version++) {
                List<Text> texts = new ArrayList<>();
                for (int number = 0; number < TEXTS; number++) {
                    texts.add(write(generator, (long) version * TEXTS + number));
                }
                end = texts.stream().mapToDouble(Text::reward).average().orElseThrow();
                begin = version == 0 ? end : begin;
                double difference = difference(embedding, head, texts);
                largest = Math.max(largest, difference);
                System.out.printf("version %d: mean reward %.3f, largest difference of log-probabilities %s%n", version,
                        end, difference);
                train(embedding, head, texts, end, version);
                generator.load(weights);
            }
            if (end < begin + 0.2 || isReference && largest != 0) {
                throw new AssertionError("the reward went from " + begin + " to " + end + ", the difference is " + largest);
            }
        }
    }

    private static Text write(Generator generator, long seed) {
        try (Continuation text = generator.begin(PROMPT, new Sampling(1, 0, seed))) {
            double[] logProbabilities = IntStream.range(0, TOKENS)
                    .mapToDouble(_ -> text.probability(text.next()).logProbability()).toArray();
            double reward = IntStream.of(text.written()).filter(token -> token % 2 == 0).count() / (double) TOKENS;
            return new Text(IntStream.concat(IntStream.of(PROMPT), IntStream.of(text.written())).toArray(),
                    logProbabilities, reward);
        }
    }

    /** The rows of a text in which the targets from one place on count, so many of them. */
    private static MicrobatchRows rows(int[] text, int first, int count) {
        int[] targets = new int[text.length - 1];
        Arrays.fill(targets, Engine.NOT_COUNTED);
        System.arraycopy(text, first, targets, first - 1, count);
        MicrobatchRows rows = new MicrobatchRows(Arrays.copyOf(text, text.length - 1), targets);
        rows.setTargetsPerMicrobatch(count);
        return rows;
    }

    /** The loss of one token is its log-probability, by the forward of the trainer. */
    private static double difference(Stage embedding, Stage head, List<Text> texts) {
        double largest = 0;
        for (Text text : texts) {
            for (int token = 0; token < TOKENS; token++) {
                MicrobatchRows rows = rows(text.tokens, PROMPT.length + token, 1);
                Tensor activation = embedding.forwardOnly(0, null, rows);
                head.boundary().adopt(activation, embedding.boundary());
                head.forwardOnly(0, activation, rows);
                largest = Math.max(largest, Math.abs(text.logProbabilities[token] + head.loss(0)));
            }
        }
        return largest;
    }

    private static void train(Stage embedding, Stage head, List<Text> texts, double mean, int version) {
        for (int number = 0; number < TEXTS; number++) {
            MicrobatchRows rows = rows(texts.get(number).tokens, PROMPT.length, TOKENS);
            head.scaleLoss(texts.get(number).reward - mean);
            Tensor activation = embedding.forward(number, null, rows);
            head.boundary().adopt(activation, embedding.boundary());
            head.forward(number, activation, rows);
            Tensor gradient = head.backward(number, null);
            embedding.boundary().adopt(gradient, head.boundary());
            embedding.backward(number, gradient);
        }
        for (Stage stage : List.of(embedding, head)) {
            stage.addUpGradients();
            stage.optimizerStep(0.01, 1, version + 1);
        }
    }
}
