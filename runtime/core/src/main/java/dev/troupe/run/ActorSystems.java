package dev.troupe.run;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import dev.troupe.engine.provider.InstalledEngines;
import dev.troupe.plan.UsageException;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.BootstrapSetup;
import org.apache.pekko.actor.setup.ActorSystemSetup;
import org.apache.pekko.actor.setup.Setup;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;

/** The actor systems of runs, with configuration and classes from the library's class loader. */
public final class ActorSystems {
    /** One key of each part of Pekko that a run needs and that a shaded jar may lack. */
    private static final List<String> DEFAULTS = List.of("pekko.version", "pekko.actor.typed.restart-stash-capacity",
            "pekko.actor.provider");
    private static final List<String> CLUSTER_DEFAULTS = List.of("pekko.remote.artery.bind.hostname",
            "pekko.cluster.roles", "pekko.cluster.singleton.role", "pekko.serialization.jackson.migrations");

    /** Pekko's configuration has thousands of lines, so it is read once, for JVMs with many runs. */
    private static Config ofOneProcess;

    private ActorSystems() {
    }

    /**
     * Returns the configuration of the system of a run in one process.
     *
     * @throws UsageException if the class path has only a part of Pekko's defaults
     */
    static synchronized Config ofOneProcess() {
        if (ofOneProcess == null) {
            ofOneProcess = load("troupe-actors", DEFAULTS);
        }
        return ofOneProcess;
    }

    /**
     * Returns the configuration of a node's system, without the node's own settings.
     *
     * @throws UsageException if the class path has only a part of Pekko's defaults
     */
    public static Config ofNode() {
        return requireDefaults(load("troupe-cluster", DEFAULTS), CLUSTER_DEFAULTS);
    }

    public static <T> ActorSystem<T> create(Behavior<T> guardian, String name, Config config, Setup... more) {
        return ActorSystem.create(guardian, name, ActorSystemSetup.create(more).withSetup(BootstrapSetup
                .create(Optional.of(InstalledEngines.loader()), Optional.of(config), Optional.empty())));
    }

    static Config load(String name, List<String> needed) {
        try {
            return requireDefaults(ConfigFactory.load(InstalledEngines.loader(), name), needed);
        } catch (ConfigException.UnresolvedSubstitution | ConfigException.Missing incomplete) {
            throw unmerged(incomplete.getMessage(), incomplete);
        }
    }

    private static Config requireDefaults(Config config, List<String> needed) {
        needed.stream().filter(key -> !config.hasPathOrNull(key)).findFirst().ifPresent(absent -> {
            throw unmerged("there is no " + absent, null);
        });
        return config;
    }

    private static UsageException unmerged(String what, Throwable cause) {
        return new UsageException(
                "the defaults of Pekko are incomplete (" + what + "): a jar that holds several libraries must"
                        + " hold the text of all their files reference.conf, and all lines of META-INF/services; for"
                        + " maven-shade-plugin that is an AppendingTransformer with the resource reference.conf and a"
                        + " ServicesResourceTransformer",
                cause);
    }
}
