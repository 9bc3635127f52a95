package dev.troupe.config;

import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigIncludeContext;
import com.typesafe.config.ConfigIncluder;
import com.typesafe.config.ConfigIncluderClasspath;
import com.typesafe.config.ConfigIncluderFile;
import com.typesafe.config.ConfigIncluderURL;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigParseOptions;
import java.io.File;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Includes files, from the folder of the including one on, which must exist; HOCON by itself passes over those that do
 * not, so that a misspelt name would go unnoticed. Nothing is fetched from a network or the class path.
 *
 * @param folder where relative names start
 * @param depth how many files stand between this one and the first
 */
record FileIncluder(Path folder, int depth)
        implements
            ConfigIncluder,
            ConfigIncluderFile,
            ConfigIncluderURL,
            ConfigIncluderClasspath {

    // More than anybody nests; a file that includes itself gets there.
    private static final int DEEPEST = 16;

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
        Path file = folder.resolve(what.toPath());
        if (depth == DEEPEST) {
            throw new ConfigException.Generic("more than " + DEEPEST + " files that include each other, up to " + file);
        }
        if (!Files.isRegularFile(file)) {
            throw new ConfigException.Generic("an include of " + file + ", which is no file");
        }
        ConfigParseOptions options = context.parseOptions().setAllowMissing(false)
                .setIncluder(new FileIncluder(file.resolveSibling(""), depth + 1));
        return ConfigFactory.parseFile(file.toFile(), options).root();
    }

    @Override
    public ConfigObject includeURL(ConfigIncludeContext context, URL what) {
        throw new ConfigException.Generic("an include of " + what + ", where only files are included");
    }

    @Override
    public ConfigObject includeResources(ConfigIncludeContext context, String what) {
        throw new ConfigException.Generic("an include of the resource " + what + ", where only files are included");
    }
}
