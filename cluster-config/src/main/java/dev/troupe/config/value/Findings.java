package dev.troupe.config.value;

import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import dev.troupe.config.problem.KnownKeys;
import dev.troupe.config.problem.Problem;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The findings of the readers of one configuration: problems, the keys that have one, and the values that a key accepts. */
final class Findings {
    private final List<Problem> problems;
    private final Set<String> wrong = new HashSet<>();
    private final Map<String, Values.Accepted> accepted = new HashMap<>();

    /**
     * @param problems the problems so far; more are added
     */
    Findings(List<Problem> problems) {
        this.problems = problems;
    }

    void add(Problem problem) {
        problems.add(problem);
    }

    void addAll(List<Problem> others) {
        problems.addAll(others);
    }

    /** Adds a problem for which the value of a key cannot be compared with others. */
    void addWrong(String key, Problem problem) {
        wrong.add(key);
        problems.add(problem);
    }

    boolean isWrong(String key) {
        return wrong.contains(key);
    }

    /** Adds a problem for each key of a section that is not known. */
    void addUnknown(Lookup section, KnownKeys known) {
        for (Map.Entry<String, ConfigValue> entry : new TreeMap<>(section.given().root()).entrySet()) {
            if (!known.isKey(entry.getKey())) {
                problems.add(Sources.unknown(section.name(ConfigUtil.joinPath(entry.getKey())),
                        Origins.of(entry.getValue().origin()), known.adviceForKey(entry.getKey())));
            }
        }
    }

    void accepts(String key, Values.Accepted values) {
        accepted.put(key, values);
    }

    Map<String, Values.Accepted> accepted() {
        return accepted;
    }
}
