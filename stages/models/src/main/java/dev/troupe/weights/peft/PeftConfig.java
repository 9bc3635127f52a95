package dev.troupe.weights.peft;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.spec.Lora;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The {@code adapter_config.json} of PEFT 0.21. Every key is known: it is read, it must have its neutral value, or it has no
 * effect on the computation. Any other key with an effect is refused by name.
 */
final class PeftConfig {
    static final String TARGETS = "target_modules";
    private static final String FAN_IN_FAN_OUT = "fan_in_fan_out";
    private static final String STABILIZED = "use_rslora";
    private static final Set<String> NULL = Set.of("null");
    private static final Set<String> NONE = Set.of("null", "[]");
    private static final Set<String> OFF = Set.of("false", "null");
    private static final Set<String> EMPTY = Set.of("{}", "null");
    /** Keys that must have their neutral value, since other values change the result. */
    private static final Map<String, Set<String>> NEUTRAL = Map.ofEntries(
            Map.entry("bias", Set.of("none")),
            Map.entry("init_lora_weights", Set.of("true", "false", "null", "gaussian", "orthogonal", "eva")),
            Map.entry("use_dora", OFF), Map.entry("use_qalora", OFF), Map.entry("use_bdlora", OFF),
            Map.entry("lora_bias", OFF), Map.entry("rank_pattern", EMPTY), Map.entry("alpha_pattern", EMPTY),
            Map.entry("modules_to_save", NONE), Map.entry("layers_to_transform", NULL),
            Map.entry("layers_pattern", NONE), Map.entry("exclude_modules", NONE), Map.entry("layer_replication", NULL),
            Map.entry("target_parameters", NONE), Map.entry("trainable_token_indices", NULL),
            Map.entry("alora_invocation_tokens", NONE), Map.entry("arrow_config", NULL),
            Map.entry("corda_config", NULL), Map.entry("kasa_config", NULL), Map.entry("lora_ga_config", NULL),
            Map.entry("loftq_config", EMPTY), Map.entry("megatron_config", NULL),
            Map.entry("monteclora_config", NULL), Map.entry("velora_config", NULL),
            Map.entry("ensure_weight_tying", OFF));
    /** Keys on the making or the further use of an adapter. */
    private static final Set<String> WITHOUT_EFFECT = Set.of("task_type", "auto_mapping", "peft_version",
            "base_model_name_or_path", "revision", "inference_mode", "lora_dropout", "megatron_core",
            "qalora_group_size", "runtime_config", "eva_config");

    private PeftConfig() {
    }

    /**
     * Reads the adapters of a configuration, without the identity of the base weights.
     *
     * @throws dev.troupe.weights.WeightException if they are of another kind than is computed here
     */
    static Lora read(PublishedConfig config, ModelSpec base) {
        config.requireOneOf("peft_type", Set.of("LORA"), "");
        if (!base.family().storesInputsFirst()) {
            config.requireFlag(FAN_IN_FAN_OUT, false);
        }
        NEUTRAL.forEach((key, values) -> {
            if (config.has(key) && !values.contains(text(config.value(key)))) {
                throw config.refusal(key, "one of " + values.stream().sorted().toList()
                        + ", as no other adapters are computed here");
            }
        });
        Lora lora = new Lora(config.positive("r"), config.aboveZero("lora_alpha", 8),
                config.isGiven(STABILIZED) && config.flag(STABILIZED, false),
                PeftTargets.of(config, base, PeftTargets.PATIENCE),
                "");
        config.unread().stream().filter(key -> !WITHOUT_EFFECT.contains(key) && !key.equals(FAN_IN_FAN_OUT)).findFirst()
                .ifPresent(unknown -> {
                    throw config.refusal(unknown, "absent, as this version does not know what it asks for");
                });
        return lora;
    }

    private static String text(JsonNode value) {
        return value.isTextual() ? value.asText() : value.toString();
    }

    /** Returns the configuration of a model's adapters, as PEFT reads it. */
    static ObjectNode of(ModelSpec model, Optional<String> base, double dropout) {
        Lora lora = model.lora().orElseThrow();
        ObjectNode config = JsonNodeFactory.instance.objectNode();
        config.put("peft_type", "LORA");
        config.put("task_type", "CAUSAL_LM");
        config.put("base_model_name_or_path", base.orElse(null));
        config.put("r", lora.rank());
        config.put("lora_alpha", lora.alpha());
        config.put(STABILIZED, lora.isRankStabilized());
        config.put("lora_dropout", dropout);
        List<String> targets = lora.targets();
        targets.forEach(config.putArray(TARGETS)::add);
        config.put("bias", "none");
        config.put(FAN_IN_FAN_OUT, model.family().storesInputsFirst());
        config.put("inference_mode", true);
        config.put("init_lora_weights", true);
        return config;
    }
}
