package dev.troupe.weights.peft;

import com.fasterxml.jackson.databind.JsonNode;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.spec.Lora;
import dev.troupe.weights.WeightException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The matrices of {@code target_modules}, as PEFT finds them among the modules of a model: by name, by the end of a name
 * after a dot, or by an expression that matches the whole name. Every layer must have the same matrices.
 */
final class PeftTargets {
    /** A published expression has some hundred characters, and takes steps for each name of a module. */
    private static final int LONGEST_EXPRESSION = 4096;
    private static final int MOST_STEPS = 100_000;
    static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final String HEAD = "lm_head";
    private static final String WEIGHT = ".weight";

    private final PublishedConfig config;
    private final ModelSpec base;
    private final Duration patience;
    /** The matrices of a block that can have adapters, by the names of their modules: all layers of each. */
    private final Map<String, List<List<String>>> modulesOfMatrix = new LinkedHashMap<>();
    private final List<String> others = new ArrayList<>(List.of(HEAD));

    private PeftTargets(PublishedConfig config, ModelSpec base, Duration patience) {
        this.config = config;
        this.base = base;
        this.patience = patience;
        List<String> matrices = base.family().adapted(base, new Lora(1, 1, List.of(Lora.ALL_LINEAR), "")).lora()
                .orElseThrow().targets();
        base.parameters().keySet().stream().filter(name -> name.endsWith(WEIGHT)).forEach(name -> {
            List<String> modules = base.family().adapterNames(name).stream()
                    .map(full -> full.substring(0, full.length() - WEIGHT.length())).toList();
            matrices.stream().filter(matrix -> modules.getFirst().endsWith("." + matrix)).findFirst().ifPresentOrElse(
                    matrix -> modulesOfMatrix.computeIfAbsent(matrix, _ -> new ArrayList<>()).add(modules),
                    () -> others.addAll(modules));
        });
    }

    /**
     * Returns the targets by the family's names.
     *
     * @param patience in whole seconds, for an expression
     * @throws dev.troupe.weights.WeightException if there are none, they differ between layers, or one can have no adapter
     */
    static List<String> of(PublishedConfig config, ModelSpec base, Duration patience) {
        JsonNode targets = config.value(PeftConfig.TARGETS);
        if (targets.isTextual() && targets.asText().equals(Lora.ALL_LINEAR)) {
            return List.of(Lora.ALL_LINEAR);
        }
        if (targets.isTextual()) {
            PeftTargets all = new PeftTargets(config, base, patience);
            return all.matching(all.named(expression(config, targets.asText()))::contains);
        }
        if (!targets.isArray() || targets.isEmpty() || targets.valueStream().anyMatch(name -> !name.isTextual())) {
            throw config.refusal(PeftConfig.TARGETS,
                    "a list of names of matrices, an expression, or " + Lora.ALL_LINEAR);
        }
        List<String> names = targets.valueStream().map(JsonNode::asText).distinct().toList();
        PeftTargets all = new PeftTargets(config, base, patience);
        names.forEach(all::requireMatrix);
        return all.matching(module -> names.stream().anyMatch(name -> isNamed(name, module)));
    }

    private static boolean isNamed(String target, String module) {
        return module.equals(target) || module.endsWith("." + target);
    }

    private void requireMatrix(String target) {
        if (modulesOfMatrix.values().stream().flatMap(List::stream).flatMap(List::stream)
                .noneMatch(module -> isNamed(target, module))) {
            throw config.refusal(target + " is no matrix of a " + base.family().title()
                    + " model that can have an adapter: name some of " + String.join(", ", modulesOfMatrix.keySet())
                    + ", or " + Lora.ALL_LINEAR);
        }
    }

    private List<String> matching(Predicate<String> asked) {
        others.stream().filter(asked).findFirst().ifPresent(other -> {
            throw config.refusal(PeftConfig.TARGETS,
                    "names of matrices of the blocks alone, but " + other + " is one of them");
        });
        List<String> found = new ArrayList<>();
        modulesOfMatrix.forEach((matrix, layers) -> {
            List<List<String>> with = layers.stream().filter(modules -> modules.stream().anyMatch(asked)).toList();
            if (!with.isEmpty() && with.size() < layers.size()) {
                Stream<List<String>> without = layers.stream().filter(modules -> !with.contains(modules));
                throw config.refusal(PeftConfig.TARGETS, "the same in every layer, as adapters of some layers alone are"
                        + " not computed here: with " + with.getFirst().getFirst() + " also "
                        + without.findFirst().orElseThrow().getFirst());
            }
            if (!with.isEmpty()) {
                found.add(matrix);
            }
        });
        if (found.isEmpty()) {
            throw config.refusal(PeftConfig.TARGETS, "an expression that matches names of matrices, such as "
                    + modulesOfMatrix.values().iterator().next().getFirst().getFirst());
        }
        return found;
    }

    /**
     * Returns the names of modules that an expression matches. It is asked on a thread of its own: one with empty branches,
     * such as {@code (|)(|)(|)}, takes for ever without a look at a character, and nothing can stop it.
     */
    private Set<String> named(Predicate<String> expression) {
        List<String> modules = Stream.concat(others.stream(),
                modulesOfMatrix.values().stream().flatMap(List::stream).flatMap(List::stream)).toList();
        FutureTask<Set<String>> answer = new FutureTask<>(
                () -> modules.stream().filter(expression).collect(Collectors.toSet()));
        Thread.ofPlatform().daemon().name("target-modules").start(answer);
        try {
            return answer.get(patience.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException endless) {
            throw config.refusal(PeftConfig.TARGETS, "an expression that is done with all names in "
                    + patience.toSeconds() + " s; name the matrices");
        } catch (ExecutionException failure) {
            throw failure.getCause() instanceof WeightException refused
                    ? refused
                    : new IllegalStateException(failure.getCause());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new WeightException("stopped while target_modules were read", stopped);
        }
    }

    /**
     * Returns the predicate of an expression from an untrusted file, and refuses one that does not end, or that only Python
     * knows.
     */
    private static Predicate<String> expression(PublishedConfig config, String text) {
        if (text.length() > LONGEST_EXPRESSION) {
            throw config.refusal(PeftConfig.TARGETS, "an expression of at most " + LONGEST_EXPRESSION + " characters");
        }
        try {
            Pattern pattern = Pattern.compile(text);
            return module -> {
                try {
                    return pattern.matcher(new Steps(module, new int[]{MOST_STEPS})).matches();
                } catch (TooManySteps | StackOverflowError endless) {
                    throw config.refusal(PeftConfig.TARGETS, "an expression that is done with a name in " + MOST_STEPS
                            + " steps; name the matrices");
                }
            };
        } catch (PatternSyntaxException | StackOverflowError unknown) {
            throw config.refusal(PeftConfig.TARGETS,
                    "an expression that Java reads as Python does; name the matrices");
        }
    }

    private static final class TooManySteps extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** A name that counts the accesses to its characters, to limit an expression's steps. */
    private record Steps(String name, int[] left) implements CharSequence {
        @Override
        public char charAt(int index) {
            if (--left[0] < 0) {
                throw new TooManySteps();
            }
            return name.charAt(index);
        }

        @Override
        public int length() {
            return name.length();
        }

        @Override
        public CharSequence subSequence(int from, int to) {
            return new Steps(name.substring(from, to), left);
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
