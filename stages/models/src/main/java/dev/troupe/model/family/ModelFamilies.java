package dev.troupe.model.family;

import dev.troupe.model.ModelFamily;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.glm4moe.Glm4MoeFamily;
import dev.troupe.model.gpt2.Gpt2Family;
import dev.troupe.model.llama.LlamaFamily;
import dev.troupe.model.mixtral.MixtralFamily;
import dev.troupe.model.qwen2.Qwen2Family;
import dev.troupe.model.qwen3.Qwen3Family;
import dev.troupe.model.qwen3moe.Qwen3MoeFamily;
import java.util.List;

/** The families of models that can be trained. */
public final class ModelFamilies {
    private static final List<ModelFamily> ALL = List.of(new Gpt2Family(), new LlamaFamily(), new Qwen2Family(),
            new Qwen3Family(), new MixtralFamily(), new Qwen3MoeFamily(), new Glm4MoeFamily());

    private ModelFamilies() {
    }

    public static ModelFamily original() {
        return ALL.getFirst();
    }

    public static List<String> names() {
        return ALL.stream().map(ModelFamily::name).toList();
    }

    public static String titles() {
        return either(ALL.stream().map(ModelFamily::title).toList());
    }

    /**
     * Returns the family of a name.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static ModelFamily named(String name) {
        return ALL.stream().filter(family -> family.name().equals(name)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "model.family must be one of " + names() + ", but found " + name));
    }

    /**
     * Returns the family of a {@code config.json}.
     *
     * @throws dev.troupe.weights.WeightException if there is none
     */
    public static ModelFamily of(PublishedConfig config) {
        String type = config.value("model_type").asText("");
        return ALL.stream().filter(family -> family.isPublishedAs(type)).findFirst()
                .orElseThrow(() -> config.refusal("model_type",
                        either(names().stream().map(name -> '"' + name + '"').toList())));
    }

    private static String either(List<String> words) {
        return String.join(", ", words.subList(0, words.size() - 1)) + " or " + words.getLast();
    }
}
