package dev.troupe.config.file;

import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigList;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The size of a configuration with its substitutions, computed before they are replaced: a few lists that repeat each other
 * would fill any memory. One thread.
 */
public final class Expansion {
    /** The maximum number of characters of a configuration; a file has at most half as many. */
    public static final long MOST_CHARACTERS = 2 << 20;

    /** Most substitutions of a value by itself; each is resolved with all before it, and 1,000 take ten seconds. */
    private static final int MOST_OF_ITSELF = 200;
    private static final Pattern SUBSTITUTION = Pattern.compile("\\$\\{\\??([^}]*)}");
    private static final ConfigRenderOptions TEXT = ConfigRenderOptions.concise();

    private final ConfigObject root;
    private final Map<String, Long> known = new HashMap<>();
    private final Set<String> begun = new HashSet<>();

    private Expansion(ConfigObject root) {
        this.root = root;
    }

    /** Returns the approximate number of characters; any number above the maximum if there are more. */
    public static long characters(ConfigObject root) {
        return new Expansion(root).of(root, "");
    }

    private long of(ConfigValue value, String path) {
        try {
            if (value instanceof ConfigObject object) {
                long sum = 0;
                for (Map.Entry<String, ConfigValue> entry : object.entrySet()) {
                    String name = ConfigUtil.joinPath(entry.getKey());
                    sum = bounded(
                            sum + name.length() + of(entry.getValue(), path.isEmpty() ? name : path + "." + name));
                }
                return sum;
            }
            if (value instanceof ConfigList list) {
                long sum = 0;
                for (ConfigValue element : list) {
                    sum = bounded(sum + 1 + of(element, path));
                }
                return sum;
            }
        } catch (ConfigException.NotResolved _) { // it has substitutions in place of members
            return ofText(value.render(TEXT), path);
        }
        return ofText(value.render(TEXT), path);
    }

    private long ofText(String text, String path) {
        long sum = text.length();
        long factor = 1;
        int itself = 0;
        Matcher substitution = SUBSTITUTION.matcher(text);
        while (substitution.find()) {
            String target = substitution.group(1);
            if (!isWithin(path, target) && !begun.contains(target)) {
                sum = bounded(sum + ofPath(target));
                continue;
            }
            itself++;
            // The substitution of += does not double the value: it is the first part, and a list follows.
            boolean isFirst = substitution.start() == 0 || text.charAt(substitution.start() - 1) == ',';
            factor = bounded(factor * (isFirst && text.startsWith("[", substitution.end()) ? 1 : 2));
        }
        return itself > MOST_OF_ITSELF ? MOST_CHARACTERS + 1 : bounded(sum * factor);
    }

    private static boolean isWithin(String path, String target) {
        return path.equals(target) || path.startsWith(target + ".");
    }

    private long ofPath(String path) {
        Long found = known.get(path);
        if (found != null) {
            return found;
        }
        begun.add(path);
        long size = at(path);
        begun.remove(path);
        known.put(path, size);
        return size;
    }

    /** Returns the size of the value of a path, or of the value that will contain it. */
    private long at(String path) {
        List<String> names = ConfigUtil.splitPath(path);
        ConfigValue value = root;
        for (String name : names) {
            ConfigValue member = member(value, name);
            if (member == null) {
                return value instanceof ConfigObject && isResolvedSoFar(value) ? 0 : of(value, path);
            }
            value = member;
        }
        return of(value, path);
    }

    private static ConfigValue member(ConfigValue value, String name) {
        return value instanceof ConfigObject object && isResolvedSoFar(value) ? object.get(name) : null;
    }

    private static boolean isResolvedSoFar(ConfigValue object) {
        try {
            int _ = ((ConfigObject) object).size();
            return true;
        } catch (ConfigException.NotResolved _) {
            return false;
        }
    }

    private static long bounded(long size) {
        return Math.min(size, 1L << 31);
    }
}
