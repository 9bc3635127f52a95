package dev.troupe.tokenizer;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;

/** Hugging Face's own library, which DJL brings as native code. */
record Oracle(HuggingFaceTokenizer tokenizer) implements AutoCloseable {
    /** Opens the tokenizer of a directory; skips the test if DJL has no library for the platform. */
    static Oracle open(Path directory) throws IOException {
        String arch = System.getProperty("os.arch").replace("amd64", "x86_64").replace("arm64", "aarch64");
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("mac") ? "osx" : "linux";
        String library = "native/lib/" + system + "-" + arch + "/cpu/" + System.mapLibraryName("tokenizers");
        assumeTrue(HuggingFaceTokenizer.class.getClassLoader().getResource(library) != null, "DJL has no " + library);
        // The library of the jar is taken, and no server is asked.
        System.setProperty("ai.djl.offline", "true");
        System.setProperty("DJL_CACHE_DIR", "target/djl");
        return new Oracle(HuggingFaceTokenizer.newInstance(directory,
                Map.of("addSpecialTokens", "false", "truncation", "false", "padding", "false")));
    }

    int[] encode(String text) {
        return Arrays.stream(tokenizer.encode(text).getIds()).mapToInt(Math::toIntExact).toArray();
    }

    String decode(int[] ids) {
        return tokenizer.decode(Arrays.stream(ids).asLongStream().toArray(), false);
    }

    @Override
    public void close() {
        tokenizer.close();
    }
}
