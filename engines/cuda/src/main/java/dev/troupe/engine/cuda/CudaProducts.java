package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.cuda.blas.CublasLt;
import dev.troupe.engine.cuda.blas.ProductSpec;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.Finding;
import dev.troupe.engine.provider.ProductLibraries;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The libraries of the cuda engine's products: its own kernels, and cuBLASLt, found on the machine or named by its file. The
 * engine's own kernels compute products that cuBLASLt refuses.
 */
final class CudaProducts implements ProductLibraries {
    static final String OWN = "own";
    static final String CUBLASLT = "cublaslt";

    private static final String FILE_PREFIX = "libcublasLt";
    /** The size of the product in a test: a multiple of all tiles. */
    private static final int SIDE = 1024;

    private final Supplier<CublasLt> found;
    private final Function<Path, CublasLt> named;
    private final Function<EngineSettings, CudaEngine> engines;

    /**
     * Libraries that are loaded at first use.
     *
     * @param found returns the library of the machine, or raises {@link IllegalStateException} with a sentence
     * @param named returns the library of a file, likewise
     * @param engines opens an engine for a test of the library's products
     */
    CudaProducts(Supplier<CublasLt> found, Function<Path, CublasLt> named,
            Function<EngineSettings, CudaEngine> engines) {
        this.found = found;
        this.named = named;
        this.engines = engines;
    }

    /**
     * The library of a choice; empty for the engine's own products.
     *
     * @throws IllegalStateException with a sentence, if it is not available
     */
    Optional<CublasLt> library(String choice) {
        return switch (choice) {
            case EngineSettings.OWN_PRODUCTS, OWN -> Optional.empty();
            case CUBLASLT -> Optional.of(found.get());
            default -> Optional.of(named.apply(Path.of(choice)));
        };
    }

    @Override
    public boolean knows(String choice) {
        return choice.equals(OWN) || choice.equals(CUBLASLT)
                || choice.startsWith("/") && Path.of(choice).getFileName() instanceof Path name
                        && name.toString().startsWith(FILE_PREFIX);
    }

    @Override
    public Optional<String> obstacle(String choice, DataType computeType) {
        if (!choice.equals(EngineSettings.OWN_PRODUCTS) && !knows(choice)) {
            return Optional.of("engine.products must be auto, " + OWN + ", " + CUBLASLT
                    + " or the absolute path of a " + FILE_PREFIX + " on the engine cuda, but is \"" + choice + "\"");
        }
        try {
            library(choice);
            return Optional.empty();
        } catch (IllegalStateException refused) {
            return Optional.of("engine.products = " + choice + ": " + refused.getMessage()
                    + "; set engine.products = " + OWN + ", or name the file of another");
        }
    }

    @Override
    public String own() {
        return OWN;
    }

    /** Returns the engine's own kernels, since neither speed was measured on a GPU. */
    @Override
    public String fastest(DataType computeType, Path cache) {
        return OWN;
    }

    @Override
    public List<String> measured(Path cache) {
        List<String> lines = new ArrayList<>();
        lines.add("engine.products = auto takes the engine's own kernels, since no speed was measured on a GPU yet");
        CublasLt library;
        try {
            library = found.get();
        } catch (IllegalStateException absent) {
            return lines;
        }
        for (DataType type : List.of(DataType.FLOAT32, DataType.BFLOAT16)) {
            lines.add("engine.products = " + CUBLASLT + ", " + type + ": " + taken(type, library.name()));
        }
        return lines;
    }

    /** Returns a text on the products of a type that the library computes. */
    private String taken(DataType type, String library) {
        EngineSettings settings = new EngineSettings(DataType.FLOAT32, type, 1).withProducts(CUBLASLT);
        try (CudaEngine engine = engines.apply(settings)) {
            return "forward " + by(engine, library, spec(type, false, false, type, false)) + ", with a bias "
                    + by(engine, library, spec(type, false, false, type, true)) + ", gradients of inputs "
                    + by(engine, library, spec(type, false, true, type, false)) + ", gradients of weights "
                    + by(engine, library, spec(type, true, false, DataType.FLOAT32, false));
        }
    }

    private static String by(CudaEngine engine, String library, ProductSpec spec) {
        return engine.hasLibraryFor(spec) ? "by " + library : "by own kernels";
    }

    private static ProductSpec spec(DataType type, boolean transposeLeft, boolean transposeRight, DataType product,
            boolean hasBias) {
        return new ProductSpec(SIDE, SIDE, SIDE, transposeLeft, transposeRight, type, product, hasBias);
    }

    @Override
    public String identity(String choice) {
        return library(choice).map(library -> choice + " (" + library.name() + ")").orElse(OWN);
    }

    Finding finding() {
        try {
            CublasLt library = found.get();
            return new Finding("cuBLASLt", true, library.name() + " in " + library.file()
                    + "; engine.products = " + CUBLASLT + " has it compute products");
        } catch (IllegalStateException absent) {
            return new Finding("cuBLASLt", false, absent.getMessage() + "; products are the engine's own");
        }
    }
}
