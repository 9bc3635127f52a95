package dev.troupe.plan.prepare;

import dev.troupe.config.spec.EngineSpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.data.TokenCache;
import dev.troupe.engine.DataType;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.provider.Capability;
import dev.troupe.engine.provider.DevicePick;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.InstalledEngines;
import dev.troupe.engine.provider.ProductLibraries;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.engine.provider.WorkCosts;
import dev.troupe.plan.UsageException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The engine of a run.
 *
 * @param provider opens engines
 * @param settings the settings of each rank's engine, without its device
 * @param ranksOfMachine the ranks that share the devices of this machine
 * @param passedOver why {@code auto} did not take its preferred engine, in one sentence; empty if it did, or if the
 *     configuration names an engine
 */
public record EngineChoice(EngineProvider provider, EngineSettings settings, List<Integer> ranksOfMachine,
        Optional<String> passedOver) {
    private static final Set<String> GPU_WORDS = Set.of("cuda", "gpu", "nvidia", "nd4j-cuda");
    private static final String GPU_ADVICE = "; an NVIDIA GPU is computed on by cuda from compute capability 8.0 on, which a"
            + " program gets by the dependency dev.troupe:troupe-engine-cuda, and below by nd4j, built with the Maven profile"
            + " nd4j-cuda (docs/systems.md)";

    public EngineChoice {
        ranksOfMachine = List.copyOf(ranksOfMachine);
    }

    /** Returns the engines on the class path, the preferred one first. */
    public static List<EngineProvider> installed() {
        return InstalledEngines.find();
    }

    /**
     * Finds the engine of the configuration; {@code auto} takes the first in order of preference that this machine can run.
     *
     * @param ranksOfMachine the ranks that share the cores and devices of this machine
     * @throws UsageException if it is not installed or cannot run here, with the reason
     */
    public static EngineChoice of(EngineSpec spec, DataType parameterType, DataType computeType,
            List<Integer> ranksOfMachine,
            List<EngineProvider> installed) {
        int threads = spec.threads() > 0
                ? spec.threads()
                : Math.max(1, Runtime.getRuntime().availableProcessors() / Math.max(1, ranksOfMachine.size())); // rounded down
        EngineSettings settings = new EngineSettings(parameterType, computeType, threads)
                .withDevice(new DevicePick(spec.device(), 0)).withFloatParts(spec.float32Products().parts())
                .withExactRows(spec.exactRows());
        if (installed.isEmpty()) {
            throw new UsageException("no engine is installed: put an engine's module on the class path");
        }
        if (spec.kind().equals(EngineSpec.AUTO)) {
            return installed.stream().filter(provider -> obstacle(provider, settings).isEmpty()).findFirst()
                    .map(provider -> new EngineChoice(provider, settings, ranksOfMachine, obstacle(
                            installed.getFirst(), settings)
                            .map(obstacle -> "engine.kind = auto takes " + provider.kind() + ": " + obstacle)))
                    .orElseThrow(() -> new UsageException("no engine can serve here: " + installed.stream()
                            .map(provider -> provider.kind() + ": " + obstacle(provider, settings).orElseThrow())
                            .collect(Collectors.joining("; "))));
        }
        EngineProvider provider = installed.stream().filter(candidate -> candidate.kind().equals(spec.kind()))
                .findFirst()
                .orElseThrow(() -> new UsageException("engine.kind: there is no engine \"" + spec.kind()
                        + "\"; installed are " + EngineSpec.AUTO + ", "
                        + installed.stream().map(EngineProvider::kind).collect(Collectors.joining(", "))
                        + (GPU_WORDS.contains(spec.kind().toLowerCase(Locale.ROOT)) ? GPU_ADVICE : "")));
        Optional<String> obstacle = obstacle(provider, settings);
        if (obstacle.isPresent()) {
            throw new UsageException("engine.kind = " + spec.kind() + " cannot serve here: " + obstacle.get());
        }
        return new EngineChoice(provider, settings, ranksOfMachine, Optional.empty());
    }

    /** As {@link #of(EngineSpec, DataType, DataType, List, List)}, with the types of a precision. */
    static EngineChoice of(EngineSpec spec, TrainingSpec.Precision precision, List<Integer> ranksOfMachine,
            List<EngineProvider> installed) {
        return of(spec, parameterType(precision), computeType(precision), ranksOfMachine, installed);
    }

    private static DataType parameterType(TrainingSpec.Precision precision) {
        return switch (precision) {
            case FLOAT32, BFLOAT16 -> DataType.FLOAT32;
            case FLOAT64 -> DataType.FLOAT64;
        };
    }

    private static DataType computeType(TrainingSpec.Precision precision) {
        return switch (precision) {
            case FLOAT32 -> DataType.FLOAT32;
            case BFLOAT16 -> DataType.BFLOAT16;
            case FLOAT64 -> DataType.FLOAT64;
        };
    }

    private static Optional<String> obstacle(EngineProvider provider, EngineSettings settings) {
        OptionalInt ordinal = settings.device().ordinal();
        return ordinal.isPresent() && !provider.hasDevices()
                ? Optional.of("the engine " + provider.kind() + " has no devices, but engine.device = "
                        + ordinal.getAsInt() + "; set it to " + EngineSpec.ROUND_ROBIN
                        + ", or engine.kind to an engine that has, such as cuda")
                : provider.obstacle(settings);
    }

    /**
     * Returns the same choice with the libraries of its matrix products, if the engine has several. Libraries of another
     * engine count as {@code auto}: the run may have begun on that engine, or another node may have it.
     *
     * @param asked as the configuration has them
     * @param isOfOneMachine whether all ranks are on this machine; otherwise {@code auto} takes the engine's own library,
     *     since other machines' tables are unknown
     * @throws UsageException if a library is missing or does not fit, or the table is damaged
     */
    public EngineChoice withProducts(String asked, boolean isOfOneMachine, List<EngineProvider> installed) {
        Optional<ProductLibraries> libraries = provider.productLibraries();
        if (libraries.isEmpty()) {
            return this;
        }
        String products = switch (asked) {
            case EngineSpec.AUTO -> chosen(libraries.get(), isOfOneMachine);
            case EngineSettings.OWN_PRODUCTS -> libraries.get().own();
            default -> isOfAnother(asked, libraries.get(), installed)
                    ? chosen(libraries.get(), isOfOneMachine)
                    : asked;
        };
        libraries.get().obstacle(products, settings.computeType()).ifPresent(sentence -> {
            throw new UsageException(sentence);
        });
        return new EngineChoice(provider, settings.withProducts(products), ranksOfMachine, passedOver);
    }

    private static boolean isOfAnother(String asked, ProductLibraries libraries, List<EngineProvider> installed) {
        return !libraries.knows(asked) && installed.stream().flatMap(other -> other.productLibraries().stream())
                .anyMatch(others -> others.knows(asked));
    }

    private String chosen(ProductLibraries libraries, boolean isOfOneMachine) {
        try {
            return isOfOneMachine ? libraries.fastest(settings.computeType(), cache()) : libraries.own();
        } catch (IllegalStateException damage) {
            throw new UsageException(damage.getMessage(), damage);
        }
    }

    /** Returns the user's folder of caches, which has the tables of products. */
    public static Path cache() {
        return TokenCache.ofUser(System.getenv("XDG_CACHE_HOME"), System.getProperty("user.home"));
    }

    /** Returns the libraries of its products with their versions; empty if the engine has no choice. */
    public Optional<String> productsWithVersions() {
        return provider.productLibraries().map(libraries -> libraries.identity(settings.products()));
    }

    /** As {@link #productsWithVersions}, but empty if the engine uses only its own. */
    public Optional<String> otherProducts() {
        return provider.productLibraries().filter(libraries -> !libraries.own().equals(settings.products()))
                .map(libraries -> libraries.identity(settings.products()));
    }

    public EngineChoice withCosts(WorkCosts costs) {
        return new EngineChoice(provider, settings.withCosts(costs), ranksOfMachine, passedOver);
    }

    /** Returns whether its engines compute; others only keep time. */
    public boolean computes() {
        return provider.serves(Capability.VALUES);
    }

    /** Opens an engine without a rank. */
    public CheckedEngine open() {
        return provider.open(settings);
    }

    /**
     * Opens the engine of a rank. The device follows from the rank's place on the machine, or, if the rank has moved here,
     * from its number.
     */
    public CheckedEngine open(int rank) {
        int place = ranksOfMachine.indexOf(rank);
        return provider
                .open(settings.withDevice(new DevicePick(settings.device().ordinal(), place < 0 ? rank : place)));
    }

    public WorkClock clock() {
        return provider.clock(settings);
    }
}
