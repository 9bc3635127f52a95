package dev.troupe.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.StreamSupport;

/**
 * One training run of PyTorch in float64: its first weights, its data, and its results.
 *
 * @param directory the directory of its files
 * @param expected its results
 */
public record Golden(Path directory, JsonNode expected) {
    public static final String TIED = "gpt2-tied-adamw";
    static final String UNTIED = "gpt2-untied-sgd";
    static final String UNEVEN = "gpt2-uneven";

    public static Golden named(String name) {
        try {
            Path directory = Path.of(Golden.class.getResource("/goldens/" + name).toURI());
            return new Golden(directory, new ObjectMapper().readTree(directory.resolve("expected.json").toFile()));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (URISyntaxException failure) {
            throw new IllegalStateException(failure);
        }
    }

    double[] losses() {
        return numbers("losses");
    }

    double[] norms() {
        return numbers("gradient_norms");
    }

    /** The auxiliary losses of experts, without their coefficient; empty if they have no effect. */
    double[] auxiliaryLosses() {
        return auxiliaryGroup().isPresent() ? numbers("aux_losses") : new double[0];
    }

    boolean hasExperts() {
        return expected.has("moe");
    }

    /** The sequences over which an auxiliary loss is taken; empty if it has no effect. */
    OptionalInt auxiliaryGroup() {
        JsonNode experts = expected.path("moe");
        return experts.path("router_aux_loss_coef").asDouble(0) == 0
                ? OptionalInt.empty()
                : OptionalInt.of(experts.get("aux_group_sequences").asInt());
    }

    private double[] numbers(String field) {
        return StreamSupport.stream(expected.get(field).spliterator(), false).mapToDouble(JsonNode::asDouble).toArray();
    }

    Path model() {
        return directory.resolve("model");
    }

    /** Bare tokens, or rows of documents. */
    Path data() {
        Path rows = directory.resolve("documents.jsonl");
        return Files.exists(rows) ? rows : directory.resolve("tokens.bin");
    }

    /** The gradients of the first step, if the golden has them. */
    Optional<Path> firstGradients() {
        return Optional.of(directory.resolve("gradients-step1.safetensors")).filter(Files::exists);
    }

    /** The logits of the first sequence before the first step, if the golden has them. */
    Optional<Path> logits() {
        return Optional.of(directory.resolve("logits-first-sequence.safetensors")).filter(Files::exists);
    }

    /** The first adapters, if only adapters are trained. */
    Optional<Path> adapter() {
        return Optional.of(directory.resolve("adapter-initial")).filter(Files::exists);
    }

    /** The trained weights after the last step: all of them, or the adapters. */
    Path finalWeights() {
        return directory
                .resolve(adapter().isPresent() ? "adapter-final/adapter_model.safetensors" : "final.safetensors");
    }

    int steps() {
        return expected.get("steps").asInt();
    }

    /** Model, data and optimizer as settings of a run, on one rank unless {@code more} has others. */
    public List<String> settings(String... more) {
        JsonNode optimizer = expected.get("optimizer");
        List<String> settings = new ArrayList<>(List.of("model.from=" + model(), "data.path=" + data(),
                "data.order=sequential", "model.sequence-length=" + expected.get("sequence_length").asInt(),
                "training.steps=" + steps(),
                "training.global-batch-size=" + expected.get("global_batch_size").asInt(),
                "training.gradient-clip=" + optimizer.get("gradient_clip").asText(),
                "training.optimizer.kind=" + optimizer.get("kind").asText(),
                "training.optimizer.weight-decay=" + optimizer.get("weight_decay").asText(),
                "training.learning-rate.peak=" + optimizer.get("learning_rate").asText(), "parallel.pipeline=1",
                "transport.timeout=20s", "engine.threads=1"));
        if (optimizer.has("betas")) {
            settings.add("training.optimizer.betas=" + optimizer.get("betas"));
            settings.add("training.optimizer.epsilon=" + optimizer.get("epsilon").asText());
        }
        adapter().ifPresent(path -> settings.add("model.adapter=" + path));
        settings.addAll(List.of(more));
        return settings;
    }
}
