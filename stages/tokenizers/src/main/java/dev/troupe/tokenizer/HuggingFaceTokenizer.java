package dev.troupe.tokenizer;

import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.tokenizer.file.FilePart;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.tokenizer.file.Sha256;
import dev.troupe.tokenizer.file.TokenizerException;
import dev.troupe.tokenizer.huggingface.TokenizerFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;

/**
 * The tokenizer of a directory in Hugging Face layout: its {@code tokenizer.json}, and the end-of-text token of its {@code
 * tokenizer_config.json}.
 */
public final class HuggingFaceTokenizer implements Tokenizer {
    static final String FILE = "tokenizer.json";
    static final String SETTINGS = "tokenizer_config.json";

    private final Path directory;
    private final boolean addsSpecialTokens;
    private final TokenizerFile file;
    private final OptionalInt endOfText;
    private final String identity;

    private HuggingFaceTokenizer(Path directory, boolean addsSpecialTokens) {
        this.directory = directory;
        this.addsSpecialTokens = addsSpecialTokens;
        this.file = TokenizerFile.read(directory.resolve(FILE));
        this.endOfText = endOfText(directory.resolve(SETTINGS));
        this.identity = FILE + " " + sha256(directory.resolve(FILE)) + ", end of text " + endOfText
                + (addsSpecialTokens ? ", with special tokens" : "");
    }

    public static boolean isIn(Path directory) {
        return Files.isRegularFile(directory.resolve(FILE));
    }

    /**
     * Opens the tokenizer of a directory.
     *
     * @param addsSpecialTokens whether {@link #beforeText} and {@link #afterText} return the tokens of the post-processor
     * @throws TokenizerException if it cannot be used; the message names file and part
     */
    public static HuggingFaceTokenizer open(Path directory, boolean addsSpecialTokens) {
        return new HuggingFaceTokenizer(directory.toAbsolutePath().normalize(), addsSpecialTokens);
    }

    /**
     * Returns the id of {@code eos_token} in the settings, which is a token's text, or an object with the text as {@code
     * content}.
     */
    private OptionalInt endOfText(Path settings) {
        if (!Files.exists(settings)) {
            return OptionalInt.empty();
        }
        FilePart token = FilePart.read(settings).at("eos_token");
        if (token.isAbsent()) {
            return OptionalInt.empty();
        }
        String spelling = token.isText() ? token.text() : token.at("content").text();
        OptionalInt id = file.id(spelling);
        if (id.isEmpty()) {
            throw token.refusal("is \"" + spelling + "\", which " + FILE + " next to it does not have");
        }
        return id;
    }

    private static String sha256(Path path) {
        try {
            return Sha256.of(BoundedFile.bytes(path));
        } catch (IOException failure) {
            throw new TokenizerException("cannot read " + path + ": " + FileReason.of(failure), failure);
        }
    }

    /** Returns the id of a token by its spelling in the file; empty if there is none. */
    public OptionalInt id(String token) {
        return file.id(token);
    }

    @Override
    public OptionalInt endOfText() {
        return endOfText;
    }

    /** Returns the directory of its files, absolute. */
    public Path directory() {
        return directory;
    }

    @Override
    public String name() {
        return directory.toString();
    }

    @Override
    public String identity() {
        return identity;
    }

    @Override
    public int vocabularySize() {
        return file.vocabularySize();
    }

    @Override
    public int[] encode(String text) {
        return file.encode(text);
    }

    @Override
    public int[] beforeText() {
        return addsSpecialTokens ? file.beforeText() : new int[0];
    }

    @Override
    public int[] afterText() {
        return addsSpecialTokens ? file.afterText() : new int[0];
    }

    @Override
    public String decode(int[] ids) {
        return file.decode(ids);
    }

    @Override
    public boolean mayCut(char before, char after) {
        return file.mayCut(before, after);
    }
}
