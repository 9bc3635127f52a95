package dev.troupe.cli.options;

import dev.troupe.config.Key;
import dev.troupe.config.spec.EngineSpec;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.plan.prepare.EngineChoice;
import dev.troupe.schedule.family.Schedules;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The values of keys that the configuration module cannot list: schedules and installed engines. */
public final class SettingValues {
    private SettingValues() {
    }

    /** Returns the keys with the choices of this process added. */
    public static List<Key> withNames(List<Key> keys) {
        List<String> engines = Stream.concat(Stream.of(EngineSpec.AUTO),
                EngineChoice.installed().stream().map(EngineProvider::kind)).toList();
        Map<String, List<String>> names = Map.of("parallel.schedule", Schedules.ofTraining(), "engine.kind", engines,
                "cluster.nodes[].engine", engines, "parallel.layout", List.of("uniform", "parameters", "measured"),
                "training.loss-scale", List.of("none", "dynamic"), "training.zero", List.of("0", "1", "2", "3"),
                "data.token-bytes", List.of("0", "2", "4"));
        return keys.stream().map(key -> key.choices().isEmpty()
                ? key.withChoices(names.getOrDefault(key.path(), List.of()))
                : key).toList();
    }
}
