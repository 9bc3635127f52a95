package dev.troupe.config.file;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigIncludeContext;
import com.typesafe.config.ConfigIncluder;
import com.typesafe.config.ConfigIncluderClasspath;
import com.typesafe.config.ConfigIncluderFile;
import com.typesafe.config.ConfigIncluderURL;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigSyntax;
import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.problem.Problem;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/**
 * The parser of a file and the files that it includes; a relative name starts at the folder of the including file.
 *
 * <p>An included file must exist, so that a misspelt name is noticed; HOCON by itself ignores a missing file. Nothing is
 * fetched from a network or the class path.
 *
 * @param file the file that is being parsed
 * @param depth the number of includes between it and the first file
 * @param count the number of files that have been read
 */
public record ConfigFiles(Path file, int depth, AtomicInteger count)
        implements
            ConfigIncluder,
            ConfigIncluderFile,
            ConfigIncluderURL,
            ConfigIncluderClasspath {

    // Deeper than any sensible nesting; only a file that includes itself reaches it.
    private static final int DEEPEST = 16;
    private static final long LARGEST_BYTES = 1 << 20;
    private static final int MOST_FILES = 64;
    // The time of the parser grows with their square: 1,000 pieces of a section take a second, 16,000 a minute.
    private static final int MOST_PIECES = 1_000;
    private static final int MOST_SUBSTITUTIONS = 4_096;
    private static final Pattern PIECE = Pattern
            .compile("(?:^|[,{\\n])[ \\t]*([^\\s{}\\[\\],:=.+#]+)[ \\t]*(?:\\.|[:=]?\\s*\\{)");

    /**
     * Parses a file.
     *
     * @throws ConfigException if it cannot be read as text
     * @throws com.typesafe.config.ConfigException if it is no HOCON
     */
    public static Config parse(Path file) {
        return new ConfigFiles(file, 0, new AtomicInteger()).parse();
    }

    private Config parse() {
        String text = text();
        if (count.incrementAndGet() > MOST_FILES) {
            throw refused("at most " + MOST_FILES + " included files in all", "more", "include each once");
        }
        requireFewPieces(text);
        ConfigParseOptions options = ConfigParseOptions.defaults().setSyntax(ConfigSyntax.CONF);
        try {
            return ConfigFactory.parseFile(file.toFile(), options.setAllowMissing(false).setIncluder(this));
        } catch (com.typesafe.config.ConfigException.Parse malformed) {
            OptionalInt open = Braces.unclosed(text);
            if (open.isEmpty()) {
                throw malformed;
            }
            throw new ConfigException(List.of(new Problem("", file + ":" + open.getAsInt(),
                    "well-formed HOCON with a '}' for each '{'", "none for the '{' of this line", "close it")));
        }
    }

    private void requireFewPieces(String text) {
        Map<String, Integer> pieces = new HashMap<>();
        PIECE.matcher(text).results().forEach(piece -> pieces.merge(piece.group(1), 1, Integer::sum));
        pieces.forEach((name, times) -> {
            if (times > MOST_PIECES) {
                throw refused("sections of at most " + MOST_PIECES + " pieces each", times + " of " + name,
                        "write each section once");
            }
        });
        if (text.split("\\$\\{|\\+=", -1).length > MOST_SUBSTITUTIONS) {
            throw refused("at most " + MOST_SUBSTITUTIONS + " substitutions", "more", "write their values");
        }
    }

    private String text() {
        if (!Files.exists(file)) {
            throw refused("a configuration file", "none", "check the path");
        }
        if (Files.isDirectory(file)) {
            throw refused("a configuration file", "a directory", "name a file in it");
        }
        if (!Files.isRegularFile(file)) { // a pipe may never end
            throw refused("a configuration file", "a device or a pipe", "save it as a file");
        }
        try {
            if (Files.size(file) > LARGEST_BYTES) {
                throw refused("a configuration file of at most 1 MiB", Files.size(file) + " bytes",
                        "name a text file in HOCON; data are named by data.path");
            }
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(Files.readAllBytes(file))).toString();
        } catch (CharacterCodingException notText) {
            throw refused("UTF-8 text", "bytes that are none", "save the file as UTF-8");
        } catch (IOException unreadable) {
            throw refused("a file that can be read", unreadable.toString(), "check its permissions");
        }
    }

    @Override
    public ConfigIncluder withFallback(ConfigIncluder fallback) {
        return this;
    }

    @Override
    public ConfigObject include(ConfigIncludeContext context, String what) {
        return includeFile(context, new File(what));
    }

    @Override
    public ConfigObject includeFile(ConfigIncludeContext context, File what) {
        if (depth == DEEPEST) {
            throw refused("files that do not include each other without end", "an include of " + what,
                    "take it out");
        }
        try {
            return new ConfigFiles(file.resolveSibling(what.toPath()), depth + 1, count).parse().root();
        } catch (InvalidPathException noPath) {
            throw refused("an include of a file", noPath.getReason(), "check its name");
        }
    }

    @Override
    public ConfigObject includeURL(ConfigIncludeContext context, URL what) {
        throw refused("an include of a file", "one of " + what, "save it next to this file");
    }

    @Override
    public ConfigObject includeResources(ConfigIncludeContext context, String what) {
        throw refused("an include of a file", "one of the resource " + what, "save it next to this file");
    }

    private ConfigException refused(String expected, String found, String hint) {
        return new ConfigException(List.of(new Problem("", file.toString(), expected, found, hint)));
    }
}
