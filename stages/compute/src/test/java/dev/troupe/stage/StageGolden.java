package dev.troupe.stage;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.model.ModelSpec;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.weights.SafeTensors;
import dev.troupe.weights.huggingface.HuggingFaceModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;

/** One training run of PyTorch in float64: its initial weights, data and results. */
public final class StageGolden implements AutoCloseable {
    static final String TIED = "gpt2-tied-adamw";
    static final String UNTIED = "gpt2-untied-sgd";
    static final String UNEVEN = "gpt2-uneven";
    /** AdamW on gradients at the weights before the last update. */
    static final String DELAYED = "gpt2-2bw";

    final HuggingFaceModel initial;
    /** Null if the golden has none. */
    final SafeTensors firstGradients;
    final SafeTensors finalWeights;
    final double[] losses;
    final double[] norms;
    /** Without their coefficient; empty for a model without experts. */
    final double[] auxiliaryLosses;
    final int sequenceLength;
    final int batchSize;
    final int steps;
    final double learningRate;
    final double gradientClip;
    final Optimizer optimizer;
    private final ByteBuffer tokens;

    StageGolden(String name) {
        this(name, own -> own);
    }

    /** Creates the model and the data of a golden run, trained by another optimizer. */
    StageGolden(String name, UnaryOperator<Optimizer> other) {
        try {
            Path directory = Path.of(StageGolden.class.getResource("/goldens/" + name).toURI());
            initial = HuggingFaceModel.open(directory.resolve("model"));
            Path gradients = directory.resolve("gradients-step1.safetensors");
            firstGradients = Files.exists(gradients) ? SafeTensors.open(gradients) : null;
            finalWeights = SafeTensors.open(directory.resolve("final.safetensors"));
            tokens = ByteBuffer.wrap(Files.readAllBytes(directory.resolve("tokens.bin")))
                    .order(ByteOrder.LITTLE_ENDIAN);
            JsonNode expected = new ObjectMapper().readTree(directory.resolve("expected.json").toFile());
            losses = numbers(expected.get("losses"));
            norms = numbers(expected.get("gradient_norms"));
            auxiliaryLosses = expected.has("aux_losses") ? numbers(expected.get("aux_losses")) : new double[0];
            sequenceLength = expected.get("sequence_length").asInt();
            batchSize = expected.get("global_batch_size").asInt();
            steps = expected.path("steps").asInt(1);
            JsonNode given = expected.get("optimizer");
            learningRate = given.get("learning_rate").asDouble();
            gradientClip = given.path("gradient_clip").asDouble();
            double decay = given.path("weight_decay").asDouble();
            optimizer = other.apply(given.get("kind").asText().equals("sgd") || !given.has("betas")
                    ? new Optimizer.Sgd(decay)
                    : new Optimizer.AdamW(given.get("betas").get(0).asDouble(), given.get("betas").get(1).asDouble(),
                            given.get("epsilon").asDouble(), decay));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        } catch (URISyntaxException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static double[] numbers(JsonNode array) {
        double[] numbers = new double[array.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = array.get(i).asDouble();
        }
        return numbers;
    }

    ModelSpec model() {
        return initial.spec();
    }

    /** Returns the tokens of a microbatch, or with a shift of 1 its targets. */
    int[] tokens(int step, int microbatch, int microbatchSize, int shift) {
        int[] ids = new int[microbatchSize * sequenceLength];
        int first = (step * batchSize + microbatch * microbatchSize) * sequenceLength + shift;
        for (int i = 0; i < ids.length; i++) {
            ids[i] = Short.toUnsignedInt(tokens.getShort(2 * (first + i)));
        }
        return ids;
    }

    @Override
    public void close() {
        initial.close();
        if (firstGradients != null) {
            firstGradients.close();
        }
        finalWeights.close();
    }
}
