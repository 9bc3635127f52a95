package dev.troupe.config.problem;

import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigValue;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToIntFunction;

/** The keys that exist, and the search for the nearest to a misspelt one. Paths are without {@code troupe.}. */
public final class KnownKeys {
    /** Farther words are similar to nobody. */
    private static final int FARTHEST = 8;
    private final Set<String> keys = new TreeSet<>();
    private final Set<String> sections = new TreeSet<>();

    /**
     * Learns the keys.
     *
     * @param defaults the section {@code troupe} of the defaults, which have every key
     */
    public KnownKeys(ConfigObject defaults) {
        learn("", defaults);
    }

    private void learn(String prefix, ConfigObject object) {
        for (Map.Entry<String, ConfigValue> entry : object.entrySet()) {
            String path = prefix + entry.getKey();
            if (entry.getValue() instanceof ConfigObject section) {
                sections.add(path);
                learn(path + ".", section);
            } else {
                keys.add(path);
            }
        }
    }

    public Set<String> all() {
        return Set.copyOf(keys);
    }

    public boolean isKey(String path) {
        return keys.contains(path);
    }

    public boolean isSection(String path) {
        return sections.contains(path);
    }

    /** Returns the advice for a key that does not exist: the nearest keys, or all keys of its section. */
    public String adviceForKey(String path) {
        List<String> near = nearest(path, keys);
        if (near.isEmpty()) {
            String name = plain(last(path));
            near = keys.stream().filter(key -> name.length() > 3 && plain(last(key)).contains(name)).toList();
        }
        if (!near.isEmpty()) {
            return didYouMean(near);
        }
        return nearest(path, sections).stream().findFirst().map(section -> section + " has " + keysOf(section))
                .orElseGet(() -> keysNear(path));
    }

    /** Returns the advice for a section that does not exist. */
    public String adviceForSection(String path) {
        List<String> near = nearest(path, sections);
        return near.isEmpty() ? keysNear(path) : didYouMean(near);
    }

    public String keysOf(String section) {
        String prefix = section.isEmpty() ? "" : section + ".";
        Set<String> members = new LinkedHashSet<>();
        for (String key : keys) {
            if (key.startsWith(prefix)) {
                members.add(key.substring(prefix.length()).split("\\.", 2)[0]);
            }
        }
        return String.join(", ", members);
    }

    private String keysNear(String path) {
        int dot = path.lastIndexOf('.');
        String section = dot < 0 ? "" : path.substring(0, dot);
        return sections.contains(section)
                ? section + " has " + keysOf(section)
                : "the sections and keys are " + keysOf("");
    }

    static String didYouMean(List<String> near) {
        return "did you mean " + String.join(" or ", near) + "?";
    }

    /** Returns the candidates with the nearest paths, or else with the nearest last names, in any section. */
    private static List<String> nearest(String path, Set<String> candidates) {
        List<String> near = nearest(path, candidates, wanted -> distance(path, wanted));
        return near.isEmpty()
                ? nearest(last(path), candidates, wanted -> distance(last(path), last(wanted)))
                : near;
    }

    static List<String> nearest(String found, Set<String> candidates, ToIntFunction<String> distance) {
        // At most a quarter of the word, since a more distant suggestion would not resemble it.
        int limit = Math.clamp(found.length() / 4, 1, 3);
        int smallest = candidates.stream().mapToInt(distance).min().orElse(Integer.MAX_VALUE);
        return smallest > limit
                ? List.of()
                : candidates.stream().filter(wanted -> distance.applyAsInt(wanted) == smallest).toList();
    }

    private static String last(String path) {
        return path.substring(path.lastIndexOf('.') + 1);
    }

    /**
     * Returns the number of letters to insert, delete, replace or swap with their neighbour; the case of letters and
     * the signs between words do not count. Of words of very different length it is the difference of their lengths, the
     * least that it can be: a word may be as long as its file.
     */
    public static int distance(String found, String wanted) {
        String a = plain(found);
        String b = plain(wanted);
        int difference = Math.abs(a.length() - b.length());
        if (difference > FARTHEST) {
            return difference;
        }
        int[][] d = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    d[i][j] = i + j;
                    continue;
                }
                int replaced = d[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                d[i][j] = Math.min(replaced, 1 + Math.min(d[i - 1][j], d[i][j - 1]));
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
                }
            }
        }
        return d[a.length()][b.length()];
    }

    private static String plain(String path) {
        return path.toLowerCase(Locale.ROOT).replaceAll("[-_\"]", "");
    }
}
