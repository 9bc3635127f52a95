package dev.troupe.plan.checkpoint;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import dev.troupe.tokenizer.file.BoundedFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** The resolved configuration in a run's directory; if it cannot be read, it has no keys. Immutable. */
public record RunConfig(Config config) {
    public static RunConfig in(Path runDirectory) {
        try {
            return new RunConfig(ConfigFactory.parseString(BoundedFile.text(runDirectory.resolve("config.conf"))));
        } catch (ConfigException | IOException _) {
            return new RunConfig(ConfigFactory.empty());
        }
    }

    /** Returns the text of a key; empty if it is missing. */
    public String text(String key) {
        return config.hasPath("troupe." + key) ? config.getString("troupe." + key) : "";
    }

    /** Returns the directory of the model that the run began from; empty if it drew its weights. */
    public Optional<Path> modelFrom() {
        return Optional.of(text("model.from")).filter(text -> !text.isEmpty()).map(Path::of);
    }
}
