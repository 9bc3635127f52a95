package dev.troupe.bench.text;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * GPT-2's own encoding, all 50,256 tokens and their merges, as a {@code tokenizer.json}, made from jtokkit's list of tokens.
 */
final class PublishedGpt2 {
    private static final String RANKS = "/com/knuddels/jtokkit/r50k_base.tiktoken";
    private static final JsonMapper JSON = new JsonMapper();

    private PublishedGpt2() {
    }

    /** Writes the file into a directory. */
    static void write(Path directory) throws IOException {
        Map<String, Integer> ranks = ranks();
        List<String> byRank = new ArrayList<>(ranks.keySet());
        byRank.sort((one, other) -> ranks.get(one) - ranks.get(other));
        ObjectNode file = JSON.createObjectNode();
        file.putObject("pre_tokenizer").put("type", "ByteLevel").put("add_prefix_space", false);
        file.putObject("decoder").put("type", "ByteLevel");
        ObjectNode model = file.putObject("model").put("type", "BPE");
        ObjectNode vocabulary = model.putObject("vocab");
        ArrayNode merges = model.putArray("merges");
        for (String token : byRank) {
            vocabulary.put(letters(token), ranks.get(token).intValue());
            if (token.length() > 1) {
                List<String> halves = merged(token, ranks);
                merges.addArray().add(letters(halves.get(0))).add(letters(halves.get(1)));
            }
        }
        Files.write(directory.resolve("tokenizer.json"), JSON.writeValueAsBytes(file));
    }

    /** The tokens with their ids, a character for each byte. */
    private static Map<String, Integer> ranks() throws IOException {
        Map<String, Integer> ranks = new HashMap<>();
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(PublishedGpt2.class.getResourceAsStream(RANKS), StandardCharsets.US_ASCII))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] parts = line.split(" ");
                ranks.put(new String(Base64.getDecoder().decode(parts[0]), StandardCharsets.ISO_8859_1),
                        Integer.valueOf(parts[1]));
            }
        }
        return ranks;
    }

    /** Returns the two tokens that are merged to a token, by merging its bytes in order of rank until two parts are left. */
    private static List<String> merged(String token, Map<String, Integer> ranks) {
        List<String> parts = new ArrayList<>(token.chars().mapToObj(Character::toString).toList());
        while (parts.size() > 2) {
            int lowest = 0;
            for (int i = 1; i + 1 < parts.size(); i++) {
                lowest = rank(parts, i, ranks) < rank(parts, lowest, ranks) ? i : lowest;
            }
            parts.set(lowest, parts.get(lowest) + parts.remove(lowest + 1));
        }
        return parts;
    }

    private static int rank(List<String> parts, int place, Map<String, Integer> ranks) {
        return ranks.getOrDefault(parts.get(place) + parts.get(place + 1), Integer.MAX_VALUE);
    }

    private static String letters(String token) {
        StringBuilder letters = new StringBuilder();
        token.chars().forEach(value -> letters.append(letter(value)));
        return letters.toString();
    }

    /** The letter of a byte in byte-level vocabularies. */
    private static char letter(int value) {
        int later = 256;
        for (int other = 0; other <= value; other++) {
            boolean isSeen = other >= '!' && other <= '~' || other >= 0xA1 && other <= 0xAC || other >= 0xAE;
            if (other == value) {
                return isSeen ? (char) value : (char) later;
            }
            later += isSeen ? 0 : 1;
        }
        throw new IllegalArgumentException("no byte: " + value);
    }
}
