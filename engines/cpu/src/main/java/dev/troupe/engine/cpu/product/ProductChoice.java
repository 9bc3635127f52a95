package dev.troupe.engine.cpu.product;

import dev.troupe.engine.DataType;
import dev.troupe.engine.cpu.library.Cblas;
import dev.troupe.engine.cpu.library.OneDnn;
import dev.troupe.engine.cpu.library.OpenBlas;
import dev.troupe.engine.cpu.library.Sgemm;
import dev.troupe.engine.provider.EngineSettings;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The library of each form of product: {@code onednn}, {@code openblas}, or the file of a BLAS with the C interface. Its
 * text is one name for all forms, or a name for each, such as
 * {@code large=onednn gradient=openblas small=onednn attention=openblas}.
 */
public final class ProductChoice {
    /** oneDNN, the default, and the only library for products of bfloat16. */
    public static final String ONEDNN = "onednn";
    public static final String OPENBLAS = "openblas";
    public static final ProductChoice OWN = whole(ONEDNN);

    private static final Pattern BLANKS = Pattern.compile("\\s+");
    private static final List<String> WORDS = List.of(ONEDNN, OPENBLAS);

    private final Map<ProductForm, String> libraries;

    private ProductChoice(Map<ProductForm, String> libraries) {
        this.libraries = new EnumMap<>(libraries);
    }

    public static ProductChoice of(Map<ProductForm, String> libraries) {
        return new ProductChoice(libraries);
    }

    private static ProductChoice whole(String library) {
        return new ProductChoice(Arrays.stream(ProductForm.values()).collect(Collectors.toMap(form -> form,
                _ -> library)));
    }

    /**
     * Reads a choice.
     *
     * @throws IllegalStateException with a sentence, if the text is not a choice
     */
    public static ProductChoice parse(String text) {
        if (text.equals(EngineSettings.OWN_PRODUCTS)) {
            return OWN;
        }
        if (WORDS.contains(text) || text.startsWith("/")) {
            return whole(text);
        }
        Map<ProductForm, String> libraries = new EnumMap<>(ProductForm.class);
        for (String part : BLANKS.split(text.strip())) {
            String[] sides = part.split("=", 2);
            ProductForm form = Arrays.stream(ProductForm.values()).filter(any -> any.word().equals(sides[0]))
                    .findFirst().orElseThrow(() -> refused(text));
            if (sides.length < 2 || !WORDS.contains(sides[1]) || libraries.put(form, sides[1]) != null) {
                throw refused(text);
            }
        }
        if (libraries.size() < ProductForm.values().length) {
            throw refused(text);
        }
        return new ProductChoice(libraries);
    }

    private static IllegalStateException refused(String text) {
        return new IllegalStateException("engine.products must be auto, " + ONEDNN + ", " + OPENBLAS
                + ", the absolute path of a BLAS, or a library for each form of product such as \""
                + Arrays.stream(ProductForm.values()).map(form -> form.word() + "=" + ONEDNN)
                        .collect(Collectors.joining(" "))
                + "\", but is \"" + text + "\"");
    }

    /**
     * Checks that all libraries are installed and compute in the type.
     *
     * @throws IllegalStateException with a sentence, if not
     */
    public void require(DataType computeType) {
        Set<String> others = names();
        others.remove(ONEDNN);
        if (computeType != DataType.FLOAT32 && !others.isEmpty()) {
            throw new IllegalStateException(
                    "engine.products = " + text() + ", but only oneDNN multiplies " + computeType
                            + ": set engine.products = " + ONEDNN + ", or training.precision = float32");
        }
        for (String name : others) {
            try {
                sgemm(name);
            } catch (IllegalStateException refused) {
                throw new IllegalStateException("engine.products = " + text() + ": " + refused.getMessage()
                        + "; set engine.products = " + ONEDNN + ", or correct the path", refused);
            }
        }
    }

    boolean isOneDnn(ProductForm form) {
        return libraries.get(form).equals(ONEDNN);
    }

    /** Returns the product of a form's library, loaded by the first call. */
    public Sgemm sgemm(ProductForm form) {
        return sgemm(libraries.get(form));
    }

    private static Sgemm sgemm(String name) {
        return name.equals(ONEDNN) ? OneDnn::sgemm : cblas(name);
    }

    private static Cblas cblas(String name) {
        return name.equals(OPENBLAS) ? OpenBlas.library() : Cblas.at(Path.of(name));
    }

    public static String version(String name) {
        return switch (name) {
            case ONEDNN -> "oneDNN " + OneDnn.version();
            case OPENBLAS -> "OpenBLAS " + OpenBlas.packagedVersion().orElse("of no build");
            default -> cblas(name).version();
        };
    }

    public Set<String> names() {
        return new LinkedHashSet<>(libraries.values());
    }

    /** Returns the text of the choice in a configuration. */
    public String text() {
        return names().size() == 1
                ? libraries.get(ProductForm.LARGE)
                : libraries.entrySet().stream().map(each -> each.getKey().word() + "=" + each.getValue())
                        .collect(Collectors.joining(" "));
    }
}
