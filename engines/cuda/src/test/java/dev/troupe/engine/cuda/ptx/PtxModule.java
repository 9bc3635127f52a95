package dev.troupe.engine.cuda.ptx;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A module in the text of PTX: its kernels, each assembled when it is first asked for. It knows the parts of PTX that the
 * engine's kernels are made of, and refuses others by name.
 *
 * <p>Thread rule: one thread.
 */
public final class PtxModule {
    private static final Pattern ENTRY = Pattern.compile("\\.entry\\s+(\\w+)\\s*\\(([^)]*)\\)([^{]*)\\{");
    private static final Pattern SHARED = Pattern
            .compile("\\.shared\\s+\\.align\\s+(\\d+)\\s+\\.b8\\s+(\\w+)\\[(\\d+)]");

    private final Map<String, Body> bodies = new LinkedHashMap<>();
    private final Map<String, PtxKernel> kernels = new HashMap<>();

    record Shared(String name, int alignment, int bytes) {
    }

    private record Body(List<String> parameterTypes, List<String> parameters, List<Shared> shared, String text) {
    }

    public PtxModule(String text) {
        String bare = text.replaceAll("//[^\n]*", "");
        Matcher entry = ENTRY.matcher(bare);
        List<Shared> common = new ArrayList<>();
        int from = 0;
        while (entry.find(from)) {
            common.addAll(shared(bare.substring(from, entry.start())));
            int end = end(bare, entry.end());
            List<String> types = new ArrayList<>();
            List<String> names = new ArrayList<>();
            for (String parameter : entry.group(2).split(",")) {
                String[] words = parameter.strip().split("\\s+");
                types.add(words[1].substring(1));
                names.add(words[words.length - 1]);
            }
            String body = bare.substring(entry.end(), end);
            List<Shared> own = new ArrayList<>(common);
            own.addAll(shared(body));
            bodies.put(entry.group(1), new Body(types, names, own, body));
            from = end + 1;
        }
    }

    PtxKernel kernel(String name) {
        return kernels.computeIfAbsent(name, any -> {
            Body body = bodies.get(name);
            if (body == null) {
                throw new IllegalArgumentException("the module has no kernel " + name);
            }
            List<Shared> used = body.shared.stream().filter(variable -> body.text.contains(variable.name())).toList();
            return new Assembler(name, body.parameterTypes, body.parameters, used).assemble(statements(body.text));
        });
    }

    private static List<Shared> shared(String text) {
        List<Shared> found = new ArrayList<>();
        Matcher matcher = SHARED.matcher(text);
        while (matcher.find()) {
            found.add(new Shared(matcher.group(2), Integer.parseInt(matcher.group(1)),
                    Integer.parseInt(matcher.group(3))));
        }
        return found;
    }

    private static int end(String text, int from) {
        int depth = 1;
        int at = from;
        while (depth > 0) {
            char c = text.charAt(at++);
            depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        }
        return at - 1;
    }

    /** The statements of a body; a label is one that ends with a colon. */
    private static List<String> statements(String body) {
        List<String> statements = new ArrayList<>();
        StringBuilder statement = new StringBuilder();
        for (int i = 0; i < body.length(); i++) {
            char c = body.charAt(i);
            boolean isEmpty = statement.isEmpty();
            if (c == ';' || c == ':') {
                statements.add(c == ':' ? statement + ":" : statement.toString().replaceAll("\\s+", " ").strip());
                statement.setLength(0);
            } else if (!(isEmpty && (Character.isWhitespace(c) || c == '{' || c == '}'))) {
                statement.append(c);
            }
        }
        return statements;
    }
}
