package dev.troupe.model.rotary;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.layer.rotary.Frequencies;
import dev.troupe.model.PublishedConfig;
import java.util.List;
import java.util.Optional;

/**
 * The rotary positions of a {@code config.json}: transformers 5 has {@code rope_parameters}, transformers 4
 * {@code rope_theta} and {@code rope_scaling}. If a file has both, transformers 5 uses only {@code rope_scaling}, and not
 * the base in {@code rope_parameters}.
 */
final class PublishedPositions {
    private static final String PART = "partial_rotary_factor";
    private static final String PARAMETERS = "rope_parameters";
    private static final String SCALING = "rope_scaling";
    static final String THETA = "rope_theta";
    private static final String LLAMA3 = "llama3";
    static final String LENGTH = "original_max_position_embeddings";
    /** Other keys belong to other kinds of positions, or are given for each kind of layer. */
    private static final List<String> KNOWN = List.of("rope_type", "type", THETA, "factor", "low_freq_factor",
            "high_freq_factor", LENGTH, PART, "attention_factor");

    private PublishedPositions() {
    }

    /**
     * Reads the positions.
     *
     * @param part the share of a head that turns if there is none
     * @param mayTurnPart whether another share than all may be given
     */
    static Frequencies read(PublishedConfig config, int headSize, double part, boolean mayTurnPart) {
        requireObjectOrNull(config, PARAMETERS);
        requireObjectOrNull(config, SCALING);
        String key = config.value(SCALING).isEmpty() ? PARAMETERS : SCALING;
        JsonNode how = config.value(key);
        Optional<Frequencies.Scaling> scaling = scaling(config, key, how);
        how.propertyStream().filter(entry -> !KNOWN.contains(entry.getKey()) && !entry.getValue().isNull())
                .findFirst().ifPresent(other -> {
                    throw config.refusal(key, "an object of " + String.join(", ", KNOWN)
                            + " for all layers, without " + other.getKey());
                });
        double base = how.has(THETA)
                ? aboveZero(config, key, how, THETA)
                : config.aboveZero(THETA, RotaryModel.ROTARY_BASE);
        double outside = config.isGiven(PART) ? config.aboveZero(PART, part) : part;
        double share = how.has(PART) ? aboveZero(config, key, how, PART) : outside;
        if (!mayTurnPart && (share != 1 || outside != 1)) {
            throw config.refusal("partial_rotary_factor must be 1, as heads are turned whole here, but found another");
        }
        if (share > 1 || config.isGiven(PART) && outside != share) {
            throw config
                    .refusal("partial_rotary_factor must be at most 1, and the same in " + key + " if it has one, but"
                            + " found " + outside + " and " + share);
        }
        return new Frequencies(headSize, RotaryModel.turned(headSize, share), base, scaling);
    }

    private static void requireObjectOrNull(PublishedConfig config, String key) {
        if (config.has(key) && !config.value(key).isNull() && !config.value(key).isObject()) {
            throw config.refusal(key, "null or an object");
        }
    }

    private static Optional<Frequencies.Scaling> scaling(PublishedConfig config, String key, JsonNode how) {
        String type = how.path("rope_type").asText(how.path("type").asText("default"));
        return switch (type) {
            case "default" -> Optional.empty();
            case LLAMA3 -> {
                double low = aboveZero(config, key, how, "low_freq_factor");
                double high = aboveZero(config, key, how, "high_freq_factor");
                if (high <= low) {
                    throw config.refusal(key, "with a high_freq_factor above its low_freq_factor");
                }
                double length = aboveZero(config, key, how, LENGTH);
                if (config.isGiven(LENGTH) && config.value(LENGTH).doubleValue() != length) {
                    throw config.refusal(LENGTH, "as in " + key);
                }
                yield Optional.of(new Frequencies.Scaling(aboveZero(config, key, how, "factor"), low, high,
                        (int) Math.min(length, Integer.MAX_VALUE)));
            }
            default -> throw config.refusal(key, "of rope_type default or llama3, as nothing else is computed here");
        };
    }

    private static double aboveZero(PublishedConfig config, String key, JsonNode how, String name) {
        JsonNode value = how.path(name);
        if (!value.isNumber() || !(value.doubleValue() > 0) || !Double.isFinite(value.doubleValue())) {
            throw config.refusal(key, "an object with a number above 0 as " + name);
        }
        return value.doubleValue();
    }

    /** Writes the keys of both versions. */
    static void write(Frequencies frequencies, ObjectNode config) {
        ObjectNode parameters = config.putObject(PARAMETERS);
        parameters.put(THETA, frequencies.base());
        config.put(THETA, frequencies.base());
        if (frequencies.turned() < frequencies.headSize()) {
            double part = (double) frequencies.turned() / frequencies.headSize();
            parameters.put(PART, part);
            config.put(PART, part);
        }
        if (frequencies.scaling().isEmpty()) {
            parameters.put("rope_type", "default");
            config.putNull(SCALING);
            return;
        }
        Frequencies.Scaling scaling = frequencies.scaling().get();
        for (ObjectNode node : new ObjectNode[]{parameters, config.putObject(SCALING)}) {
            node.put("rope_type", LLAMA3);
            node.put("factor", scaling.factor());
            node.put("low_freq_factor", scaling.lowFactor());
            node.put("high_freq_factor", scaling.highFactor());
            node.put(LENGTH, scaling.originalLength());
        }
    }
}
