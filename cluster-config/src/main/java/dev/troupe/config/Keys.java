package dev.troupe.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValue;
import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.problem.KnownKeys;
import dev.troupe.config.problem.Problem;
import dev.troupe.config.value.FileOrder;
import dev.troupe.config.value.Sources;
import dev.troupe.config.value.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** All keys as {@code troupe-defaults.conf} and their readers declare them. */
public final class Keys {
    private static final String NODES = "cluster.nodes[].";
    /** Other ways to write a key of a node: by the section of the defaults, by the index of a node, and by neither. */
    private static final Pattern OF_A_NODE = Pattern
            .compile("(?:troupe-node|cluster\\.nodes\\[\\d*])(?:\\.|$)|cluster\\.nodes\\.");
    /** The names of some keys in other trainers. */
    private static final Map<String, List<String>> OTHER_NAMES = Map.ofEntries(
            Map.entry("training.learning-rate.peak", List.of("lr", "learning-rate")),
            Map.entry("training.global-batch-size", List.of("batch-size", "bs")),
            Map.entry("training.microbatch-size", List.of("micro-batch-size")),
            Map.entry("training.steps", List.of("iters", "train-iters", "max-iters", "max-steps", "num-steps")),
            Map.entry("training.precision", List.of("dtype")),
            Map.entry("training.gradient-clip", List.of("grad-clip", "clip-grad")),
            Map.entry("parallel.pipeline", List.of("pp", "pipeline-model-parallel-size")),
            Map.entry("parallel.tensor", List.of("tp", "tensor-model-parallel-size")),
            Map.entry("parallel.data", List.of("dp", "data-parallel-size")),
            Map.entry("parallel.expert", List.of("ep", "expert-model-parallel-size")),
            Map.entry("model.layers", List.of("n-layer", "num-layers")),
            Map.entry("model.hidden", List.of("n-embd", "hidden-size")),
            Map.entry("model.heads", List.of("n-head", "num-attention-heads")),
            Map.entry("model.sequence-length", List.of("seq-length", "seq-len", "block-size")),
            Map.entry("data.path", List.of("data", "dataset", "data-path")),
            Map.entry("engine.kind", List.of("engine", "device")));

    private final KnownKeys known;
    private final KnownKeys knownOfNodes;
    private final List<Key> all = new ArrayList<>();

    /** Reads the defaults. */
    public Keys() {
        Config defaults = Sources.defaultValues();
        known = new KnownKeys(defaults.getObject(Sources.ROOT));
        knownOfNodes = new KnownKeys(defaults.getObject(Sources.NODE));
        Map<String, Values.Accepted> accepted = RunSpecReader.accepted();
        learn("", defaults.getObject(Sources.ROOT), Tags.NONE, accepted);
        learn(NODES, defaults.getObject(Sources.NODE), Tags.NONE, accepted);
    }

    private void learn(String prefix, ConfigObject section, Tags ofSection, Map<String, Values.Accepted> accepted) {
        for (Map.Entry<String, ConfigValue> entry : FileOrder.of(section)) {
            String path = prefix + entry.getKey();
            Tags tags = Tags.of(entry.getValue(), ofSection);
            if (entry.getValue() instanceof ConfigObject inner) {
                learn(path + ".", inner, tags, accepted);
            } else {
                Values.Accepted values = accepted.get(path.replace("[]", "[0]"));
                all.add(new Key(path, text(entry.getValue()), tags.reason(), values.expected(), values.choices(),
                        tags.only(), tags.differs()));
            }
        }
    }

    /** Returns the value as a file has it: numbers as they were written, and quotes only if they are needed. */
    private static String text(ConfigValue value) {
        return switch (value.valueType()) {
            case NUMBER -> value.atKey("number").getString("number");
            case LIST -> value.render(ConfigRenderOptions.concise()).replace(",", ", ");
            case OBJECT, STRING, BOOLEAN, NULL -> value.render(ConfigRenderOptions.concise().setJson(false));
        };
    }

    /** Returns all keys, in the order of the file. */
    public List<Key> all() {
        return List.copyOf(all);
    }

    /** Returns the paths of the keys that may have different values on the nodes of a run. */
    public Set<String> differing() {
        return all.stream().filter(Key::differs).map(Key::path).collect(Collectors.toSet());
    }

    /**
     * Returns the keys of a prefix: the key of this path, the keys of this section, or all keys with this beginning. The
     * keys of a node are {@code cluster.nodes[].name} and so on, also by {@code troupe-node} or {@code cluster.nodes[0]}.
     *
     * @throws ConfigException if there are none, with the nearest that exist
     */
    public List<Key> startingWith(String prefix) {
        String bare = prefix.startsWith(Sources.ROOT + ".") ? prefix.substring(Sources.ROOT.length() + 1) : prefix;
        Matcher node = OF_A_NODE.matcher(bare);
        String path = node.lookingAt() ? NODES + bare.substring(node.end()) : bare;
        List<Key> matching = all.stream().filter(key -> key.path().startsWith(path)).toList();
        if (matching.isEmpty()) {
            throw new ConfigException(List.of(
                    new Problem(bare, "keys", "a key, a section or the beginning of one", "none that begins so",
                            path.startsWith(NODES)
                                    ? knownOfNodes.adviceForKey(path.substring(NODES.length()))
                                    : known.adviceForKey(path.replaceFirst("\\.$", "")))));
        }
        return matching;
    }

    /**
     * Returns the keys that an option of another program may mean, such as {@code schedule}, {@code lr} or {@code
     * batch_size}; empty if none is similar.
     */
    public List<Key> named(String option) {
        String name = option.toLowerCase(Locale.ROOT).replace('_', '-');
        List<Key> whole = all.stream().filter(
                key -> key.path().equals(name) || OTHER_NAMES.getOrDefault(key.path(), List.of()).contains(name))
                .toList();
        if (!whole.isEmpty()) {
            return whole;
        }
        List<Key> exact = all.stream().filter(key -> !key.path().startsWith(NODES) && key.name().equals(name)).toList();
        // Short words with two letters in common are not similar.
        int farthest = Math.min(2, name.length() / 4);
        return !exact.isEmpty() || farthest == 0
                ? exact
                : all.stream().filter(key -> !key.path().startsWith(NODES)
                        && KnownKeys.distance(name, key.name()) <= farthest).toList();
    }
}
