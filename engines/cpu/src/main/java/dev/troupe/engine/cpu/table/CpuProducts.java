package dev.troupe.engine.cpu.table;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.cpu.library.InstructionSet;
import dev.troupe.engine.cpu.library.OpenBlas;
import dev.troupe.engine.cpu.library.Processor;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.product.ProductChoice;
import dev.troupe.engine.cpu.product.ProductForm;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.ProductLibraries;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The libraries of the cpu engine's products, and the table of their speeds. */
public final class CpuProducts implements ProductLibraries {
    private static final int ROUNDS = 15;
    private static final String CORE_VARIABLE = "OPENBLAS_CORETYPE";

    private final Function<EngineSettings, Engine> engines;
    private final int rounds;

    public CpuProducts(Function<EngineSettings, Engine> engines) {
        this(engines, ROUNDS);
    }

    CpuProducts(Function<EngineSettings, Engine> engines, int rounds) {
        this.engines = engines;
        this.rounds = rounds;
    }

    @Override
    public boolean knows(String choice) {
        try {
            ProductChoice.parse(choice);
            return true;
        } catch (IllegalStateException other) {
            return false;
        }
    }

    @Override
    public Optional<String> obstacle(String choice, DataType computeType) {
        try {
            ProductChoice.parse(choice).require(computeType);
            return Optional.empty();
        } catch (IllegalStateException refused) {
            return Optional.of(refused.getMessage());
        }
    }

    @Override
    public String identity(String choice) {
        ProductChoice parsed = ProductChoice.parse(choice);
        return parsed.text() + " (" + parsed.names().stream().map(ProductChoice::version)
                .collect(Collectors.joining(", ")) + ")";
    }

    @Override
    public String own() {
        return ProductChoice.OWN.text();
    }

    @Override
    public String fastest(DataType computeType, Path cache) {
        return computeType != DataType.FLOAT32 || OpenBlas.packagedVersion().isEmpty()
                ? own()
                : read(file(cache)).map(ProductTable::choice).orElse(ProductChoice.OWN).text();
    }

    @Override
    public List<String> measured(Path cache) {
        List<String> float32 = SplitErrors.lines(engines);
        if (OpenBlas.packagedVersion().isEmpty()) {
            return Stream.concat(float32.stream(),
                    Stream.of("this build has no OpenBLAS, so oneDNN computes all products")).toList();
        }
        Path file = file(cache);
        ProductTable table = read(file).orElseGet(() -> keep(measure(), file));
        return Stream
                .of(float32, table.lines(), List.of("measured for float32 on " + table.date() + " and kept in " + file
                        + "; engine.products = auto takes " + table.choice().text()))
                .flatMap(List::stream).toList();
    }

    private ProductTable measure() {
        try (Engine own = engines.apply(settings(ProductChoice.ONEDNN));
                Engine other = engines.apply(settings(ProductChoice.OPENBLAS))) {
            return new ProductTable(subject(), Instant.now().truncatedTo(ChronoUnit.SECONDS),
                    Arrays.stream(ProductForm.values())
                            .map(form -> FormTimes.measure(form, contestant(own, ProductChoice.ONEDNN),
                                    contestant(other, ProductChoice.OPENBLAS), rounds))
                            .toList());
        }
    }

    private static FormTimes.Contestant contestant(Engine engine, String library) {
        return new FormTimes.Contestant(engine, ProductChoice.parse(library).sgemm(ProductForm.ATTENTION));
    }

    private static EngineSettings settings(String products) {
        return new EngineSettings(DataType.FLOAT32, 1).withProducts(products);
    }

    private static String subject() {
        return Processor.model() + ", " + InstructionSet.here() + ", vectors of " + Lanes.FLOATS.vectorBitSize()
                + " bits, " + ProductChoice.version(ProductChoice.ONEDNN) + ", "
                + ProductChoice.version(ProductChoice.OPENBLAS)
                + Optional.ofNullable(System.getenv(CORE_VARIABLE)).map(core -> " held to " + core).orElse("")
                + ", float32";
    }

    private static Path file(Path cache) {
        return cache.resolve("products-" + ProductTable.sum(subject()) + ".txt");
    }

    private static Optional<ProductTable> read(Path file) {
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            ProductTable table = ProductTable.parse(Files.readString(file));
            return table.subject().equals(subject()) ? Optional.of(table) : Optional.empty();
        } catch (IOException | IllegalArgumentException damage) {
            throw new IllegalStateException("the table of products in " + file + " cannot be read: "
                    + damage.getMessage() + "; delete it and run ./troupe doctor, or set engine.products = "
                    + ProductChoice.ONEDNN, damage);
        }
    }

    /** Writes a temporary file and renames it: a concurrent start finds the whole table or none. */
    private static ProductTable keep(ProductTable table, Path file) {
        try {
            Files.createDirectories(file.getParent());
            Path part = Files.createTempFile(file.getParent(), "products", ".part");
            try {
                Files.writeString(part, table.text());
                Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(part);
            }
            return table;
        } catch (IOException failure) {
            throw new IllegalStateException("the table of products cannot be kept in " + file + " ("
                    + failure.getMessage() + "), so runs take oneDNN; XDG_CACHE_HOME names another folder", failure);
        }
    }
}
